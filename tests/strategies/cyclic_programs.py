# SPDX-License-Identifier: Apache-2.0
"""Random programs with heads of all kinds in cycles, as text, and histories for them: rows and
rules that come and go. The number of a program tells all of it.

Not all rules are rules of a program: what is refused is left out by whoever adds it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from tests.strategies.cyclic_bodies import TYPES, Body, Relation
from tests.strategies.schemas import COST, DOMAINS, Row

Rows = dict[str, set[Row]]
MANY = 8
"""Ints from which on relations have more rows, and bodies fewer of all their pairs: the reference
looks at each.
"""

NUMBERS = (
    Relation("e", ("int", "int")),
    Relation("f", ("int", "int", "int")),
    Relation("s", ("int",)),
    Relation("w", ("int", "int", "int?")),
    Relation("z", ("int", "int")),
    Relation("d", ("int", "int", "int")),
)
"""Base relations of ints. `d` has no cycle, so what it adds up has none either."""
OTHERS = (
    Relation("g", ("str", "str")),
    Relation("l", ("int", "str")),
    Relation("r", ("int", "int", "float")),
    Relation("o", ("date", "int")),
    Relation("v", ("int", "timestamp", "bool")),
    Relation("j", ("int", "str", COST)),
    Relation("key1", ("int", "int"), more=" key(c0)"),
)
"""Base relations with other types, and with a key."""
_KINDS = ("set", "set", "set", "best", "best", "sum", "aggregate", "choice", "narrow")
_DOMAINS = ("c0", "c1", "c0, c1", "(c0, c1)")
_GROUPS = {"set": (1, 1, 2, 2, 3), "narrow": (1,), "choice": (2,), "keyed": (2,)}


@dataclass(frozen=True)
class Step:
    """A transaction: rows come and go, the rule number `out` goes, and `back`: what went first
    comes back.
    """

    insert: Rows
    delete: Rows
    out: int | None
    back: bool


@dataclass(frozen=True)
class Life:
    """A program, what its base relations hold at first, and what happens then.

    `name`: the arguments of `life`. `facts_first`: rows are there before the rules.
    """

    name: str
    base: tuple[Relation, ...]
    derived: tuple[Relation, ...]
    rules: tuple[str, ...]
    start: Rows
    steps: tuple[Step, ...]
    facts_first: bool

    @property
    def relations(self) -> tuple[Relation, ...]:
        """All relations, base relations first."""
        return (*self.base, *self.derived)

    @property
    def declarations(self) -> str:
        """The text that declares all relations."""
        return "\n".join(map(str, self.relations))

    @property
    def keys(self) -> dict[str, tuple[int, ...]]:
        """The columns of the keys, by relation."""
        return {each.name: (0,) for each in self.relations if "key(c0)" in each.more}


# ── heads ─────────────────────────────────────────────────────────────────────────────────────────
def _derived(random: Random, name: str, others: Sequence[str]) -> Relation:
    """A relation that rules derive. `others`: types that columns may have besides int."""

    def some(types: Sequence[str]) -> str:
        return random.choice(types) if types and random.random() < 0.4 else "int"

    kind = random.choice([*_KINDS, "keyed"] if others else _KINDS)
    width = random.choice(_GROUPS.get(kind, (0, 1, 1, 1, 2)))
    types = tuple(some(others) for _ in range(width))
    match kind:
        case "choice":
            return Relation(name, types, kind, f" choice-domain {random.choice(_DOMAINS)}")
        case "keyed":
            return Relation(name, types, kind, " key(c0)")
        case "best":
            best = random.choice(["min", "max"])
            return Relation(name, (*types, some([*others, "int?"])), best)
        case "sum":
            added = random.choice(["sum", "sum", "count"])
            type_ = some([each for each in others if each in ("float", COST)])
            type_ = type_ if added == "sum" else "int"
            return Relation(name, (*types, type_), added)
        case "aggregate":
            made = tuple(some(others) for _ in range(random.choice([1, 1, 1, 2])))
            return Relation(name, (*types, *made), kind, aggregates=len(made))
        case _:
            if width > 1 and random.random() < 0.1:
                types = (*types[:-1], "int?")
            return Relation(name, types, "set")


class _Heads:
    """Heads over bodies; what a head needs besides becomes a literal of the body."""

    def __init__(self, random: Random):
        self._random = random

    def head(self, relation: Relation, body: Body) -> str:
        """A head of the relation, of its kind."""
        terms = [body.term(type_) for type_ in relation.types]
        forms: dict[str, Callable[[str, Body], str]] = {
            "min": self._least,
            "max": self._greatest,
            "sum": self._sum,
            "count": lambda type_, body: "count()",
            "aggregate": self._aggregate,
        }
        if relation.kind in forms:
            for place in range(1, relation.aggregates + 1):
                terms[-place] = forms[relation.kind](relation.types[-place], body)
        return f"{relation.name}({', '.join(terms)})"

    def _offered(self, type_: str, body: Body) -> tuple[str, str]:
        """A value for a best one: the variable that it is made of, and the term."""
        value = body.term(type_)
        other = body.term(type_)
        ints = ("{0} + 1", "{0} - 1", "{0} * 2", "0", "7 - {0}") if type_ == "int" else ()
        sums = ("{0} + {1}",) if type_ in ("int", "float", COST) else ()
        both = () if type_ in ("bool", "int?") else ("min({0}, {1})", "max({0}, {1})")
        form = self._random.choice(["{0}", "{0}", *ints, *sums, *both])
        return value, form.format(value, other)

    def _least(self, type_: str, body: Body) -> str:
        value, term = self._offered(type_, body)
        if type_ == "int" and "-" in term and value in TYPES and self._random.random() < 0.9:
            body.literals.append(f"{value} > {self._random.choice([-4, 0])}")
        return f"min({term})"

    def _greatest(self, type_: str, body: Body) -> str:
        value, term = self._offered(type_, body)
        bounds = {"int": ["9", "12", "20"], "float": ["4.5"], COST: ['decimal("6.00")']}
        if type_ in bounds and value in TYPES and self._random.random() < 0.9:
            body.literals.append(f"{value} < {self._random.choice(bounds[type_])}")
        return f"max({term})"

    def _sum(self, type_: str, body: Body) -> str:
        one, other = body.a(type_), body.a(type_)
        products = (f"{one} * {other}", f"{one} - {other}", "1") if type_ == "int" else ()
        term = self._random.choice([one, one, *products])
        return f"sum({term})" if self._random.random() < 0.85 else term

    def _aggregate(self, type_: str, body: Body) -> str:
        value, key = body.a(type_), self._random.choice(body.bound)
        calls = [f"{call}({value})" for call in ("min", "max", "mode")]
        calls += [f"{call}({value}, {key})" for call in ("first", "last", "arg_min", "arg_max")]
        calls.append(f"quantile_disc({value}, 0.5)")
        if type_ in ("int", "float", COST):
            calls.append(f"sum({value})")
        if type_ == "int":
            calls += ["count()", f"count_distinct({key})", f"sum({value}) - count()"]
        if type_ in ("float", COST):
            calls.append(f"median({value})")
        if type_ == "str":
            calls.append(f'concat({value}, ",", {key})')
        return self._random.choice(calls)


# ── rules ─────────────────────────────────────────────────────────────────────────────────────────
class _Rules:
    """Rules of a program: bodies read relations that come before, the one after, and the head."""

    def __init__(
        self, random: Random, size: int, base: Sequence[Relation], derived: Sequence[Relation]
    ):
        self._random, self._size = random, size
        self._base, self._derived = list(base), list(derived)
        self._heads = _Heads(random)

    def rules(self, level: int) -> list[str]:
        """Rules of the relation of a level; the first one mostly begins its cycle."""
        single = self._derived[level].kind == "aggregate"
        count = 1 if single else self._random.choice([1, 2, 2, 3])
        below = [self._random.random() < 0.9, *[False] * count]
        return [self._rule(level, below[number]) for number in range(count)]

    def _rule(self, level: int, below: bool) -> str:
        body = self._body(level, below)
        head = self._heads.head(self._derived[level], body)
        return f"{head} :- {body}."

    def _body(self, level: int, below: bool) -> Body:
        """A body; `below`: it reads nothing of its level and above."""
        random, body = self._random, Body(self._random, self._size)
        near = self._derived[: level + 2] if random.random() < 0.75 else self._derived
        if below:
            near = self._derived[:level]
        pool = [*self._base * (1 if level else 2), *near * 2]
        if random.random() < 0.5 and not below:
            pool += [self._derived[level]] * 6
        fresh = random.choice([0.3, 0.5, 0.5, 0.9])
        if self._size >= MANY:
            fresh = min(fresh, 0.3)
        for _ in range(random.choice([1, 1, 2, 2, 2, 3, 4])):
            body.atom(random.choice(pool), fresh)
        if not body.bound:
            body.atom(NUMBERS[2], fresh=1.0)
        if not body.bound:
            body.literals.append("s(a)")
            body.bound.append("a")
        if not below or random.random() < 0.5:
            self._tests(body, level, near)
        if random.random() < 0.3:
            body.mixed()
        return body

    def _tests(self, body: Body, level: int, near: Sequence[Relation]) -> None:
        """Literals that a body has besides atoms."""
        random, low = self._random, [*self._derived[:level], *self._base]
        chance = random.random()
        if chance < 0.15:
            body.negation(random.choice(low if random.random() < 0.9 else self._derived))
        elif chance < 0.2:
            body.inner_negation(random.choice(low))
        for _ in range(random.choice([0, 0, 0, 0, 1, 1, 2])):
            body.comparison()
        if random.random() < 0.25:
            body.aggregate(random.choice(low))
        if self._size < MANY and random.random() < 0.15:
            body.loose(random.choice(low))
        if random.random() < 0.08:
            body.left_join(random.choice(low))
        if random.random() < 0.08:
            both = [*near, *self._base]
            body.disjunction(random.choice(both), random.choice(both))
        if random.random() < 0.06 and chance > 0.2:
            body.choice()
        if random.random() < 0.15:
            body.computed()
        if random.random() < 0.5:
            body.of_null()


# ── rows and steps ────────────────────────────────────────────────────────────────────────────────
def _value(random: Random, type_: str, size: int) -> object:
    if type_ == "int?":
        return random.choice([None, None, 0, 1, 2])
    return random.randrange(size) if type_ == "int" else random.choice(DOMAINS[type_])


def _row(random: Random, relation: Relation, size: int) -> Row:
    if relation.name == "d":
        first = random.randrange(size - 1)
        return first, random.randrange(first + 1, size), random.randrange(-1, 4)
    return tuple(_value(random, type_, size) for type_ in relation.types)  # pyright: ignore


def _ordered(rows: set[Row]) -> list[Row]:
    return sorted(rows, key=repr)


def _start(random: Random, base: Sequence[Relation], size: int) -> Rows:
    counts = (0, 2, 5, 9, 9, 14, 14, 20, 20) if size < MANY else (0, 5, 12, 20, 30)
    found = {}
    for each in base:
        rows = {_row(random, each, size) for _ in range(random.choice(counts))}
        if each.more:
            rows = set({row[0]: row for row in _ordered(rows)}.values())
        found[each.name] = rows
    return found


def _steps(
    random: Random, base: Sequence[Relation], rules: int, start: Rows, size: int
) -> tuple[Step, ...]:
    held = {name: set(rows) for name, rows in start.items()}
    steps = []
    for _ in range(random.choice([4, 8, 14])):
        now = {name: set(rows) for name, rows in held.items()}
        for _ in range(random.choice([1, 1, 2, 4])):
            each = random.choice(base)
            rows = now[each.name]
            if random.random() < 0.5 or not rows:
                rows |= {_row(random, each, size) for _ in range(random.choice([1, 1, 3]))}
            else:
                count = min(len(rows), random.choice([1, 1, 2, 5]))
                rows -= set(random.sample(_ordered(rows), count))
        out = random.randrange(rules) if random.random() < 0.2 else None
        back = random.random() < 0.2
        steps.append(
            Step(
                {name: now[name] - held[name] for name in now if now[name] - held[name]},
                {name: held[name] - now[name] for name in now if held[name] - now[name]},
                out,
                back,
            )
        )
        held = now
    return tuple(steps)


def life(number: int, size: int = 6, typed: bool = False) -> Life:
    """The program and history of a number. Ints of base relations are below `size`; `typed`:
    columns have other types, too, and keys.
    """
    random = Random(number)
    base = (*NUMBERS, *random.sample(OTHERS, random.choice([1, 2, 3]))) if typed else NUMBERS
    others = sorted({type_ for each in base for type_ in each.types} - {"int", "int?"})
    count = random.choice([1, 2, 2, 3, 3, 4, 5])
    derived = tuple(_derived(random, f"p{place}", others) for place in range(count))
    drawn = _Rules(random, size, base, derived)
    rules = [rule for level in range(count) for rule in drawn.rules(level)]
    start = _start(random, base, size)
    steps = _steps(random, base, len(rules), start, size)
    name = f"number {number}, {size}, {typed}"
    return Life(name, base, derived, tuple(rules), start, steps, random.random() < 0.5)
