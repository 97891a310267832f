"""Random histories: what users do to a workspace, one transaction after another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from hypothesis import strategies as st

from lftj.syntax import tree
from tests.strategies.programs import Program, programs, rule_for
from tests.strategies.schemas import BASES, Row, Spec, databases, pick, row
from tests.strategies.terms import Draw


@dataclass(frozen=True)
class Change:
    """One call inside a transaction: `verb` is insert, delete or upsert."""

    verb: str
    relation: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class AddRule:
    """A rule is added."""

    rule: tree.Rule

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(f"AddRule({self.rule})")


@dataclass(frozen=True)
class RemoveRule:
    """The live rule number `place` (modulo their count) is removed; nothing happens if there is
    none.
    """

    place: int


Action = Change | AddRule | RemoveRule


@dataclass(frozen=True)
class Transact:
    """Actions in one transaction; `rollback`: an exception is raised at the end of it."""

    actions: tuple[Action, ...]
    rollback: bool = False


@dataclass(frozen=True)
class TakeSnapshot:
    """A reader takes a snapshot and keeps it."""


Step = Transact | TakeSnapshot


@dataclass(frozen=True)
class History:
    """A program, what its relations hold at first, and what happens then."""

    program: Program
    start: dict[str, list[Row]]
    steps: tuple[Step, ...]


CHANGEABLE = tuple(spec for spec in BASES if spec.name != "void")


@st.composite
def changes(draw: Draw, specs: tuple[Spec, ...] = CHANGEABLE) -> Change:
    """A change of up to four rows; only relations with a key are upserted."""
    spec = pick(draw, specs)
    verb = pick(
        draw,
        ["insert", "insert", "delete", "delete", "upsert"] if spec.key else ["insert", "delete"],
    )
    return Change(verb, spec.name, tuple(draw(_some_rows(spec, verb == "upsert"))))


@cache
def _some_rows(spec: Spec, by_key: bool) -> st.SearchStrategy[list[Row]]:
    """One to four rows, of different keys or not."""
    key = (lambda row: tuple(row[place] for place in spec.key or ())) if by_key else None
    return st.lists(row(spec.types), min_size=1, max_size=4, unique_by=key)


def with_removals(changes: st.SearchStrategy[Change]) -> st.SearchStrategy[Transact]:
    """One to three of these changes together, rules that go among them, now and then
    rolled back.
    """
    actions = st.lists(
        st.one_of(*[changes] * 4, st.integers(0, 9).map(RemoveRule)), min_size=1, max_size=3
    )
    return st.builds(Transact, actions.map(tuple), st.sampled_from([False] * 5 + [True]))


def read_by(program: Program) -> tuple[Spec, ...]:
    """The relations whose changes matter: base relations that rules mention, and views, which may
    have rows of their own.
    """
    named = {name for rule in program.rules for name in relations_of(rule)}
    views = tuple(view.spec for view in program.views if not view.aggregates)
    return tuple(spec for spec in CHANGEABLE if spec.name in named) * 3 + views or CHANGEABLE


def relations_of(node: object) -> set[str]:
    """The relations of all atoms below a node."""
    if isinstance(node, tuple):
        return {name for each in node for name in relations_of(each)}
    if not isinstance(node, tree.Node):
        return set()
    own = {node.relation} if isinstance(node, tree.Atom) else set()
    return own | relations_of(tuple(vars(node).values()))


@st.composite
def transactions(draw: Draw, program: Program, read: tuple[Spec, ...]) -> Transact:
    """One to three actions together, now and then rolled back."""
    open_views = [view for view in program.views if not view.aggregates]
    actions: list[Action] = []
    for _ in range(draw(st.integers(1, 3))):
        match pick(draw, ["change", "change", "change", "change", "add", "remove"]):
            case "add" if open_views:
                actions.append(AddRule(rule_for(draw, pick(draw, open_views), program.views)))
            case "remove":
                actions.append(RemoveRule(draw(st.integers(0, 20))))
            case _:
                actions.append(draw(changes(read)))
    return Transact(tuple(actions), pick(draw, [False, False, False, False, True]))


@st.composite
def histories(draw: Draw, max_steps: int = 5) -> History:
    """A program with rows, then steps."""
    program = draw(programs())
    steps = st.one_of(*[transactions(program, read_by(program))] * 5, st.just(TakeSnapshot()))
    return History(
        program, draw(databases()), tuple(draw(st.lists(steps, min_size=1, max_size=max_steps)))
    )
