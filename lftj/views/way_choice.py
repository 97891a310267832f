# SPDX-License-Identifier: Apache-2.0
"""Choice between the ways in which views without recursion follow changes: an update or an
evaluation anew, and for each join a trace or delta queries. The bounds of updates and the costs of
both ways of a join are here; the runner and the nodes ask here. `lftj.maintenance.ladder` has the
ways of recursive strata.

Work is counted in kernel steps, so the choice is the same on every machine [Elastic].
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from typing import Any, Protocol

from lftj.join.context import Context
from lftj.join.run.evaluate import Relations
from lftj.join.strategy import Exhausted, Why
from lftj.maintenance.cost.cost_model import SEEN_CHANGES, TRACED
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.trace.trace_planner import TraceChoice, choose_trace, trace_of_all
from lftj.program.normal_form import FunctorRule, NormalRule
from lftj.views.lasting_plans import outgrown
from lftj.views.ways import TRACE

_UNASKED_CHANGES = 16
"""Changed rows that a view reads, up to which nobody asks whether an update pays."""

# ── an update, or an evaluation anew ──────────────────────────────────────────────────────────────
_FOLD = 1e6  # as much as no update needs
_UPDATE_SOON_SHARE = 0.7
"""Share of a full evaluation for `update_soon_steps`."""
_CHANGED_SHARE = 0.5
"""Share of what is read that may have changed at most for an update to be tried."""


class Part(Protocol):
    """A rule of a view: `lftj.views.arms.OfRule` says what it answers."""

    rule: NormalRule | FunctorRule

    def work(self, run: Any) -> int | None: ...
    def expected(self, run: Any) -> float | None: ...
    def forgone(self, run: Any) -> None: ...


def allowed_steps(context: Context, full: int) -> int:
    """Kernel steps that an update may take of a view or a group that took `full` to evaluate."""
    tuning = context.tuning
    soon = min(tuning.update_soon_steps, int(_UPDATE_SOON_SHARE * full))
    return max(tuning.update_steps, int(min(context.fraction, _FOLD) * full), soon)


def update_bound(
    run: Any, parts: Sequence[Part], versions: Versions, context: Context
) -> int | Exhausted:
    """Kernel steps that an update of a view may take; Exhausted where none is begun: a part has no
    state, too large a share of the input has changed, or averages tell that it is too much. `run`:
    what the parts are asked about.
    """
    full, fraction = 0, context.fraction
    for part in parts:
        work = part.work(run)
        if work is None:
            return Exhausted(Why.PASS, None)
        full += work
    allowed = allowed_steps(context, full)
    reads = [name for part in parts for name in part.rule.reads]
    if versions.changed_rows(reads) <= _UNASKED_CHANGES:
        return allowed
    asked = [(each, part.rule.reads) for part in parts if (each := part.expected(run)) is not None]
    reads = [name for _, names in asked for name in names]
    # a small view's update may take more than `fraction`, which is to be found out by trying
    share = max(fraction, min(_CHANGED_SHARE, allowed / max(1, full))) if fraction else 0.0
    most = max(context.tuning.large_change, share * sum(versions[name].count for name in reads))
    if sum(each for each, _ in asked) <= allowed and versions.changed_rows(reads) <= most:
        return allowed
    for part in parts:
        part.forgone(run)
    return Exhausted(Why.FORECAST, None)


def as_family(versions: Versions, reads: Iterable[str], context: Context) -> bool:
    """Test for too few changes for views of a family to be cheaper to evaluate one by one."""
    return versions.changed_rows(reads) <= context.tuning.large_change


# ── a trace, or delta queries ─────────────────────────────────────────────────────────────────────
_FIRST_PROOF_STEPS = 1 << 19
"""Kernel steps that a search for first proofs may take however few counting is expected to take."""
_STAB = 30  # a look-up in a sensitivity index, in kernel steps
_GIVEN_UP = 2
"""Updates by one way that did not serve, less those that did, from which on the other is chosen."""
_STEPS_OF_FEW = 256
"""Kernel steps of an evaluation for each row of a small change, which should cost far less."""
_PROVEN_TRACES = 8
"""Updates that served which count against those that did not, at most."""
_USEFUL = 16
"""Kernel steps for each row that changes or is found, which no other way saves."""
_VAIN_STEPS = 1000
"""Kernel steps in vain below which another way is not worth looking for."""
_DEARER = 2
"""Times as much as by delta queries that a change may take by the trace."""


class TraceOrQueries:
    """The choice of one join, by how its relations are and by what both ways have cost it. It
    outlives versions: costs are of the data, not of one version of it. `needed`: of the variables.
    """

    def __init__(self, rule: NormalRule, needed: tuple[int, ...]):
        self._rule, self._needed = rule, needed
        self._reads = frozenset(rule.reads)
        self._sizes: Sequence[int] = ()  # of its relations when the way was chosen; (): not known
        self._seen: dict[frozenset[str], tuple[int, float]] = {}  # by which relations changed
        self._given_up = 0  # small changes for which the trace did not serve, more often than not
        self._lost = 0  # the same of delta queries
        self._patience = _GIVEN_UP  # with both, doubled each time that delta queries fail
        self._vain = 0  # kernel steps of delta queries
        self._price = 1  # evaluations that these have to take, doubled by each trace for it
        self._queries = 0.0  # kernel steps that a changed row took lately; 0: not known

    def took(
        self, work: RuleWork, steps: int, found: int | None, versions: Versions, full: int
    ) -> None:
        """Note the kernel steps of a change, and how many assignments it `found`; None where it was
        given up. `full`: steps of an evaluation.
        """
        changed, traced, dear = work.surgeries, work.strategy == TRACE.name, False
        if traced:
            steps, changed = steps + _STAB * work.stabs, versions.changed_rows(self._rule.reads)
            moved = self._reads.intersection(versions.sizes)
            rows, cost = self._seen.get(moved, (0, 0.0))
            self._seen[moved] = rows + changed, cost + steps
            dear = steps > _DEARER * max(_VAIN_STEPS, self._queries * changed) and self._queries > 0
        else:
            self._vain += max(0, steps - _USEFUL * (changed + (found or 0)))
            self._queries = max(self._queries / 2, steps / max(1, changed))
        if found is None or dear:
            self.missed(versions, full, traced=traced)
        elif traced:
            self._given_up = max(-_PROVEN_TRACES, self._given_up - 1)
        else:
            self._lost = max(0, self._lost - 1)

    def missed(self, versions: Versions, full: int, *, traced: bool) -> None:
        """Note a change for which a way did not serve: it was dear, or spared no evaluation of
        `full` steps. Many rows tell nothing of few.
        """
        few = max(_UNASKED_CHANGES, full // _STEPS_OF_FEW)
        if versions.changed_rows(self._rule.reads) <= few:
            self._given_up += traced
            self._lost += not traced

    def expected(self, versions: Versions) -> float:
        """Expected kernel steps of a change by the trace: as before, or a look-up for each row."""
        moved = self._reads.intersection(versions.sizes)
        rows, cost = self._seen.get(moved, (0, 0.0))
        each = cost / rows if rows >= SEEN_CHANGES else _STAB
        return each * versions.changed_rows(self._rule.reads)

    @property
    def doubts_traces(self) -> bool:
        """True once the trace did not serve for small changes, again and again."""
        return self._given_up >= self._patience

    def in_vain(self, full: int) -> bool:
        """Test for delta queries that searched in vain for as long as an evaluation takes. Then the
        trace of one has its chance; the next has to be worth twice as much.
        """
        if self._vain < max(_VAIN_STEPS, self._price * full):
            return False
        self._vain, self._given_up, self._price = 0, 0, 2 * self._price
        return True

    def trace_of_all(self, relations: Relations, context: Context) -> TraceChoice | None:
        """The trace to make in place of delta queries, which tells where nothing is to be found;
        None: they go on.
        """
        if TRACE.name in context.tuning.without:
            return None
        return trace_of_all(self._rule, self._needed, relations, context)

    def trace_of_search(
        self, full: int | None, relations: Relations, context: Context, *, traced: bool
    ) -> tuple[TraceChoice, int | None] | None:
        """The trace that an evaluation leaves, with the steps that its search may take, of which
        each is TRACED; None where it leaves none, for delta queries. `full`: the kernel steps of
        the evaluation before, None without one; `traced`: there is a trace.
        """
        if TRACE.name in context.tuning.without:
            return None
        sizes = [relations[name].count for name in self._rule.reads]
        vain, lost = full is not None and self.in_vain(full), self._lost >= self._patience
        if lost:
            self._lost, self._given_up, self._patience = 0, 0, 2 * self._patience
        anew = full is None or traced or vain or lost
        if not anew and not outgrown(self._sizes or sizes, sizes):
            return None
        self._sizes = sizes
        asked = self._rule, self._needed, relations, context
        trace = choose_trace(*asked, first_proofs=vain or lost)
        if trace is None and vain:
            trace = trace_of_all(*asked)
        forced = context.forced.trace is not None
        spent = inf if full is None else self._given_up * TRACED * full
        if not (trace and (forced or spent < trace.counting or not self.doubts_traces)):
            return None
        # a search for first proofs is not short where it takes more than counting all of them
        return trace, max(_FIRST_PROOF_STEPS, int(2 * trace.counting)) if trace.counting else None
