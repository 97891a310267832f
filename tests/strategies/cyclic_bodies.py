# SPDX-License-Identifier: Apache-2.0
"""Random bodies as text, over relations that may be in cycles with the head.

The name of a variable tells its type, so a name never has two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from lftj.syntax import tree
from tests.strategies.schemas import COST, DOMAINS

NAMES: Mapping[str, Sequence[str]] = {
    "int": ("a", "b", "c", "d", "x", "y", "t"),
    "int?": ("m", "m1"),
    "str": ("s1", "s2", "s3"),
    "float": ("f1", "f2"),
    "bool": ("b1", "b2"),
    "date": ("d1", "d2", "d3"),
    "timestamp": ("t1", "t2"),
    COST: ("p1", "p2"),
}
"""Names of variables by their type."""
_OF_INTS = ("i", "n", "h", "q", "u")  # results and inner variables
_OPTIONAL = ("k",)
TYPES: Mapping[str, str] = {
    **{name: type_ for type_, names in NAMES.items() for name in names},
    **dict.fromkeys(_OF_INTS, "int"),
    **dict.fromkeys(_OPTIONAL, "int?"),
}
"""The type that the name of a variable tells."""
FORMS: Mapping[str, Sequence[tuple[str, str]]] = {
    "int": (
        *(("i", form) for form in ("{0} + 1", "{0} * 2", "{0} - 1", "{0} % 3", "{0} + {1}")),
        *(("i", form) for form in ("{0} - {1}", "abs({0} - {1})", "{0} band 3", "max({0}, {1})")),
        *(("i", form) for form in ("if({0} < {1}, {0}, 2)", "squared({0})", "halved({0})")),
    ),
    "str": (("s3", "cat({0}, {1})"), ("s3", "substr({0}, 0, 1)"), ("i", "strlen({0})")),
    "float": (("f2", "{0} + {1}"), ("f2", "floor({0})"), ("f2", "-{0}")),
    "date": (("d3", "{0} + 1"), ("i", "{0} - {1}"), ("i", "month({0})")),
    COST: (("p2", "{0} + {1}"), ("i", "to_number({0})")),
}
"""Expressions that are computed of two values of a type, and the variable of the result."""
BOUNDS: Mapping[str, str] = {
    "str": "strlen({0}) < 3",
    "float": "{0} < 4.5, {0} > -4.5",
    "date": '{0} < date("2013-02-05")',
    COST: '{0} < decimal("6.00")',
}
"""Conditions that keep results of types other than int few."""
_ORDERED = ("<", "<=", "!=", "!=", ">", ">=", "=")


def squared(number: int) -> int:
    """A square, of few values."""
    return (number * number + 1) % 7


def halved(number: int) -> int | None:
    """A half, of even numbers."""
    return None if number % 2 else number // 2


FUNCTIONS = (squared, halved)
"""Functions of the user's that bodies call."""


@dataclass(frozen=True)
class Relation:
    """A relation: its columns, the kind of its heads, and what stands behind its columns.

    `kind`: base, set, choice, keyed, min, max, sum, count or aggregate, of which there are so many
    `aggregates` in a head.
    """

    name: str
    types: tuple[str, ...]
    kind: str = "base"
    more: str = ""
    aggregates: int = 1

    def __str__(self) -> str:
        columns = ", ".join(f"c{place}: {type_}" for place, type_ in enumerate(self.types))
        return f".decl {self.name}({columns}){self.more}"


def literal(random: Random, type_: str, size: int) -> str:
    """A value of a type, as text; ints are below `size`."""
    if type_.removesuffix("?") == "int":
        return str(random.randrange(size))
    return str(tree.Constant(random.choice(DOMAINS[type_])))


