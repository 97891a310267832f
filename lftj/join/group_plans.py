"""Plans whose variable order begins with a group, so that its rows lie side by side, or one of them is first."""

from __future__ import annotations

from collections.abc import Mapping

from lftj.join.order import OrderSearch
from lftj.join.plan import RulePlan
from lftj.join.planning import lay_out
from lftj.join.statistics import Statistics
from lftj.program.normal_form import NormalRule
from lftj.storage.relation import RelationVersion


def plan_behind(
    rule: NormalRule,
    group: tuple[int, ...],
    needed: tuple[int, ...],
    relations: Mapping[str, RelationVersion],
    statistics: Statistics,
    *,
    least: bool = False,
) -> RulePlan | None:
    """The plan in the cheapest order that begins with the variables of the group; None where none does. It counts all proofs.

    With `least`, as of `RulePlan`, the last of `needed` comes behind the group, and the search stops at the first proof.
    """
    about, orders = (lambda name: statistics.of(relations[name])), (lambda name: relations[name].orders())
    search = OrderSearch(rule, about, orders, frozenset(needed), counting=not least)
    choice = search.choose_behind(group, *(needed[-1:] if least else ()))
    return None if choice is None else lay_out(rule, choice, needed, relations, count=not least, least=least)


def begins_with(group: tuple[int, ...], plan: RulePlan) -> bool:
    """Whether no variable stands before these levels of a plan, so that rows of one group lie side by side."""
    before = range(max(group) + 1) if group else ()
    return bool(group) and all(plan.levels[level].variable is None or level in group for level in before)
