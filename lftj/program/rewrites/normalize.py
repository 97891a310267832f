"""From checked rules to the normal form: what the language adds to conjunctions is taken out, one
construct at a time.

| construct              | becomes                                                                                                     |
|------------------------|-------------------------------------------------------------------------------------------------------------|
| several heads          | one rule each                                                                                               |
| disjunction            | one rule for each combination of branches; under an aggregate, a hidden relation with a rule for each branch |
| `!( … )`               | a hidden relation over the variables it shares with the body around it, negated; one that says that a value is |
|                        | the least or the greatest, the hidden aggregate that has that value, joined (`extreme_negation`); one test,  |
|                        | of what strings give as well, its opposite                                                                   |
| `n = count : { … }`    | a hidden aggregate over these variables, joined; for count and sum a second branch for the empty group        |
| an aggregate of a join | where that is a tree with many assignments, hidden aggregates of its branches, joined (`eager_aggregation`)     |
| parts of a body        | that no variable links, where they multiply each other, a hidden relation each (`independent_parts`)          |
| `choice((X), (Y))`     | a hidden relation of X and Y with the choice domain X, joined                                                |
| `cat(s, t)`, `match` … | a hidden relation of the arguments that occur, extended row by row                                           |

A disjunction under the `min` or `max` of a head that the body reads becomes several rules all the
same: a hidden relation would stand in a cycle with the head, and of several rules the best counts.
Where the inner body does not bind a shared variable itself, it gets those atoms and equations of
the body around it that do.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from lftj.program.checked import (
    CheckedAtom,
    CheckedDisjunction,
    CheckedHead,
    CheckedHeadAggregate,
    CheckedRule,
)
from lftj.program.conjunct import HeadTerm
from lftj.program.hidden import HiddenRelations
from lftj.program.monotone import FUNCTIONS
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema
from lftj.program.rewrites.choices import chosen_body
from lftj.program.rewrites.constructs import Lowering
from lftj.program.statistics_hints import NOTHING, Known


@dataclass(frozen=True, slots=True)
class NormalizedRule:
    """What one rule of the user became: rules for its heads and for hidden relations, and the
    latter's schemas.
    """

    rules: tuple[NormalRule | FunctorRule, ...]
    hidden: tuple[RelationSchema, ...]


def normalize(
    rule: CheckedRule,
    source: int,
    known: Known = NOTHING,
    cycle: Collection[str] = (),
    taken: Collection[str] = (),
) -> NormalizedRule:
    """The normal form of one rule; `source` is its id, which names hidden relations. `known`: what
    is known of the relations. `cycle`: relations that are known to depend on the rule, which hidden
    ones read only if they must. `taken`: names that no hidden one may have. Raises DeclarationError
    (E166).
    """
    choosing = [head.relation for head in rule.heads if known.chooses(head.relation)]
    hidden = HiddenRelations(source, rule.rule.span, known, (*cycle, *choosing), taken)
    made: list[NormalRule | FunctorRule] = []
    body = chosen_body(rule, hidden)
    for head in rule.heads:
        if body is None:
            break
        lowering = Lowering(rule, hidden, known, cycle)
        for conjunct in lowering.lower(
            (*body, *head.literals), single=head.aggregates and not _keeps_best(head, rule)
        ):
            args: tuple[HeadTerm, ...] = head.args
            if not _may_stand_in_cycle(head):
                conjunct, args = lowering.drawn_in(conjunct, args)
            made.append(hidden.rule(conjunct, head.relation, args, lowering.variables))
    return NormalizedRule((*hidden.rules, *dict.fromkeys(made)), tuple(hidden.schemas))


def _may_stand_in_cycle(head: CheckedHead) -> bool:
    """Whether rules that come later may make a cycle through the head though it aggregates."""
    return any(
        isinstance(arg, CheckedHeadAggregate) and arg.function in FUNCTIONS for arg in head.args
    )


def _keeps_best(head: CheckedHead, rule: CheckedRule) -> bool:
    """Does the head take one `min` or `max`, and does the body read its relation?"""
    functions = [arg.function for arg in head.args if isinstance(arg, CheckedHeadAggregate)]
    waiting = list(rule.body.literals)
    while waiting and len(functions) == 1 and functions[0] in FUNCTIONS:
        match waiting.pop():
            case CheckedAtom(relation=head.relation):
                return True
            case CheckedDisjunction(branches=branches):
                waiting += [literal for branch in branches for literal in branch.literals]
    return False
