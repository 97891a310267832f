"""Random bodies over random relations of several sizes: what is joined, tested, negated, counted,
drawn from a seed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa

ROWS = (20_000, 80_000, 300_000, 1_000_000)
_COLUMNS = {"a": 1, "b": 2, "c": 2, "d": 3, "e": 3}
DECLARED = "\n".join(
    f".decl {name}({', '.join(f'c{place}: number' for place in range(width))})"
    for name, width in _COLUMNS.items()
)
_ROWS_OF_CONSTANTS = 2_000


def tables(rows: int, seed: int) -> dict[str, pa.Table]:
    """Relations of about so many rows: even, with hubs, and dense ones."""
    chance = np.random.default_rng(seed)
    few, dense = rows * 2 // 5, int(6 * rows**0.4)
    hubs = chance.zipf(1.7, (rows, 2)) % (rows // 2)
    made = {
        "a": chance.choice(2 * rows, (rows, 1), replace=False),
        "b": chance.integers(0, few, (rows, 2)),
        "c": hubs,
        "d": chance.integers(0, dense, (rows, 3)),
        "e": np.column_stack([chance.integers(0, few, rows), hubs]),
    }
    return {
        name: pa.table({f"c{place}": each[:, place] for place in range(each.shape[1])})
        for name, each in made.items()
    }


class Body(NamedTuple):
    """A rule for `head`, with its declaration."""

    head: str
    text: str

    @property
    def rule(self) -> str:
        """The rule alone."""
        return self.text.partition("\n")[2]


def bodies(count: int, relations: dict[str, pa.Table], seed: int) -> Iterator[Body]:
    """So many random bodies, each with a head of its own."""
    chance = random.Random(seed)
    rows = {
        name: list(zip(*table.slice(0, _ROWS_OF_CONSTANTS).to_pydict().values(), strict=True))
        for name, table in relations.items()
    }
    for number in range(count):
        yield _body(chance, rows, f"found{number}")


def _body(chance: random.Random, rows: dict[str, list[tuple[int, ...]]], head: str) -> Body:
    known: list[str] = []
    literals = [
        _atom(chance, chance.choice("abbccdee"), rows, known)
        for _ in range(chance.choice([2, 2, 3, 3, 4, 5]))
    ]
    known = known or ["1"]
    for _ in range(chance.choice([0, 0, 0, 1])):
        name = chance.choice("abc")
        terms = (chance.choice(known) for _ in range(_COLUMNS[name]))
        literals.append(f"!{name}({', '.join(terms)})")
    for _ in range(chance.choice([0, 0, 0, 1])):
        operator = chance.choice(["<", "<=", "!="])
        literals.append(f"{chance.choice(known)} {operator} {chance.choice(known)}")
    chance.shuffle(literals)
    asked = chance.sample(known, min(len(known), chance.choice([1, 2, 2, 3])))
    if chance.random() < 1 / 3:
        asked = ["count()"]
    columns = ", ".join(f"c{place}: number" for place in range(len(asked)))
    rule = f"{head}({', '.join(asked)}) :- {', '.join(literals)}."
    return Body(head, f".decl {head}({columns})\n{rule}")


def _atom(
    chance: random.Random, name: str, rows: dict[str, list[tuple[int, ...]]], known: list[str]
) -> str:
    """An atom that shares a variable with those before it, if any; `known` gets its variables."""
    width, terms = _COLUMNS[name], list[str]()
    link = chance.randrange(width) if known else -1
    for place in range(width):
        drawn = chance.random()
        if place == link or (known and drawn < 0.35):
            terms.append(chance.choice(known))
        elif drawn > 0.96:
            terms.append(str(chance.choice(rows[name])[place]))
        elif drawn > 0.88:
            terms.append("_")
        else:
            terms.append(f"x{len(known)}")
            known.append(terms[-1])
    return f"{name}({', '.join(terms)})"
