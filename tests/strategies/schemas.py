"""The relations that random programs are about, and rows for them from domains so small that joins
hit.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from hypothesis import strategies as st

from lftj.syntax import tree

Value = tree.LiteralValue | None
Row = tuple[Value, ...]
T = TypeVar("T")

COST = "decimal(8,2)"

DOMAINS: Mapping[str, tuple[tree.LiteralValue, ...]] = {
    "int": (0, 1, 2, 0, 1, 2, 3, -1),
    "float": (0.5, 1.0, -0.0, 0.1, 1e16, -1e16),
    "str": ("a", "b", "a", "b", "", "\uffff", "\U0001f600"),
    "bool": (True, False),
    "date": (datetime.date(2013, 1, 31), datetime.date(2013, 2, 1), datetime.date(1969, 12, 31)),
    "timestamp": (
        datetime.datetime(2013, 1, 31, 12),
        datetime.datetime(1969, 12, 31, 23, 59, 59, 999999),
    ),
    COST: (decimal.Decimal("0.10"), decimal.Decimal("2.50"), decimal.Decimal("-1.00")),
}
NULLED = frozenset(f"{type_}?" for type_ in DOMAINS)
"""Types of columns that may have NULL."""


def required(type_: str) -> str:
    """The type without NULL."""
    return type_.removesuffix("?")


def optional(type_: str) -> str:
    """The type with NULL."""
    return f"{required(type_)}?"


@dataclass(frozen=True)
class Spec:
    """A relation: its name, column types, of which those with `?` take NULL, and the columns that
    are its key (None: the whole row).

    `functional`: written `name[…] = last`, with all columns but the last as its key.
    """

    name: str
    types: tuple[str, ...]
    key: tuple[int, ...] | None = None
    functional: bool = False

    def atom(self, terms: Sequence[tree.Term]) -> tree.Atom:
        """An atom of the relation."""
        return (
            tree.Atom(self.name, tuple(terms[:-1]), terms[-1])
            if self.functional
            else tree.Atom(self.name, tuple(terms))
        )

    @property
    def columns(self) -> dict[str, str]:
        """Column names c0, c1, … with their types, as `ws.relation` takes them."""
        return {f"c{place}": type_ for place, type_ in enumerate(self.types)}

    @property
    def declaration(self) -> tree.Declaration:
        """The `.decl` of the relation."""
        return tree.Declaration(
            self.name,
            tuple(tree.Column(name, type_) for name, type_ in self.columns.items()),
            self.functional,
            key=None
            if self.key is None or self.functional
            else tuple(f"c{place}" for place in self.key),
        )


BASES: tuple[Spec, ...] = (
    Spec("node", ("int",)),
    Spec("edge", ("int", "int")),
    Spec("link", ("int", "int")),
    Spec("tri", ("int", "int", "int")),
    Spec("weight", ("int", "int", "float")),
    Spec("word", ("str", "str")),
    Spec("label", ("int", "str"), key=(0,)),
    Spec("rate", ("int", "int"), key=(0,), functional=True),
    Spec("log", ("date", "bool", COST)),
    Spec("event", ("timestamp", "int")),
    Spec("flag", ()),
    Spec("void", ("int", "int")),
    Spec("gap", ("int", "int?")),
    Spec("hole", ("int?", "int?")),
    Spec("note", ("str?", "float?", "int?")),
    Spec("entry", ("date?", "bool?", f"{COST}?", "timestamp?")),
    Spec("quote", ("int", "str?"), key=(0,)),
)
"""`label` and `quote` have a key, `rate` is a function; `flag` has no columns, `void` stays
empty.
"""

KEYED = tuple(spec.name for spec in BASES if spec.key is not None)
INTEGER_BASES = tuple(spec for spec in BASES if {required(each) for each in spec.types} == {"int"})


def pick(draw: st.DrawFn, choices: Sequence[T]) -> T:
    """One of several choices. A strategy of its own for each set of choices would take longer to
    make than to draw from.
    """
    return choices[draw(st.integers(0, len(choices) - 1))]


@cache
def values(type_: str) -> st.SearchStrategy[Value]:
    """A value of a type's small domain, NULL included where the type has it; the first are the
    likeliest.
    """
    domain = DOMAINS[required(type_)]
    missing = [None] * (1 + len(domain) // 4) if type_ in NULLED else []
    return st.sampled_from((*domain, *missing))


@cache
def constants(type_: str) -> st.SearchStrategy[tree.LiteralValue]:
    """A value of a type's small domain, as rules may write it."""
    return st.sampled_from(DOMAINS[required(type_)])


@cache
def row(types: tuple[str, ...]) -> st.SearchStrategy[Row]:
    """A row of values of these types."""
    return st.tuples(*map(values, types))


@cache
def rows(spec: Spec) -> st.SearchStrategy[list[Row]]:
    """Distinct rows of a relation, its key kept; none, few, or so many that most joins have
    partners.
    """
    if spec.name == "void":
        return st.builds(list)
    most = (
        3
        if spec.key
        else 2 ** len(spec.types)
        if "timestamp" in spec.types
        else 3 ** len(spec.types)
    )
    return st.sampled_from([0, min(most, 3), min(most, 6), min(most, 9), min(most, 9)]).flatmap(
        lambda least: _distinct(spec, least)
    )


@cache
def _distinct(spec: Spec, least: int) -> st.SearchStrategy[list[Row]]:
    """So many rows, or up to three more."""
    key = (lambda row: tuple(row[place] for place in spec.key or ())) if spec.key else None
    return st.lists(
        row(spec.types),
        min_size=least,
        max_size=least + 3 * bool(spec.types),
        unique_by=key or (lambda row: row),
    )


@cache
def databases(specs: tuple[Spec, ...] = BASES) -> st.SearchStrategy[dict[str, list[Row]]]:
    """Rows for each of the relations."""
    return st.fixed_dictionaries({spec.name: rows(spec) for spec in specs})
