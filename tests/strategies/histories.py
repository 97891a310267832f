"""Random histories: what users do to a workspace, one step after another."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from lftj.syntax import tree
from tests.strategies.programs import Program, programs, rule_for
from tests.strategies.schemas import BASES, Row, Spec, databases, values
from tests.strategies.terms import Draw


@dataclass(frozen=True)
class Change:
    """One call inside a transaction: `verb` is insert, delete or upsert."""

    verb: str
    relation: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Transact:
    """Changes in one transaction; `rollback`: an exception is raised at the end of it."""

    changes: tuple[Change, ...]
    rollback: bool = False


@dataclass(frozen=True)
class AddRule:
    """A rule is added."""

    rule: tree.Rule


@dataclass(frozen=True)
class RemoveRule:
    """The live rule number `place` (modulo their count) is removed."""

    place: int


@dataclass(frozen=True)
class TakeSnapshot:
    """A reader takes a snapshot and keeps it."""


Step = Transact | AddRule | RemoveRule | TakeSnapshot


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
    spec = draw(st.sampled_from(specs))
    verb = draw(st.sampled_from(["insert", "insert", "delete", "delete", "upsert"] if spec.key else ["insert", "delete"]))
    rows = st.tuples(*map(values, spec.types))
    key = (lambda row: tuple(row[place] for place in spec.key or ())) if verb == "upsert" else None
    return Change(verb, spec.name, tuple(draw(st.lists(rows, min_size=1, max_size=4, unique_by=key))))


def transactions(read: tuple[Spec, ...] = CHANGEABLE) -> st.SearchStrategy[Transact]:
    """One to three changes together, now and then rolled back."""
    return st.builds(
        Transact, st.lists(changes(read), min_size=1, max_size=3).map(tuple), st.sampled_from([False, False, False, False, True])
    )


def read_by(program: Program) -> tuple[Spec, ...]:
    """The base relations that the program's rules mention, so that steps matter; all of them if there are none."""
    named = {name for rule in program.rules for name in _relations(rule)}
    return tuple(spec for spec in CHANGEABLE if spec.name in named) or CHANGEABLE


def _relations(node: object) -> set[str]:
    if isinstance(node, tuple):
        return {name for each in node for name in _relations(each)}
    if not isinstance(node, tree.Node):
        return set()
    own = {node.relation} if isinstance(node, tree.Atom) else set()
    return own | _relations(tuple(vars(node).values()))


@st.composite
def histories(draw: Draw, max_steps: int = 6) -> History:
    """A program with rows, then steps."""
    program = draw(programs())
    read = read_by(program)
    open_views = [view for view in program.views if not view.aggregate]
    steps: list[Step] = []
    for _ in range(draw(st.integers(1, max_steps))):
        match draw(st.sampled_from(["change", "change", "change", "change", "add", "remove", "snapshot"])):
            case "add" if open_views:
                steps.append(AddRule(rule_for(draw, draw(st.sampled_from(open_views)), program.views)))
            case "remove":
                steps.append(RemoveRule(draw(st.integers(0, 20))))
            case "snapshot":
                steps.append(TakeSnapshot())
            case _:
                steps.append(draw(transactions(read)))
    return History(program, draw(databases()), tuple(steps))
