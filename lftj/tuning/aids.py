# SPDX-License-Identifier: Apache-2.0
"""Aids: what strategies do the same work with in less time. Each can be switched off by its name,
as a strategy can; then the work is done without it.
"""

from __future__ import annotations

COLUMNAR_LOAD = "columnar load"
"""Rows for a relation without rows brought into order column by column, as pages take them."""
SEMIJOIN_REDUCTION = "semi-join reduction"
"""Reduction of a wide relation to rows that can match, before it is joined."""
INDEX_ADVISOR = "index advisor"
"""Key orders built once evaluations have lost as much for want of them."""
RUNNING_TOTALS = "running totals"
"""Groups totalled as assignments come, of which none is listed."""
KEPT_COUNTS = "kept counts"
"""Proofs counted once for all bindings before that agree where it matters."""
EXTREMES = "extremes"
"""`min` and `max` of one relation read off its key order, without a state."""
ORDER_BOUNDS = "order bounds"
"""Counts and sums up to a bound read off key orders, without comparing all pairs."""
MOVED_BOUNDS = "moved bounds"
"""Changes that a moved clock or limit makes looked for between its old value and the new one."""
FINER_HEADS = "finer heads"
"""Changes of a head taken from one over the same body that groups more finely."""
BEST_FIRST = "best first"
"""Choice of the best of many better values in cycles with `min` or `max`."""
COMPILED_ITERATIONS = "compiled iterations"
"""Iterations of few rows in one compiled loop, of counts and of best values."""

GATES = {
    COLUMNAR_LOAD: "readings loaded",
    SEMIJOIN_REDUCTION: "shipped orders",
    INDEX_ADVISOR: "followers of followers",
    RUNNING_TOTALS: "totals by device",
    KEPT_COUNTS: "cliques with ways out",
    EXTREMES: "last seen",
    ORDER_BOUNDS: "running ranks",
    MOVED_BOUNDS: "window of a clock",
    FINER_HEADS: "sales by shop",
    BEST_FIRST: "grid of roads",
    COMPILED_ITERATIONS: "recursion.chain",
}
"""The benchmark that loses most without each aid: names in `bench.ablation.GATES`."""
AIDS = tuple(GATES)
"""All aids, from the load to the fixpoint."""
