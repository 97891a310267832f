"""Random programs and histories: DuckDB beside the engine and the reference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import duckdb
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.proofs.kinds import ArithmeticFailure, Value
from lftj.proofs.program import FunctionConflict, evaluate
from lftj.syntax import tree
from tests.oracle import test_best_values as best_values
from tests.oracle import test_choice as choice
from tests.oracle import test_functors_in_cycles as strings
from tests.oracle import test_nested_aggregates as nested
from tests.oracle import test_ranges as ranges
from tests.oracle.pair import Pair, rule_of
from tests.strategies.histories import CHANGEABLE, AddRule, Change, Transact, changes, relations_of
from tests.strategies.programs import Program, programs
from tests.strategies.schemas import BASES, Row, Spec, databases
from tests.strategies.terms import Draw

_EXAMPLES = settings.default.max_examples if settings.default else 50
_HISTORIES = 5_000 if _EXAMPLES >= 1000 else max(5, _EXAMPLES // 10)
_REFUSED = (lftj.ValueRangeError, lftj.KeyViolationError)
_CONNECTION = duckdb.connect()


def _rounded(rows: Iterable[tuple[Value, ...]]) -> set[tuple[Value, ...]]:
    """Rows to be compared. Databases round sums of floats otherwise."""
    return {
        tuple(float(f"{value:.9g}") if isinstance(value, float) else value for value in row)
        for row in rows
    }


def _assert_equal(
    program: tree.ParsedProgram, facts: Mapping[str, Iterable[Row]], expected: Mapping[str, Any]
) -> None:
    """Assert that DuckDB finds these relations, or fails: it may at rows that another condition
    refuses, as the page says.
    """
    listed = {name: list(rows) for name, rows in facts.items()}
    try:
        found = lftj.sql.run(_CONNECTION, program, listed)
    except _REFUSED:
        return
    assert expected, f"the database does not see a failure of {program} over {listed}"
    for name, table in found.items():
        rows = table.to_pylist() if table.num_columns else [{}] * table.num_rows
        theirs = _rounded(tuple(row.values()) for row in rows)
        assert theirs == _rounded(expected[name]), f"{name} of {program} over {listed}"


@settings(max_examples=max(10, _EXAMPLES // 2))
@given(programs(), databases())
def test_differential_duckdb_and_the_reference(
    program: Program, database: dict[str, list[Row]]
) -> None:
    text = tree.ParsedProgram((*program.declarations, *program.rules))
    facts = {spec.name: database.get(spec.name, []) for spec in BASES}
    try:
        expected = evaluate(text, facts)
    except (ArithmeticFailure, FunctionConflict):
        expected = {}
    _assert_equal(text, facts, expected)


# ── histories ─────────────────────────────────────────────────────────────────────────────────────
class History(NamedTuple):
    """Relations, rules over them, and changes of their rows, a transaction each."""

    specs: Sequence[Spec]
    rules: Sequence[tree.Rule]
    start: Mapping[str, Sequence[Row]]
    changes: Sequence[Change]

    @property
    def program(self) -> tree.ParsedProgram:
        """The relations and the rules."""
        return tree.ParsedProgram((*(spec.declaration for spec in self.specs), *self.rules))


@st.composite
def histories(draw: Draw) -> History:
    """A program over rows in all that it reads, and changes of that."""
    program = draw(programs(max_levels=2))
    read = frozenset[str]().union(*map(relations_of, program.rules))
    bases = tuple(spec for spec in BASES if spec.name in read) or BASES[:1]
    changed = tuple(spec for spec in bases if spec in CHANGEABLE) or bases
    start = draw(databases(bases))
    later = draw(st.lists(changes(changed), min_size=1, max_size=3))
    return History((*bases, *program.specs), program.rules, start, later)


class Listed(NamedTuple):
    """Rules about some relations, of which a program has several, and changes of their rows."""

    specs: Sequence[Spec]
    rules: Sequence[str]
    changes: st.SearchStrategy[Change]


_SEVERAL = "choice((y), (x)), choice((x), (y))"  # has no SQL
_OWN = [
    choice.Choosing("tree", choice.EDGE.types, choice=(("c0",),)),
    choice.Choosing("names", choice.WORD.types, choice=(("c1",),)),
]
_CHOICE = (choice.EDGE, choice.WORD, *choice.PLAIN, *_OWN)
LISTED = {
    "choice": Listed(
        _CHOICE,
        [text for text in choice.LISTED if _SEVERAL not in text],
        choice.changes(),
    ),
    "choice in cycles": Listed(_CHOICE, choice.CYCLIC, choice.changes()),
    "min and max in cycles": Listed(
        best_values.SPECS,
        [str(rule) for rule in best_values.RULES],
        st.one_of(
            *(
                st.builds(
                    lambda verb, rows, name=spec.name: Change(verb, name, tuple(rows)),
                    st.sampled_from(["insert", "insert", "delete"]),
                    st.lists(
                        st.tuples(*[best_values.NUMBERS] * len(spec.types)), min_size=1, max_size=8
                    ),
                )
                for spec in best_values.SPECS[:3]
            )
        ),
    ),
    "strings in cycles": Listed(
        (strings.WORD, strings.LINK, *strings.VIEWS),
        strings.LISTED,
        strings.changes(),
    ),
    "ranges": Listed(
        (ranges.STAY, ranges.SHUT, *ranges.VIEWS),
        ranges.LISTED,
        ranges.changes(),
    ),
    "aggregates in aggregates": Listed(
        (Spec("e", ("int", "int")), Spec("r", ("int",)), Spec("v", ("int", "int"))),
        nested.LISTED,
        nested.changes(),
    ),
}


@st.composite
def listed_histories(draw: Draw) -> History:
    """Rules of one list, and changes."""
    specs, rules, changed = LISTED[draw(st.sampled_from(sorted(LISTED)))]
    chosen = draw(st.lists(st.sampled_from(rules), min_size=1, max_size=6, unique=True))
    kept = [rule_of(text) for text in strings.stratified(chosen)]
    return History(specs, kept, {}, draw(st.lists(changed, min_size=2, max_size=5)))


def _follow(history: History) -> None:
    """Do a history on the engine and the reference, which compare rows and change sets, and have
    DuckDB evaluate every state.
    """
    pair = Pair(history.specs)
    pair.step(Transact(tuple(map(AddRule, history.rules))))
    start = (Change("insert", name, tuple(rows)) for name, rows in history.start.items() if rows)
    for actions in (tuple(start), *((change,) for change in history.changes)):
        if actions:
            pair.step(Transact(actions))
            _assert_equal(history.program, pair.model.base, pair.model.relations)


@settings(max_examples=_HISTORIES)
@given(histories())
def test_differential_histories_by_duckdb(history: History) -> None:
    _follow(history)


@settings(max_examples=_HISTORIES)
@given(listed_histories())
def test_differential_histories_of_listed_rules_by_duckdb(history: History) -> None:
    _follow(history)


@settings(max_examples=max(3, _EXAMPLES // 10))
@given(histories())
def test_differential_all_evaluators_agree_along_a_history(history: History) -> None:
    """Rows that one of them refuses are left out: a database may fail where others do not."""
    start = {name: rows for name, rows in history.start.items() if rows}
    later = [{each.verb: {each.relation: each.rows}} for each in history.changes]
    steps = [{"insert": start}, *(each for each in later if "upsert" not in each)]
    found = lftj.compare(history.program, steps, by=("triejoin", "substitution", "sql-duckdb"))
    assert found is None or found.only.get("sql-duckdb", "no error") != "no error", str(found)
