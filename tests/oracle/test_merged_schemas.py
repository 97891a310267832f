"""Branches that have both altered a relation, merged, beside a model that replays by hand: rows as
values of columns that have numbers, whatever their names, types and order.
"""

from __future__ import annotations

import random
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.errors import MergeConflictError

Row = dict[int, Any]
KEY, NUMBER, TEXT, MORE = range(4)
KINDS = ["int", "int", "str", "int"]


class Side:
    """One branch: what each column is called, its type and its default; rows by key; and what was
    done to which column.
    """

    def __init__(self) -> None:
        self.name = "t"
        self.columns = {i: (f"c{i}", kind) for i, kind in enumerate(KINDS)}
        self.rows = {k: {KEY: k, NUMBER: k * 10, TEXT: "u", MORE: 0} for k in range(4)}
        self.fills = dict[int, Any]()
        self.defaults = dict[int, Any]()
        self.done = dict[int | str, list[tuple[str, Any]]]()

    def note(self, what: int | str, how: str, to: Any = None) -> None:
        self.done.setdefault(what, []).append((how, to))

    def did(self, what: int | str, how: str) -> bool:
        return how in dict(self.done.get(what, ()))

    def shown(self) -> dict[int, dict[str, Any]]:
        return {
            k: {name: row[i] for i, (name, _) in self.columns.items()}
            for k, row in self.rows.items()
        }


class Life:
    """A workspace with a branch, and the model of each."""

    def __init__(self, seed: int, path: Path | None):
        self.chance, self.path, self.fresh = random.Random(seed), path, 10
        self.ws = self.open()
        self.ws.relation("t", {f"c{i}": k for i, k in enumerate(KINDS)}, key="c0")
        self.ours = Side()
        self.ws.load("t", [tuple(row.values()) for row in self.ours.rows.values()])
        self.ws.add_rules(".decl v(k: number, n: number) v(k, count()) :- t(k, _, _, _).")

    def open(self) -> Any:
        return lftj.connect(self.path, keep="all") if self.path else lftj.connect(keep="all")

    # ── one side ──────────────────────────────────────────────────────────────────────────────────
    def change(self, ws: Any, side: Side, first: int) -> None:
        """Some changes of the schema and of rows, in any order."""
        for _ in range(self.chance.randint(1, 3)):
            self.chance.choice(
                [self.add, self.add, self.compute, self.rename, self.rename, self.drop,
                 self.retype, self.default, self.call, self.rows]
            )(ws, side, first)  # fmt: skip
        self.rows(ws, side, first)

    def free(self, side: Side) -> list[int]:
        return [each for each in side.columns if each != KEY]

    def new(self) -> int:
        self.fresh += 1
        return self.fresh

    def add(self, ws: Any, side: Side, _: int) -> None:
        i, value = self.new(), self.chance.choice([7, None])
        kind = "int" if value else "int?"
        ws.alter(side.name, add={f"c{i}": kind}, default={f"c{i}": value})
        side.columns[i], side.fills[i], side.defaults[i] = (f"c{i}", kind), value, value
        for row in side.rows.values():
            row[i] = value

    def compute(self, ws: Any, side: Side, _: int) -> None:
        i = self.new()
        ws.alter(side.name, add={f"c{i}": int}, compute={f"c{i}": f"{side.columns[KEY][0]} * 2"})
        side.columns[i], side.fills[i] = (f"c{i}", "int"), "twice"
        for row in side.rows.values():
            row[i] = row[KEY] * 2

    def rename(self, ws: Any, side: Side, _: int) -> None:
        i = self.chance.choice(list(side.columns))
        if side.did(i, "rename"):
            return
        name, kind = side.columns[i]
        to = self.chance.choice([f"c{self.new()}", f"{name}x"])
        ws.alter(side.name, rename={name: to})
        side.columns[i] = to, kind
        side.note(i, "rename", to)

    def drop(self, ws: Any, side: Side, _: int) -> None:
        i = self.chance.choice(self.free(side) or [KEY])
        if i != KEY and i not in side.done:
            ws.alter(side.name, drop=side.columns[i][0])
            del side.columns[i]
            side.note(i, "drop")
            for row in side.rows.values():
                del row[i]

    def retype(self, ws: Any, side: Side, _: int) -> None:
        i = next((each for each in self.free(side) if side.columns[each][1] == "int"), None)
        if i is not None:
            name = side.columns[i][0]
            ws.alter(side.name, retype={name: float})
            side.columns[i] = name, "float"
            side.note(i, "retype")
            for row in side.rows.values():
                row[i] = float(row[i])
            if side.defaults.get(i) is not None:
                side.defaults[i] = float(side.defaults[i])

    def default(self, ws: Any, side: Side, _: int) -> None:
        i = self.chance.choice(list(side.columns))
        if side.did(i, "default"):
            return
        name, kind = side.columns[i]
        value = {"int": 5, "float": 5.0, "str": "w"}.get(kind.rstrip("?"))
        ws.alter(side.name, default={name: value})
        if side.defaults.get(i) != value:
            side.note(i, "default", value)
        side.defaults[i] = value

    def call(self, ws: Any, side: Side, first: int) -> None:
        if self.chance.random() < 0.4 and not side.did("name", "call"):
            to = f"{side.name}{self.chance.choice(['', first])}x"
            ws.alter(side.name, to=to)
            side.name = to
            side.note("name", "call", to)

    def rows(self, ws: Any, side: Side, first: int) -> None:
        """A row comes, one goes, one is another."""
        number = first + self.new()
        make = {"int": 3, "str": "n", "float": 2.5, "int?": 4}
        row = {i: make[kind] for i, (_, kind) in side.columns.items()} | {KEY: number}
        side.rows[number] = row
        some = [key for key in side.rows if first <= key < first + 900 and key != number]
        gone = self.chance.choice(some) if some and self.chance.random() < 0.3 else None
        with ws.transaction() as tx:
            tx.insert(side.name, [self.named(side, row)])
            if gone is not None:
                tx.delete(side.name, keys=[gone])
                del side.rows[gone]

    def named(self, side: Side, row: Row) -> dict[str, Any]:
        return {name: row[i] for i, (name, _) in side.columns.items()}

    # ── both ──────────────────────────────────────────────────────────────────────────────────────
    def collide(self, one: Side, other: Side) -> bool:
        """Test for changes of one column, or of the name, that are not the same."""
        for what in one.done.keys() & other.done.keys():
            mine, theirs = one.done[what], other.done[what]
            names = [dict(steps).get("rename") for steps in (mine, theirs)]
            if None not in names and names[0] != names[1]:
                return True
            left = [[step for step in steps if step[0] != "rename"] for steps in (mine, theirs)]
            while left[0] and left[1] and left[0][0] == left[1][0]:
                left = [steps[1:] for steps in left]
            kinds = [{how for how, _ in steps} for steps in left]
            if ("drop" in kinds[0] and theirs != mine) or ("drop" in kinds[1] and theirs != mine):
                return True
            if left[0] and left[1]:
                return True
        return False

    def merged(self, was: Side, one: Side, other: Side) -> Side:
        """The columns and rows that both sides together have."""
        found = Side()
        found.columns = {}
        found.name = one.name if one.name != was.name else other.name
        for i in [*one.columns, *other.columns]:
            sides = [side for side in (one, other) if i in side.columns]
            if i in was.columns and len(sides) == 2:
                names, kinds = (
                    [side.columns[i][place] for side in (one, other)] for place in (0, 1)
                )
                before = was.columns[i]
                found.columns[i] = (
                    names[0] if names[0] != before[0] else names[1],
                    kinds[0] if kinds[0] != before[1] else kinds[1],
                )
                told = [s for how in ("default", "retype") for s in sides if s.did(i, how)]
                found.defaults[i] = (told[0] if told else was).defaults.get(i)
                found.fills[i] = was.fills.get(i)
            elif i not in was.columns:
                found.columns[i], found.fills[i] = sides[0].columns[i], sides[0].fills[i]
                found.defaults[i] = sides[0].defaults.get(i)
        found.rows = {}
        for key in {**one.rows, **other.rows}:
            known = {**other.rows.get(key, {}), **one.rows.get(key, {})}
            found.rows[key] = {
                i: self.value(key, known.get(i, found.fills.get(i)), found.columns[i][1])
                for i in found.columns
            }
        return found

    def value(self, key: int, value: Any, kind: str) -> Any:
        value = key * 2 if value == "twice" else value
        return float(value) if kind == "float" else value

    def check(self, ws: Any, side: Side) -> None:
        (name,) = (each for each in ws.relations if each.startswith("t"))
        relation = ws.relations[name]
        assert name == side.name
        types = dict(zip(relation.columns, map(str, relation.types), strict=True))
        assert types == dict(side.columns.values())
        defaults = {side.columns[i][0]: v for i, v in side.defaults.items() if i in side.columns}
        assert relation.default == {each: v for each, v in defaults.items() if v is not None}
        rows = [dict(zip(relation.columns, row, strict=True)) for row in ws[name]]
        key = side.columns[KEY][0]
        assert {row[key]: row for row in rows} == side.shown()
        assert set(ws["v"]) == {(key, 1) for key in side.rows}
        assert ws.verify() == []


