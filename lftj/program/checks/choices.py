# SPDX-License-Identifier: Apache-2.0
"""Rule-based choice, `choice((X), (Y))`: where it may stand, and beside what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from lftj.errors import DeclarationError, LftjError, ProgramErrors
from lftj.program.cycles import CycleError
from lftj.program.hidden import of_part, source_of
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema, Stratum
from lftj.program.scope import mentioned_names
from lftj.program.stratification import Stratification
from lftj.syntax import tree
from lftj.syntax.depth import children
from lftj.types.sources import is_hidden


def choice_errors(body: tree.Body) -> list[LftjError]:
    """E167 for each choice of a rule that is nested, that is not of variables, or that is of others
    than the first. O(size of the body).
    """
    own = [literal for literal in body.literals if isinstance(literal, tree.Choice)]
    errors = [
        _error(each, *problem) for each in own if (problem := _problem(each, own[0])) is not None
    ]
    for literal in body.literals:
        if not isinstance(literal, tree.Choice):
            nested = (
                "move the condition around it into a relation of its own, and choose beside that"
            )
            errors += [
                _error(each, "stands inside another condition", nested) for each in _inside(literal)
            ]
    return errors


def refuse_choice_beside_extremes(
    strata: Iterable[Stratum], schemas: Mapping[str, RelationSchema]
) -> None:
    """Raise ProgramErrors (E153) where a stratum both chooses and takes `min` or `max`, for what
    was chosen cannot improve, or makes strings, or asks for parts of bodies, which come an
    iteration later than the rules say that a choice is made.
    """
    errors: list[LftjError] = []
    for stratum in strata:
        if not stratum.recursive or not any(schemas[name].choice for name in stratum.relations):
            continue
        names = ", ".join(f"`{name}`" for name in stratum.relations if not is_hidden(name))
        for rule in _beside_choice(stratum):
            what, verb = ("a part of a body that no variable links to the rest", "decide it")
            if not of_part(rule.relation):
                what, verb = (
                    (f"the functor `{rule.functor}`", "compute")
                    if isinstance(rule, FunctorRule)
                    else ("an aggregate", "aggregate")
                )
            hint = f"{verb} in a relation of its own, outside the cycle, and choose among its rows"
            error = CycleError(
                f"choice beside {what} in one cycle: {names}",
                code="E153",
                span=rule.span,
                hint=hint,
            )
            error.source, error.members = rule.source, frozenset(stratum.relations)
            error.relation = rule.relation
            errors.append(error)
    if errors:
        raise ProgramErrors(errors)


def refuse_choice_beside_asking(
    order: Stratification, asked: Mapping[str, str], schemas: Mapping[str, RelationSchema]
) -> None:
    """Raise ProgramErrors (E153) where a cycle chooses and asks an aggregate or a negation for
    values of its own, which come an iteration later too. O(size of the program) for each such.

    `asked`: relations without rules, each with the one whose rows it holds (`Program.asked`).
    """
    errors: list[LftjError] = []
    for name, domain in asked.items():
        choosing = [each for each in _read_by(order, domain) if schemas[each].choice]
        for each in choosing:
            if name not in _read_by(order, each):
                continue
            error = CycleError(
                f"choice beside an aggregate or a negation that is asked for values of the cycle: "
                f"`{each}`",
                code="E153",
                span=order.strata[order.place[domain]].rules[0].span,
                hint="bind the variables that it shares with the rest by an atom of a finished "
                "relation, or choose outside the cycle",
            )
            error.source = source_of(name) or 0
            errors.append(error)
            break
    if errors:
        raise ProgramErrors(errors)


def _read_by(order: Stratification, relation: str) -> set[str]:
    """The relations that one depends on."""
    found, waiting = set[str](), [relation]
    while waiting:
        stratum = order.stratum_of(waiting.pop())
        new = stratum.reads - found if stratum is not None else frozenset()
        found |= new
        waiting += new
    return found


def _beside_choice(stratum: Stratum) -> Sequence[NormalRule | FunctorRule]:
    """The rules that must not stand beside a choice: one for each of the user's that makes strings
    or has parts, or else the last that aggregates, which closed the cycle as often as not.
    """
    late = (
        rule
        for rule in reversed(stratum.rules)
        if isinstance(rule, FunctorRule) or of_part(rule.relation)
    )
    functors = {rule.source: rule for rule in late}  # of each its first
    aggregates = [
        rule for rule in stratum.rules if isinstance(rule, NormalRule) and rule.aggregates
    ]
    return [*functors.values()] or sorted(aggregates, key=lambda rule: rule.source)[-1:]


def _problem(choice: tree.Choice, first: tree.Choice) -> tuple[str, str] | None:
    """Describe the mistake in a choice of a rule's own body, with a remedy; None where it is
    right.
    """
    terms = (*choice.determining, *choice.determined)
    if not all(isinstance(term, tree.Variable) for term in terms):
        return (
            "takes variables only",
            "give the value a name beside it: z = x + 1, choice((z), (y))",
        )
    if not choice.determined or len(set(terms)) < len(terms):
        return (
            "needs other variables in its second list",
            "write choice((x), (y)): for each x one y",
        )
    if mentioned_names((*choice.determining, *choice.determined)) != mentioned_names(
        (*first.determining, *first.determined)
    ):
        hint = (
            "choices of one rule are made together, over the same variables; make the others "
            "in a rule of their own"
        )
        return "is over other variables than the rule's first choice", hint
    return None


def _error(choice: tree.Choice, problem: str, hint: str) -> LftjError:
    return DeclarationError(f"`{choice}` {problem}", code="E167", span=choice.span, hint=hint)


def _inside(node: tree.Node) -> Iterator[tree.Choice]:
    for child in children(node):
        if isinstance(child, tree.Choice):
            yield child
        yield from _inside(child)
