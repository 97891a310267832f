# SPDX-License-Identifier: Apache-2.0
"""Measurement of a plan, level by level: `analyze` of `ws.explain_plan`.

A level's bindings are counted by a search that ends with it. So a plan of n levels is searched n
times, from its first level alone to all of them, and what the search takes more than the one before
is the level's own. Kernels count nothing for this, and commits pay nothing. These searches take
level by level what an evaluation may do at once for the last ones; it comes last, and takes less.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from lftj.join import Context
from lftj.join.kernels import layout_kernels as at
from lftj.join.plan import RulePlan
from lftj.join.run import Assembly, Run
from lftj.maintenance.inputs import moment
from lftj.storage import RelationVersion


class Measured(NamedTuple):
    """One search down to some level: the bindings that it found, None where arithmetic has no value
    for some that a later level rejects; its seeks (kernel steps), and its seconds, of which those
    of compilation are no part.
    """

    bindings: int | None
    seeks: int
    seconds: float
    compile_seconds: float

    def beyond(self, before: Measured) -> Measured:
        """The same bindings, with what it took more than the search before it."""
        return Measured(
            self.bindings,
            max(0, self.seeks - before.seeks),
            max(0.0, self.seconds - before.seconds),
            self.compile_seconds,
        )


class MeasuredPlan(NamedTuple):
    """The measurements of a plan's levels, and of a whole evaluation."""

    levels: list[Measured]
    whole: Measured


_BEFORE = Measured(1, 0, 0.0, 0.0)
_NONE = Measured(0, 0, 0.0, 0.0)


def measured(
    plan: RulePlan, relations: Mapping[str, RelationVersion], context: Context
) -> MeasuredPlan:
    """The cost of a plan over these relations. Key orders that are missing are made for it and not
    kept. Costs about one evaluation for each level. Raises LimitError.
    """
    own = {name: relations[name] for name, _ in plan.key_orders()}
    own = {name: each.renamed(each.schema) for name, each in own.items()}
    counting = replace(plan, emit_level=0, outputs=(), count=True, least=False)
    assembly = Assembly(counting, own, context.resources.dictionary)
    if assembly.empty:
        return MeasuredPlan([_NONE for _ in plan.levels], _NONE)
    words = assembly.words
    levels = list(_levels(assembly, context))
    assembly.words = words
    return MeasuredPlan(levels, _search(assembly, context))


def _levels(assembly: Assembly, context: Context) -> Iterator[Measured]:
    words, before = assembly.words.copy(), _BEFORE
    words[at.TAIL] = words[at.MERGED] = -1
    for level in range(len(assembly.plan.levels)):
        words[at.LEVELS] = level + 1
        assembly.words = words
        found = _search(assembly, context)
        yield found.beyond(before)
        before = found


def _search(assembly: Assembly, context: Context) -> Measured:
    started, found = moment(), 0
    run = Run(assembly, context)
    while run.status != at.DONE:
        context.budget.spend(run.go())
        if run.status == at.FAILED:
            break
        if run.complete_rows:
            found += int(run.rows()[-1].sum())
            run.make_room()
    failed = run.status == at.FAILED
    if not failed:
        run.close()
    now = moment()
    compiled = now.compiled - started.compiled
    seconds = now.time - started.time - compiled
    return Measured(None if failed else found, run.steps, seconds, compiled)
