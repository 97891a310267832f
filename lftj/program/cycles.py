# SPDX-License-Identifier: Apache-2.0
"""Messages for cycles that no fixpoint can satisfy, told in the users' relations."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from lftj.errors import StratificationError
from lftj.functions import FUNCTIONS
from lftj.program.hidden import GROUPED, explain_hidden, is_functor, kind_of, only_input
from lftj.program.monotone import Misuse
from lftj.program.normal_form import FunctorRule, NormalRule
from lftj.scantree.frozen import frozen
from lftj.types.sources import is_hidden


@frozen(slots=True)
class Edge:
    """The rule reads `relation` in a way (`negation`, `aggregate` or `functor`) that needs all of
    it first.
    """

    rule: NormalRule | FunctorRule
    relation: str
    kind: str


class CycleError(StratificationError):
    """A StratificationError that knows the rules at fault: `source` is the id of one, `sources` are
    all, `relation` is what a rule in normal form derives, `members` are the relations that depend
    on one another.
    """

    source: int = 0
    sources: tuple[int, ...] = ()
    relation: str = ""
    members: frozenset[str] = frozenset()


_CODES = {"negation": "E150", "aggregate": "E151", "functor": "E152"}
_HINTS = {
    "negation": "let the negated relation not depend on the relation being defined: split it into "
    "one that is finished before",
    "nested": "what stands inside must not depend on the relation being defined: read finished "
    "relations only",
    "aggregate": "aggregate in a relation that the cycle does not read, after the recursion is "
    "finished; only one min or max in each head may stand in a cycle, or one sum, count or "
    "aggregate of your own where all relations of the cycle add up, without negation inside",
    "computed": "in a cycle an aggregate is a whole argument of its head: compute inside it, "
    "min(d + 1) for min(d) + 1, or in a rule that the cycle does not read",
    "called": "in a cycle an aggregate of your own computes what it adds: give it the function as "
    "its `lift`, and write total(n, m) for sum(f(n, m))",
    "functor": "what makes strings, and `range`, cannot stand in a cycle with `min` or `max`: "
    "compute it before or after the cycle",
}


def cycle_errors(
    edges: Sequence[Edge], reads: Mapping[str, Iterable[str]], members: set[str]
) -> list[CycleError]:
    """One error for each user's rule that has such an edge, with a shortest cycle through it."""
    found: dict[int, CycleError] = {}
    for edge in edges:
        if edge.rule.source not in found:
            found[edge.rule.source] = error = _error(
                edge, path_between(edge.relation, edge.rule.relation, reads, members), members
            )
            error.members = frozenset(members)
    return list(found.values())


def misuse_error(
    misuse: Misuse, reads: Mapping[str, Iterable[str]], members: set[str]
) -> CycleError:
    """The error for a value that has to be finished before it is used so, with a shortest cycle
    from its relation to itself.
    """
    rule, relation = misuse.rule, misuse.relation
    path = path_between(relation, rule.relation, reads, members)
    value = (
        f"`{misuse.name}`, a value of `{relation}`," if misuse.name else f"a value of `{relation}`"
    )
    message = (
        f"{value} stands in {misuse.use}, before the cycle has found it: "
        f"{shown_cycle([rule.relation, *path], '')}"
    )
    error = CycleError(message, code=_CODES["aggregate"], span=rule.span, hint=misuse.remedy)
    error.source, error.relation = rule.source, rule.relation
    return error


def _error(edge: Edge, path: list[str], members: set[str]) -> CycleError:
    """`path` leads from the relation that is read back to the one that the rule defines, along what
    each reads.
    """
    cycle = shown_cycle([edge.rule.relation, *path], edge.kind)
    what = {"negation": "negation", "aggregate": "an aggregate", "functor": _functor(edge.rule)}[
        edge.kind
    ]
    nested = edge.kind != "functor" and (is_hidden(edge.relation) or is_hidden(edge.rule.relation))
    computed = kind_of(edge.rule.relation) == GROUPED
    called = edge.kind == "aggregate" and any(
        name in members and is_functor(name) for name in edge.rule.reads
    )
    hint = _HINTS[
        "computed" if computed else "nested" if nested else "called" if called else edge.kind
    ]
    error = CycleError(
        f"{what} inside a cycle of rules: {cycle}",
        code=_CODES[edge.kind],
        span=edge.rule.span,
        hint=hint,
    )
    error.source, error.relation = edge.rule.source, edge.rule.relation
    return error


def _functor(rule: NormalRule | FunctorRule) -> str:
    if not isinstance(rule, FunctorRule):
        return "a functor"
    written = {
        functor.name: each.name
        for each in FUNCTIONS.values()
        for functor in each.functors
        if each.alike is not None
    }  # `cat` is written as such, too
    return (
        f"`{written[rule.functor]}` of strings"
        if rule.functor in written
        else f"the functor `{rule.functor}`"
    )


def shown_cycle(names: Sequence[str], kind: str) -> str:
    """`p ← !q ← p`: each relation is derived from the next. Hidden relations are named by what they
    stand for.
    """
    parts: list[str] = []
    names = [name for name in names if not only_input(name)]
    for place, name in enumerate(names):
        shown = explain_hidden(name) if is_hidden(name) else f"`{name}`"
        if place == 1 and kind == "negation" and not is_hidden(name):
            shown = f"not {shown}"
        if not is_hidden(name) or not parts or parts[-1] != shown:
            parts.append(shown)
    if is_hidden(names[0]):  # begin with a relation that the user knows
        start = next((place for place, name in enumerate(names) if not is_hidden(name)), 0)
        return shown_cycle([*names[start:-1], *names[: start + 1]], "")
    return " ← ".join(parts)


def path_between(
    start: str, end: str, reads: Mapping[str, Iterable[str]], members: set[str]
) -> list[str]:
    """A shortest way from `start` to `end`, both included, inside the component."""
    before: dict[str, str | None] = {start: None}
    waiting = deque([start])
    while waiting and end not in before:
        node = waiting.popleft()
        for target in reads[node]:
            if target in members and target not in before:
                before[target] = node
                waiting.append(target)
    path = [end]
    while (previous := before[path[-1]]) is not None:
        path.append(previous)
    return path[::-1]
