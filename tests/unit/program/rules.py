"""Programs about a few relations, and what becomes of them, for the tests of this package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lftj.errors import LftjError, ProgramErrors
from lftj.program.checked import CheckedProgram, CheckedRule
from lftj.program.checks.program_checks import check, check_rule
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema
from lftj.program.program import Program
from lftj.program.schema import Catalog
from lftj.program.strata import strata_of
from lftj.program.stratification import Stratification, StratifiedProgram
from lftj.syntax import tree
from lftj.syntax.parser import parse
from tests.unit.program.invariants import check_invariants
from tests.unit.program.listing import list_rule

DECLARATIONS = """
.decl a(x: int, y: int)
.decl b(x: int)
.decl e(x: int, y: int)
.decl s(n: int, t: str)
.decl w(x: int, v: float)
.decl m(d: date, t: timestamp, c: decimal(10,2), f: bool)
.decl F[x: int]: float
.decl h()
.decl h1(x: int)
.decl h2(x: int, y: int)
.decl hf(x: int, v: float)
.decl hs(t: str)
.decl n(x: int, y: int?)
.decl hn(x: int, s: int?)
"""


def parsed(text: str) -> tree.ParsedProgram:
    """`text` with the declarations before it, on other lines than those of `text`."""
    return parse(DECLARATIONS + text)


def program(text: str) -> Program:
    """The program with the rules in `text`; every normal rule satisfies the invariants."""
    made, _ = Program().add(parsed(text))
    for rule in made.rules:
        check_invariants(rule, made.stratified.relations)
    return made


def normal(text: str) -> list[str]:
    """The normal rules that `text` becomes, as text."""
    return [list_rule(rule) for rule in program(text).rules]


def lines(text: str) -> list[str]:
    """The lines of a listing without their indentation."""
    return [line.strip() for line in text.strip().splitlines()]


def checked(text: str) -> CheckedProgram:
    """The program after the checks."""
    return check(parsed(text), Catalog())


def rule(text: str) -> tree.Rule:
    """The one rule in `text`, unchecked."""
    (found,) = parse(text).clauses
    assert isinstance(found, tree.Rule)
    return found


def checked_rule(text: str) -> CheckedRule:
    """The one rule in `text`, checked."""
    found, problems = check_rule(rule(text), checked("").catalog)
    assert not problems
    assert found is not None
    return found


def problems(text: str) -> list[LftjError]:
    """The errors of a program, in order; none if it is fine."""
    try:
        Program().add(parsed(text))
    except ProgramErrors as errors:
        return errors.errors
    return []


def codes(text: str) -> list[str]:
    """The codes of a program's errors."""
    return [each.code for each in problems(text)]


def stratify(
    relations: Mapping[str, RelationSchema], rules: Sequence[NormalRule | FunctorRule]
) -> StratifiedProgram:
    """All strata anew, as if these were the first rules."""
    choosing = [name for name, schema in relations.items() if schema.choice]
    return StratifiedProgram(dict(relations), Stratification.of(strata_of(rules, choosing)))
