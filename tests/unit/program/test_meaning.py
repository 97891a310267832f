"""The normal form means what the rules mean: random programs, evaluated in both forms, derive the
same rows.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import Phase, given, reject, settings
from hypothesis import strategies as st

from lftj.errors import ProgramErrors, StratificationError
from lftj.program.program import Program
from lftj.program.scope import mentioned_names
from lftj.program.statistics_hints import NO_SIZE, Size
from lftj.syntax import tree
from tests.reference import ArithmeticFailure, FunctionConflict, evaluate
from tests.strategies.bodies import LOCAL
from tests.strategies.programs import Program as Drawn
from tests.strategies.programs import programs
from tests.strategies.schemas import Row, databases
from tests.unit.program.invariants import check_invariants
from tests.unit.program.normal_evaluator import evaluate_normal


def nested(body: tree.Body) -> tree.Body:
    """The body with `!( b(i), true )` for `!b(i)` where `i` is the negation's own: that much has to
    be said.
    """
    literals: list[tree.Literal] = []
    for literal in body.literals:
        if isinstance(literal, tree.Negation) and mentioned_names(literal) & LOCAL_NAMES:
            literal = tree.Negation(tree.Body((*literal.body.literals, tree.Truth(True))))
        literals.append(literal)
    return tree.Body(tuple(literals))


DENSE = Size(100_000, (500.0,) * 9, (200.0,) * 9)
LOCAL_NAMES = {name for names in LOCAL.values() for name in names}


def both(clauses: tuple[tree.Clause, ...], facts: dict[str, list[Row]]) -> None:
    """Derive everything in both ways and compare; also check the invariants of every
    normal rule.
    """
    clauses = tuple(
        replace(each, body=nested(each.body)) if isinstance(each, tree.Rule) else each
        for each in clauses
    )
    try:
        program, ids = Program().add(
            tree.ParsedProgram(clauses), lambda relation: DENSE if len(relation) % 3 else NO_SIZE
        )
    except ProgramErrors as problems:
        # A nested body may ask for values that only the relation being defined binds; what the
        # reference does then is not stratified here.
        if not all(isinstance(each, StratificationError) for each in problems.errors):
            raise
        reject()
    assert len(ids) == sum(isinstance(clause, tree.Rule) for clause in clauses)
    for rule in program.rules:
        check_invariants(rule, program.stratified.relations)
    try:
        expected = evaluate(clauses, facts)
    except (FunctionConflict, ArithmeticFailure):
        reject()
    found = evaluate_normal(program.stratified, facts)
    assert {name: rows for name, rows in found.items() if "#" not in name} == expected


@given(programs(), databases())
# Without shrinking: programs with data shrink slowly, and the first failure found is mostly short
# enough to read.
@settings(phases=[Phase.generate], max_examples=3 * settings().max_examples)
def test_programs_derive_what_the_reference_derives(program: Drawn, facts: dict[str, list[Row]]):
    both((*program.declarations, *program.rules), facts)


@given(programs(), databases(), st.randoms(use_true_random=False))
def test_so_they_do_with_their_bodies_shuffled(
    program: Drawn, facts: dict[str, list[Row]], random: st.DataObject
):
    shuffled = [
        tree.Rule(
            rule.heads, tree.Body(tuple(random.sample(rule.body.literals, len(rule.body.literals))))
        )
        for rule in program.rules
    ]
    both((*program.declarations, *shuffled), facts)
