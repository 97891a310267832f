"""The change of a body's satisfying assignments at a commit, by delta queries or by the trace."""

from __future__ import annotations

import numpy as np

from lftj.join.context import Context
from lftj.join.evaluate import Columns
from lftj.maintain.body import Body
from lftj.maintain.delta_query import signed_assignments
from lftj.maintain.rule_work import RuleWork
from lftj.maintain.trace_state import TraceState, fitted, traced_change
from lftj.maintain.versions import Versions
from lftj.maintain.whole_parts import PartedRule


def assignments_changed(
    body: Body, trace: TraceState | None, versions: Versions, context: Context, work: RuleWork, parted: PartedRule | None = None
) -> tuple[Columns, np.ndarray, TraceState | None]:
    """The change of the needed values of a body's satisfying assignments, with signed counts, and its indices after it.

    Without those lost with parts that go, where it is `parted`; such a rule has no trace.
    """
    if parted is not None:
        pieces = parted.signed_assignments(versions, context, work)
    elif trace is None:
        pieces = signed_assignments(body.queries, versions, context, work)
    else:
        before, started = trace.bytes, context.work
        try:
            pieces, trace = traced_change(trace, versions, context, work)
        finally:  # what was given up cost so much at least
            body.trace_costs.note(versions.sizes, context.work - started, work.stabs)
        if context.trace_override is None and trace.bytes > before:
            trace = fitted(trace, context.trace_budget, context.traced() - before)
    pieces = [piece for piece in pieces if len(piece[1])]
    if not pieces:
        return [], np.empty(0, np.int64), trace
    if len(pieces) == 1:
        return *pieces[0], trace
    width = len(pieces[0][0])
    columns = [np.concatenate([columns[i] for columns, _ in pieces]) for i in range(width)]
    return columns, np.concatenate([signed for _, signed in pieces]), trace
