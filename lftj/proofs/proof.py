"""A proof as data: steps in an order in which each rests on earlier ones only.

A step derives one row, by one rule under bindings of its variables, from premises, one for each
literal of the rule as written. A base fact is a step without a rule. The last step derives the row
that was asked about. A row that is needed several times is derived once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

Row = tuple[Any, ...]
Bindings = tuple[tuple[str, Any], ...]
"""Names of variables with their values."""


# ── premises ──────────────────────────────────────────────────────────────────────────────────────
class Follows(NamedTuple):
    """An atom, whose row the step of this number derives."""

    literal: str
    step: int


class Holds(NamedTuple):
    """A comparison or a predicate: `instance` has values for its variables, `values` are those of
    both sides.
    """

    literal: str
    instance: str
    values: tuple[Any, ...]


class Absent(NamedTuple):
    """A negation: nothing matches `instance`, which has values for the variables that the rule
    binds elsewhere.
    """

    literal: str
    instance: str


class Assignment(NamedTuple):
    """One assignment of a body's own variables, with a premise for each of its literals."""

    bindings: Bindings
    premises: tuple[Premise, ...]


class Branch(NamedTuple):
    """A disjunction of which branch `number`, counted from 0, holds under further bindings."""

    literal: str
    number: int
    holds: Assignment


class Group(NamedTuple):
    """An aggregate: its value, how many assignments it is over, and those that matter most.

    Of a minimum or maximum `shown` are assignments that attain it, of a sum the largest
    contributors; `size - len(shown)` others are not shown.
    """

    literal: str
    value: Any
    size: int
    shown: tuple[Assignment, ...]


class Chosen(NamedTuple):
    """A choice: of `size` candidates that agree on the `domain` (names with values) this one was
    taken, which comes first. `rejected` are some of the others.
    """

    domain: Bindings
    size: int
    rejected: tuple[Row, ...]


Premise = Follows | Holds | Absent | Branch | Group | Chosen


class Origin(NamedTuple):
    """The commit with which a base fact came: its version, time and message."""

    version: int
    time: datetime
    message: str = ""

    @staticmethod
    def of(version: int, seconds: float, message: str | None) -> Origin:
        """The origin in a commit of so many seconds since 1970."""
        return Origin(version, datetime.fromtimestamp(seconds), message or "")


@dataclass(frozen=True, slots=True)
class Step:
    """One row of a relation and why it is there. `rule` is the text of the rule, None for a base
    fact; `head`: which of several heads.

    `height`: 0 for a base fact, else one more than the greatest height among the premises.
    """

    relation: str
    row: Row
    height: int = 0
    rule: str | None = None
    head: int = 0
    bindings: Bindings = ()
    premises: tuple[Premise, ...] = ()


@dataclass(frozen=True)
class Proof:
    """The reason why one row is there. `print()` it for a tree of text; `to_dict()` gives plain
    data.

    `smallest`: no proof of this row has a smaller height; False where the search was bounded and
    found some proof. `program` is the text of the declarations and rules that it speaks of.
    """

    steps: tuple[Step, ...]
    smallest: bool = True
    _program: Callable[[], str] = field(default=str, repr=False, compare=False)
    _count: Callable[[], int] = field(default=int, repr=False, compare=False)
    _origins: Callable[[], dict[int, Origin]] = field(default=dict, repr=False, compare=False)

    @property
    def relation(self) -> str:
        """The relation of the row."""
        return self.steps[-1].relation

    @property
    def row(self) -> Row:
        """The row that is proven."""
        return self.steps[-1].row

    @property
    def height(self) -> int:
        """Rules one above the other, 0 for a base fact."""
        return self.steps[-1].height

    @property
    def program(self) -> str:
        """Declarations and rules of all relations that the proof can speak of, as text."""
        return self._program()

    @property
    def facts(self) -> dict[str, list[Row]]:
        """The base facts that the proof rests on, by relation."""
        found: dict[str, list[Row]] = {}
        for step in self.steps:
            if step.rule is None:
                found.setdefault(step.relation, []).append(step.row)
        return found

    @cached_property
    def origins(self) -> dict[int, Origin]:
        """The commits with which base facts came, by the number of their step, as far as the past
        is kept: see `keep` of `connect`. They are looked for when they are first asked about.
        """
        return self._origins()

    def count(self) -> int:
        """Number of derivations that the row has directly: rules with bindings, whatever is beneath
        them; for a base fact one more.
        """
        return self._count()

    def to_dict(self) -> dict[str, Any]:
        """The proof as dictionaries and lists."""
        return {
            "relation": self.relation,
            "row": list(self.row),
            "height": self.height,
            "smallest": self.smallest,
            "steps": [
                {**_plain(step), **self._since(number)} for number, step in enumerate(self.steps)
            ],
        }

    def _since(self, number: int) -> dict[str, Any]:
        if (origin := self.origins.get(number)) is None:
            return {}
        return {"since": {**origin._asdict(), "time": origin.time.isoformat(" ")}}

    def to_dot(self) -> str:
        """The proof as a graph for Graphviz."""
        from lftj.proofs.graph import drawing

        return drawing(self).to_dot()

    def to_networkx(self) -> Any:
        """The proof as a `networkx.DiGraph` of the numbers of its steps, which needs networkx."""
        from lftj.proofs.graph import drawing

        return drawing(self).to_networkx()

    def _repr_html_(self) -> str:
        from lftj.proofs.graph import to_html

        return to_html(self)

    def __len__(self) -> int:
        return len(self.steps)

    def __str__(self) -> str:
        from lftj.proofs.text import proof_text

        return proof_text(self)

    __repr__ = __str__


def assignments_of(premises: Sequence[Premise]) -> Iterator[Assignment]:
    """The assignments inside branches and groups, not those inside these."""
    for premise in premises:
        if isinstance(premise, Branch):
            yield premise.holds
        elif isinstance(premise, Group):
            yield from premise.shown


def rests_on(premises: Sequence[Premise]) -> Iterator[int]:
    """The numbers of the steps that premises rest on, at any depth, in order."""
    for premise in premises:
        if isinstance(premise, Follows):
            yield premise.step
        else:
            for each in assignments_of([premise]):
                yield from rests_on(each.premises)


def _plain(value: object) -> Any:
    """A step, a premise or a tuple of such as dictionaries and lists."""
    if isinstance(value, Step):
        made = {name: _plain(getattr(value, name)) for name in Step.__slots__}
        return {**made, "bindings": dict(value.bindings)}
    if hasattr(value, "_asdict"):
        named: dict[str, Any] = value._asdict()  # type: ignore[attr-defined]
        plain = {name: _plain(each) for name, each in named.items()}
        for name in plain.keys() & {"bindings", "domain"}:
            plain[name] = dict(named[name])
        return {"kind": type(value).__name__.lower(), **plain}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return value
