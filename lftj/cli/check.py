# SPDX-License-Identifier: Apache-2.0
"""`lftj check`: the errors of a program, or how it would be evaluated. Nothing is evaluated and no
facts are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from lftj.cli.directives import check_directives, directives_of, ignored_parameters
from lftj.cli.run import read_program
from lftj.program.doubts import Doubt, doubts
from lftj.program.normal_form import FunctorRule, NormalRule, Stratum
from lftj.program.stratification import StratifiedProgram
from lftj.syntax import tree
from lftj.tuning import DEFAULT
from lftj.views.bounded_rules import pairs_compared

if TYPE_CHECKING:
    from lftj.explain.plans.plan_report import PlanReport
    from lftj.join.plan.cardinality import Statistics
    from lftj.storage.relation import RelationVersion

# Strata as text, for `lftj check`.


def describe_strata(program: StratifiedProgram) -> str:
    """One line per stratum: its relations, its number of rules, and whether it is recursive."""
    lines = [
        f"{number:>4}  {stratum_line(stratum)}" for number, stratum in enumerate(program.strata, 1)
    ]
    return "\n".join(lines) if lines else "no rules"


def stratum_line(stratum: Stratum) -> str:
    """`reach: 2 rules, recursive`; hidden relations by their names too, since plans
    mention them.
    """
    count = len(stratum.rules)
    kind = ", recursive" if stratum.recursive else ""
    return f"{', '.join(stratum.relations)}: {count} rule{'s' if count != 1 else ''}{kind}"


_NOMINAL_ROWS, _NOMINAL_DISTINCT = 10_000, 1_000.0


def check(program: str, *, allow_paths: bool = False, passes: bool = False) -> None:
    """Print strata and plans of a program, with `passes` also its rewrites. Raises ProgramErrors
    with every error found.
    """
    text, name = read_program(program, allow_paths=allow_paths)
    print(report(text, name, passes=passes))


def report(text: str, name: str | None = None, *, passes: bool = False) -> str:
    """The strata in the order of their evaluation, then the plan of each rule for relations of
    unknown size; with `passes` each rule after each rewrite that changed it.
    """
    from lftj.engine.live.engine import Engine
    from lftj.engine.programs.handles import RuleHandle
    from lftj.explain.plans.plan_report import plan_report
    from lftj.program.program import Program
    from lftj.storage.relation import RelationVersion
    from lftj.syntax.parser import parse

    parsed = parse(text, name)
    program, sources = Program().add(parsed)
    check_directives(directives_of(parsed))
    engine = Engine(writer_timeout=0, progress=None)
    schemas = program.stratified.relations
    empty = {
        schema.name: RelationVersion.empty(schema, engine.arena) for schema in schemas.values()
    }
    state = replace(engine.state, program=program, database=engine.state.database.replace(empty))
    relations = sum(not schema.hidden for schema in schemas.values())
    handles = [RuleHandle(source, program.rule(source)) for source in sources]
    plans = [
        _plan(plan_report(engine, state, handle, _unknown_sizes(), passes)) for handle in handles
    ]
    counted = f"{_count(relations, 'relation')}, {_count(len(sources), 'rule')}, no errors"
    rules = [clause for clause in parsed.clauses if isinstance(clause, tree.Rule)]
    warnings = list(map(str, doubts(rules, rules, program.catalog.relations)))
    warnings += dict.fromkeys(
        str(doubt)
        for source in sources
        for doubt in _compared(program.rule(source), program.sources[source].normal.rules)
    )
    warnings += [f"warning: {each}" for each in ignored_parameters(directives_of(parsed))]
    if warnings:
        counted += f", {_count(len(warnings), 'warning')}"
    strata = "strata\n" + describe_strata(program.stratified)
    return "\n\n".join([counted, *warnings, strata, *plans])


def _compared(rule: tree.Rule, rules: Iterable[NormalRule | FunctorRule]) -> Iterator[Doubt]:
    """The warnings of a rule that compares all pairs of rows up to a bound, by what it became."""
    for each in rules:
        if isinstance(each, NormalRule) and each.aggregates:
            found = pairs_compared(each, DEFAULT)
            if found is not None:
                message = "each row is compared with all rows on one side of its bound: "
                yield Doubt(rule, message + found[0], found[1])


def _unknown_sizes() -> Statistics:
    """Every relation alike, so that only the shape of a rule decides."""
    from lftj.join.plan.cardinality import RelationStatistics, Statistics

    class Unknown(Statistics):
        def of(self, relation: RelationVersion) -> RelationStatistics:
            return RelationStatistics(_NOMINAL_ROWS, (_NOMINAL_DISTINCT,) * relation.schema.arity)

    return Unknown()


def _plan(report: PlanReport) -> str:
    return "\n".join([report.rule, *report.pass_lines(), *_lines(report)])


def _lines(report: PlanReport) -> Iterator[str]:
    """Per conjunctive rule its variables in order, and the relations that it reads with the order
    of their columns.
    """
    for plan in report.plans:
        yield f"  {plan.rule.relation}: {', '.join(plan.variable_order) or 'no variables'}"
        for relation, order in dict.fromkeys(plan.key_orders()):
            yield f"    reads {report.key_order(relation, order)}"
    for rule in report.functors:
        yield f"  {rule.relation}: {rule.functor} of each row of {rule.domain}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