def lives(life: Life) -> int:
    """Branch, change both sides, merge, merge back; twice. The number of merges that were made."""
    made = 0
    for round in range(2):
        was = life.ours
        was.done = {}
        branch, theirs = life.ws.branch(f"b{round}"), deepcopy(was)
        life.ours = deepcopy(was)
        life.change(life.ws, life.ours, 1000 * (2 * round + 1))
        life.change(branch, theirs, 1000 * (2 * round + 2))
        if life.collide(life.ours, theirs):
            before = life.ws.version
            with pytest.raises(MergeConflictError, match="version"):
                life.ws.merge(branch.name)
            assert life.ws.version == before
            life.check(life.ws, life.ours)
            branch.drop()
            continue
        life.ws.merge(branch.name)
        life.ours = life.merged(was, life.ours, theirs)
        life.check(life.ws, life.ours)
        branch.merge("main")
        life.check(branch, life.ours)
        life.rows(branch, life.ours, 5000 + 100 * round)
        life.ws.merge(branch.name)
        life.check(life.ws, life.ours)
        branch.drop()
        made += 1
        if life.path is not None:
            life.ws.close()
            life.ws = life.open()
            life.check(life.ws, life.ours)
    life.ws.close()
    return made


@pytest.mark.parametrize("where", ["memory", "path"])
def test_branches_that_both_altered_are_merged(where: str, tmp_path: Path) -> None:
    seeds = range(30) if where == "memory" else range(100, 112)
    merged = 0
    for seed in seeds:
        path = None if where == "memory" else tmp_path / f"{seed}.lftj"
        merged += lives(Life(seed, path))
    assert len(seeds) < 2 * merged