class Body:
    """A body that grows: its literals, and the variables that these bind."""

    def __init__(self, random: Random, size: int):
        self._random, self._size = random, size
        self.literals: list[str] = []
        self.bound: list[str] = []

    def __str__(self) -> str:
        return ", ".join(self.literals)

    def of(self, *types: str) -> list[str]:
        """The bound variables of these types."""
        return [name for name in self.bound if TYPES[name] in types]

    def a(self, type_: str) -> str:
        """A bound variable of a type, or else a value of it."""
        names = self.of(type_)
        return self._random.choice(names) if names else literal(self._random, type_, self._size)

    def term(self, type_: str) -> str:
        """The same for a head: a value now and then, NULL where the column has it."""
        if type_.endswith("?"):
            names = self.of(type_, type_.removesuffix("?"))
            return self._random.choice(names) if names else "1"
        return (
            self.a(type_)
            if self._random.random() < 0.93
            else literal(self._random, type_, self._size)
        )

    def _binds(self, names: Iterable[str]) -> None:
        self.bound += [name for name in dict.fromkeys(names) if name not in self.bound]

    # ── atoms ─────────────────────────────────────────────────────────────────────────────────────
    def atom(self, relation: Relation, fresh: float = 0.5) -> None:
        """A positive atom; `fresh`: how likely a column takes a variable of any name."""
        arguments = self._arguments(relation, fresh)
        self.literals.append(f"{relation.name}({', '.join(arguments)})")
        self._binds(each for each in arguments if each in TYPES)

    def loose(self, relation: Relation) -> None:
        """`r(_, _)`, which no variable links to the rest."""
        self.literals.append(f"{relation.name}({', '.join('_' for _ in relation.types)})")

    def _arguments(self, relation: Relation, fresh: float) -> list[str]:
        """Arguments, of which now and then two are the same."""
        found: list[str] = []
        for type_ in relation.types:
            used = found if self._random.random() < 0.85 else []
            found.append(self._argument(type_, fresh, used))
        return found

    def _argument(self, type_: str, fresh: float, used: Sequence[str]) -> str:
        chance, known = self._random.random(), self.of(type_)
        if chance < 0.04:
            return literal(self._random, type_, self._size)
        if chance < 0.14:
            return "_"
        names = known if known and chance > fresh else NAMES[type_]
        return self._random.choice([each for each in names if each not in used] or ["_"])

    def _tested(self, relation: Relation, others: Sequence[str], known: float = 0.8) -> list[str]:
        """Arguments for an inner atom: bound variables, or these others where they may stand."""
        found = []
        for type_ in relation.types:
            names = self.of(type_)
            inner = [each for each in others if TYPES.get(each, type_) == type_]
            if names and (self._random.random() < known or not inner):
                found.append(self._random.choice(names))
            else:
                found.append(self._random.choice(inner) if inner else "_")
        return found

    # ── other literals ────────────────────────────────────────────────────────────────────────────
    def negation(self, relation: Relation) -> None:
        """`!r(x, _)`."""
        constant = str(self._random.randrange(self._size))
        arguments = [
            "_" if each == constant and type_ != "int" else each
            for each, type_ in zip(
                self._tested(relation, ["_", constant]), relation.types, strict=True
            )
        ]
        self.literals.append(f"!{relation.name}({', '.join(arguments)})")

    def inner_negation(self, relation: Relation) -> None:
        """`!( r(x, q), q < y )`, if there are ints."""
        arguments = self._tested(relation, ["q"], 0.4)
        ints = [each for each in arguments if TYPES.get(each) == "int"]
        if ints and self.of("int"):
            operator = self._random.choice(["<", "!=", ">="])
            test = f"{self._random.choice(ints)} {operator} {self.a('int')}"
            self.literals.append(f"!( {relation.name}({', '.join(arguments)}), {test} )")

    def comparison(self) -> None:
        """Of two bound variables, or of one and a value."""
        if names := [name for name in self.bound if not TYPES[name].endswith("?")]:
            name = self._random.choice(names)
            others = [each for each in self.of(TYPES[name]) if each != name]
            others.append(literal(self._random, TYPES[name], self._size))
            operators = ("=", "!=") if TYPES[name] == "bool" else _ORDERED
            other = self._random.choice(others)
            self.literals.append(f"{name} {self._random.choice(operators)} {other}")

    def aggregate(self, relation: Relation) -> None:
        """`n = sum q : { r(x, q), q < y }`, now and then compared with a value."""
        random = self._random
        arguments = self._tested(relation, ["q", "u", "_"], 0.5)
        call = random.choice([*["count"] * 3, "sum", "min", "max", "first", "last"])
        inner = [each for each in arguments if each in ("q", "u")]
        if "q" not in arguments and call != "count":
            return
        test = ""
        if "q" in arguments and self.of("int") and random.random() < 0.5:
            test = f", q {random.choice(['<', '>', '<=', '!='])} {self.a('int')}"
        of = "" if call == "count" else " q"
        if call in ("first", "last"):
            of = f"(q, {random.choice(inner)})"
        self.literals.append(
            f"n = {call}{of} : {{ {relation.name}({', '.join(arguments)}){test} }}"
        )
        if random.random() < 0.6:
            self.literals.append(
                f"n {random.choice(['<', '>', '=', '='])} {random.choice([0, 1, 1, 2, 3])}"
            )
        self._binds(["n"])

    def left_join(self, relation: Relation) -> None:
        """`(r(x, k))?`."""
        arguments = [
            "k" if type_ in ("int", "int?") and not given else given or "_"
            for type_, given in (
                (type_, self._random.choice(["", *self.of(type_)[:2]])) for type_ in relation.types
            )
        ]
        if arguments.count("k") == 1:
            self.literals.append(f"({relation.name}({', '.join(arguments)}))?")
            self._binds("k")

    def disjunction(self, one: Relation, other: Relation) -> None:
        """`(r(x, y) ; s(x))`, of bound variables mostly."""
        branches = [
            f"{each.name}({', '.join(self._arguments(each, 0.0))})" for each in (one, other)
        ]
        self.literals.append(f"({' ; '.join(branches)})")

    def choice(self) -> None:
        """`choice((x), (y))`."""
        if len(self.bound) > 1:
            one, other = self._random.sample(self.bound, 2)
            self.literals.append(f"choice(({one}), ({other}))")

    def computed(self) -> None:
        """`i = x + 1`, or a value of another type, within bounds."""
        type_ = self._random.choice(
            sorted({TYPES[name] for name in self.bound} & FORMS.keys()) or [""]
        )
        if type_:
            result, form = self._random.choice(FORMS[type_])
            made = form.format(self.a(type_), self.a(type_))
            self.literals.append(f"{result} = {made}")
            bound = f"{result} < {self._size}, {result} >= 0"
            self.literals.append(BOUNDS.get(TYPES[result], bound).format(result))
            self._binds([result])

    def of_null(self) -> None:
        """Conditions that ask whether a value is missing, or stands for it."""
        if names := self.of("int?"):
            name = self._random.choice(names)
            forms = ("is_null({})", "!is_null({})", "{} > 0", "h = coalesce({}, 2)")
            found = self._random.choice(forms).format(name)
            self.literals.append(found)
            self._binds(["h"] if found.startswith("h") else [])

    def mixed(self) -> None:
        """Bring the literals into another order."""
        self._random.shuffle(self.literals)
