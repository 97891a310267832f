# SPDX-License-Identifier: Apache-2.0
"""All checks of a program, in one pass over its clauses; every problem is reported, and together.

Declarations come first, wherever they stand. Each rule is then renamed apart (`scope`), typed
(`inference`, `elaborate`) and checked for unbound variables (`safety`). Only what is new is looked
at: what the catalog holds already has been checked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from lftj.errors import (
    LftjError,
    ParseError,
    ProgramErrors,
    Span,
    UnsafeRuleError,
)
from lftj.program.checked import CheckedProgram, CheckedRule
from lftj.program.checks.branch_types import typed_by_branches
from lftj.program.checks.by_column import by_position
from lftj.program.checks.choices import choice_errors
from lftj.program.checks.computed_heads import check_in_two
from lftj.program.checks.declarations import declare_all
from lftj.program.checks.derivations import derive, named
from lftj.program.checks.elaborate import Elaborator
from lftj.program.checks.facts import FactReader, is_fact
from lftj.program.checks.inference import Inference
from lftj.program.checks.inlining import inlining_errors
from lftj.program.checks.nulls import with_null_tests
from lftj.program.checks.own_variables import with_own_variables
from lftj.program.checks.safety import unsafe_variables
from lftj.program.checks.subtypes import subtype_errors
from lftj.program.checks.witnesses import with_witnesses_bound
from lftj.program.normal_form import RuleVariable
from lftj.program.schema import Catalog
from lftj.program.scope import (
    mentioned_names,
    rename_apart,
    user_name,
)
from lftj.syntax import tree
from lftj.syntax.attention import look
from lftj.syntax.called import with_calls
from lftj.syntax.groups import computes_of_groups


def check(program: tree.ParsedProgram, catalog: Catalog) -> CheckedProgram:
    """The program with all names, types and bindings resolved, against what `catalog` knows. Raises
    ProgramErrors with all problems.
    """
    catalog, errors = declare_all(program.clauses, catalog)
    reader = FactReader(catalog)
    rules: list[CheckedRule | None] = []
    directives = tuple(clause for clause in program.clauses if isinstance(clause, tree.Directive))
    for directive in directives:
        errors += _directive_problems(directive, catalog)
    errors += inlining_errors(program.clauses)
    for clause in program.clauses:
        if isinstance(clause, tree.Rule):
            errors += _read_clause(clause, catalog, reader, rules)
    made = [rule for rule in rules if rule is not None]
    before = catalog
    catalog, problems = derive(catalog, [rule.rule for rule in made], reader.places)
    errors += problems
    for place, rule in enumerate(made):
        heads = [] if any(head.aggregates for head in rule.heads) else rule.rule.heads
        if catalog.adds_up(heads) and not before.adds_up(heads):  # its assignments count
            checked, problems = check_rule(rule.rule, catalog)
            errors += problems
            made[place] = checked or rule
    if errors:
        raise ProgramErrors(_each_once(sorted(errors, key=_place)))
    assert len(made) == len(rules), "a rule was dropped without an error"
    return CheckedProgram(catalog, tuple(made), reader.rows, directives)


def _each_once(errors: list[LftjError]) -> list[LftjError]:
    """The errors, of which a condition that stands in several branches of a rule, as those of a
    left join do, has one. There its variables may have a number.
    """
    found: dict[object, LftjError] = {}
    for error in errors:
        said = _NUMBERED.sub("`", error.message)
        found.setdefault(id(error) if error.span is None else (error.span, error.code, said), error)
    return list(found.values())


_NUMBERED = re.compile(r"_\d+`")
"""The end of the name of a variable that is one of its branch."""


def _read_clause(
    clause: tree.Rule, catalog: Catalog, reader: FactReader, rules: list[CheckedRule | None]
) -> list[LftjError]:
    """Add a fact to the reader or a rule to `rules` (None if there are problems); gives the
    problems.
    """
    try:
        if catalog.functions:
            clause = with_calls(clause, catalog.functions)
        clause, names = by_position(clause, catalog)
        if is_fact(clause):
            return [*names, *reader.read(clause)]
        checked, problems = check_rule(clause, catalog)
        problems = [*names, *problems]
    except RecursionError:
        hint = "move its parts into rules of their own"
        return [
            ParseError("this clause is nested too deeply", code="E102", span=clause.span, hint=hint)
        ]
    rules.append(checked)
    return problems


_RULE = 16
"""Steps of reading that checking a rule takes about."""


def check_rule(rule: tree.Rule, catalog: Catalog) -> tuple[CheckedRule | None, list[LftjError]]:
    """The checked rule, or the problems with it. O(size of the rule)."""
    look(_RULE)
    if any(map(computes_of_groups, rule.heads)):
        return check_in_two(rule, catalog, _check_one)
    return _check_one(rule, catalog)


_OF_TYPES = ("E130", "E132")


def _check_one(
    rule: tree.Rule, catalog: Catalog, known: Sequence[RuleVariable] = ()
) -> tuple[CheckedRule | None, list[LftjError]]:
    """A rule whose heads compute nothing of aggregates. Its variables come behind those that are
    `known`.
    """
    rule = with_witnesses_bound(with_own_variables(rule))
    checked, errors = _checked(rule, catalog, known)
    if any(error.code in _OF_TYPES for error in errors):
        other = typed_by_branches(rule, catalog)
        again, left = (None, errors) if other is rule else _checked(other, catalog, known)
        if not left:
            return again, left
    return checked, errors


def _checked(
    rule: tree.Rule, catalog: Catalog, known: Sequence[RuleVariable]
) -> tuple[CheckedRule | None, list[LftjError]]:
    renamed = rename_apart(rule, counting=catalog.adds_up(rule.heads))
    elaborator = Elaborator(Inference(renamed, catalog), catalog)
    elaborator.variables += known
    unsafe = unsafe_variables(renamed)
    block = elaborator.block(renamed.body)
    heads = [elaborator.head(head) for head in renamed.heads]
    errors: list[LftjError] = [*elaborator.errors, *unsafe, *choice_errors(rule.body)]
    errors = errors or subtype_errors(renamed, catalog)
    if not errors and not elaborator.complete:
        errors = [_untyped(elaborator.inference, renamed)]
    if errors:
        return None, [named(error, rule) for error in errors]
    made = tuple(head for head in heads if head is not None)
    body = replace(block, local=frozenset())
    checked = CheckedRule(rule, tuple(elaborator.variables), made, body)
    checked, errors = with_null_tests(checked, catalog)
    for error in errors:
        error.span = error.span or rule.heads[0].span or rule.span
    return checked, [named(error, rule) for error in errors]


def _untyped(inference: Inference, rule: tree.Rule) -> LftjError:
    """The error for a variable that `is_null` alone has."""
    names = mentioned_names((*rule.heads, rule.body)) - inference.types.keys()
    shown = user_name(min(names))
    hint = f"bind `{shown}` with a positive atom, or write it where its type is known"
    return UnsafeRuleError(f"nothing says which type `{shown}` has", code="E142", hint=hint)


# ── parts of check ────────────────────────────────────────────────────────────────────────────────
def _directive_problems(directive: tree.Directive, catalog: Catalog) -> list[LftjError]:
    try:
        catalog.relation(directive.relation, directive.span)
    except LftjError as error:
        return [error]
    return []


def _place(error: LftjError) -> tuple[int, int]:
    span: Span | None = error.span
    return (span.line, span.column) if span else (0, 0)
