"""Random programs over three small relations of numbers, with all that bodies may hold: negated
bodies of several literals, branches, aggregates, choices, recursion with a `min` or `max` whose
values are cut off, functors that may fail.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import lftj

BASES = {"e": 2, "f": 1, "g": 1}
VALUES = (0, 1, 2)
Facts = dict[str, set[tuple[int, ...]]]

_RECURSIVE = (
    "{v}(x, y) :- {b}(x, y). {v}(x, z) :- {v}(x, y), e(y, z).",
    "{v}(x, y) :- e(x, y), !f(x). {v}(x, z) :- {v}(x, y), {v}(y, z).",
    "{v}(x, {m}(0)) :- e(x, _). {v}(y, {m}({o}(v + 1, 2))) :- {v}(x, v), e(x, y).",
    "{v}(x, {m}(1)) :- f(x). {v}(y, {m}({o}(v - 1, 1))) :- {v}(x, v), e(x, y), v >= 0.",
    "{v}(x, {m}(y)) :- e(x, y). {v}(y, {m}(v)) :- {v}(x, v), e(x, y), !g(x).",
)


@dataclass(frozen=True)
class SmallProgram:
    """A program as text, with the arities of its views."""

    text: str
    views: dict[str, int]


class _Body:
    """One body, literal by literal. `bound`: its variables so far."""

    def __init__(self, chosen: random.Random, relations: Sequence[tuple[str, int]]):
        self._chosen, self._relations = chosen, relations
        self.bound: list[str] = []
        self._fresh = iter("uvwstpqklmn")

    def text(self, *, plain: bool) -> str:
        """A body; a `plain` one has neither aggregates nor functors."""
        literals = [self.atom("xyz") for _ in range(self._chosen.choice((1, 1, 2, 2, 3)))]
        if not self.bound:
            literals.append(f"{self._relations[0][0]}({'x, y'[: 3 * self._relations[0][1] - 2]})")
            self.bound = ["x", "y"][: self._relations[0][1]]
        kinds = [self._negated, self._negated_body, self._compared, self._branches]
        kinds += [] if plain else [self._aggregate, self._computed]
        literals += [self._chosen.choice(kinds)() for _ in range(self._chosen.choice((0, 1, 1, 2)))]
        self._chosen.shuffle(literals)
        return ", ".join(literals)

    def atom(self, names: str) -> str:
        """An atom, whose names are variables of the body from then on."""
        name, arity = self._chosen.choice(self._relations)
        terms = [self._chosen.choice([*names, *names, "_", "1"]) for _ in range(arity)]
        self.bound += [each for each in terms if each in names and each not in self.bound]
        return f"{name}({', '.join(terms)})"

    def _some(self) -> str:
        return self._chosen.choice(self.bound)

    def _inside(self, names: Sequence[str]) -> str:
        """An atom inside an inner body."""
        name, arity = self._chosen.choice(self._relations)
        terms = [self._chosen.choice([*names, *names, "_", "0"]) for _ in range(arity)]
        return f"{name}({', '.join(terms)})"

    def _negated(self) -> str:
        return f"!{self._inside(self.bound)}"

    def _negated_body(self) -> str:
        own = next(self._fresh)
        outer = [own] if self._chosen.random() < 0.3 else [own, self._some()]
        first = self._named(own, outer)
        kinds = [f"{own} > 0", f"{own} != {outer[-1]}", f"!f({own})", self._inside(outer)]
        return f"!({first}, {self._chosen.choice(kinds)})"

    def _named(self, own: str, outer: Sequence[str]) -> str:
        """An atom that has a variable."""
        name, arity = self._chosen.choice(self._relations)
        terms = [self._chosen.choice([*outer, "_"]) for _ in range(arity)]
        terms[self._chosen.randrange(arity)] = own
        return f"{name}({', '.join(terms)})"

    def _compared(self) -> str:
        right = self._chosen.choice([*self.bound, "0", "1"])
        return f"{self._some()} {self._chosen.choice(('<', '!=', '=', '>='))} {right}"

    def _branches(self) -> str:
        kinds = [self._negated, self._negated_body, self._compared, self._branch_atom]
        return f"({self._chosen.choice(kinds)()} ; {self._chosen.choice(kinds)()})"

    def _branch_atom(self) -> str:
        return self._inside(self.bound)

    def _aggregate(self) -> str:
        own, result = next(self._fresh), next(self._fresh)
        first = self._named(own, [own, self._some()])
        function = self._chosen.choice(("count", f"sum {own}", f"max {own}", f"min {own}"))
        rest = self._chosen.choice(("", f", !f({own})", f", {own} < 2"))
        self.bound.append(result)
        return f"{result} = {function} : {{ {first}{rest} }}"

    def _computed(self) -> str:
        result, of = next(self._fresh), self._some()
        term = self._chosen.choice((f"{of} + 1", f"2 / {of}", f"{of} % 2", f"max({of}, 1)"))
        self.bound.append(result)
        return f"{result} = {term}"


def small_program(seed: int) -> SmallProgram:
    """A program. Some of them are refused: a view may be read in a cycle with its negation."""
    chosen = random.Random(seed)
    relations = list(BASES.items())
    views: dict[str, int] = {}
    declared = [f".decl {name}({', '.join('xy'[:n])}: number)" for name, n in BASES.items()]
    clauses: list[str] = [each.replace("x, y:", "x: number, y:") for each in declared]
    for number in range(chosen.choice((1, 2, 2, 3))):
        name = f"v{number}"
        arity, made = _view(chosen, name, relations)
        columns = ", ".join(f"{column}: number" for column in "xy"[:arity])
        domain = " choice-domain x" if arity == 2 and chosen.random() < 0.1 else ""
        clauses += [f".decl {name}({columns}){domain if 'min(' not in made else ''}", made]
        views[name] = arity
        relations += [(name, arity)] * 2
    return SmallProgram("\n".join(clauses), views)


def _view(
    chosen: random.Random, name: str, relations: Sequence[tuple[str, int]]
) -> tuple[int, str]:
    kind = chosen.random()
    if kind < 0.2:
        best, other = chosen.choice((("max", "min"), ("min", "max")))
        twos = [each for each, arity in relations if arity == 2]
        shape = chosen.choice(_RECURSIVE)
        return 2, shape.format(v=name, m=best, o=other, b=chosen.choice(twos))
    arity = chosen.choice((1, 2))
    if kind < 0.35:
        body = _Body(chosen, relations)
        text = body.text(plain=False)
        call = chosen.choice(("count()", "sum({})", "max({})", "min({})", "max({} + 1)"))
        heads = [chosen.choice(body.bound) for _ in range(arity - 1)]
        return arity, f"{name}({', '.join([*heads, call.format(body.bound[0])])}) :- {text}."
    rules = [_plain(chosen, name, arity, relations) for _ in range(chosen.choice((1, 1, 2)))]
    return arity, "\n".join(rules)


def _plain(
    chosen: random.Random, name: str, arity: int, relations: Sequence[tuple[str, int]]
) -> str:
    body = _Body(chosen, relations)
    text = body.text(plain=chosen.random() < 0.5)
    if len(body.bound) > 1 and chosen.random() < 0.1:
        text += f", choice(({body.bound[0]}), ({body.bound[1]}))"
    terms = [chosen.choice([*body.bound * 3, "1", f"{body.bound[0]} + 1"]) for _ in range(arity)]
    return f"{name}({', '.join(terms)}) :- {text}."


def small_facts(seed: int) -> Facts:
    """Rows of the base relations, of one or another none."""
    chosen = random.Random(seed)
    return {
        name: {
            tuple(chosen.choice(VALUES) for _ in range(arity))
            for _ in range(chosen.choice((0, 1, 1, 2, 3)))
        }
        for name, arity in BASES.items()
    }


def rows_of(arity: int) -> Iterator[tuple[int, ...]]:
    """All rows of so many columns over the small domain."""
    rows: list[tuple[int, ...]] = [()]
    for _ in range(arity):
        rows = [(*row, value) for row in rows for value in VALUES]
    return iter(rows)


def loaded(seed: int) -> tuple[lftj.Workspace, SmallProgram, Facts]:
    """A small program with facts. Raises LftjError."""
    program, facts = small_program(seed), small_facts(seed)
    workspace = lftj.connect()
    workspace.add_rules(program.text)
    with workspace.transaction() as tx:
        for name, rows in facts.items():
            tx.insert(name, sorted(rows))
    return workspace, program, facts


def worlds(seeds: range) -> Iterator[tuple[lftj.Workspace, SmallProgram, Facts]]:
    """The small programs of these seeds that are not refused."""
    for seed in seeds:
        try:
            yield loaded(seed)
        except lftj.LftjError as problem:
            if problem.code not in ("E001", "E221"):
                raise
