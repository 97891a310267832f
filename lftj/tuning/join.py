# SPDX-License-Identifier: Apache-2.0
"""Thresholds of planning and joining."""

from __future__ import annotations

from lftj.scantree.frozen import frozen


@frozen(guarded=True, kw_only=True, eq=False)
class JoinTuning:
    """Thresholds of samples, variable orders, runs, scans and star joins."""

    # ── samples ───────────────────────────────────────────────────────────────────────────────────
    # Watched by `bench triejoin` (skewed and even graphs) and `bench answers`.
    sampled_rows: int = 1024
    """Rows of a sample: more take longer to read, fewer mistake how often values repeat."""
    telling_rows: int = 100
    """Rows from which on a relation tells how a rule is best evaluated; fewer may be chance."""

    # ── variable orders ───────────────────────────────────────────────────────────────────────────
    # Watched by `bench triejoin`, `bench answers`, and `ms_per_extra_rule` of `bench
    # startup` for the time of planning.
    present_order: float = 1.5
    """Times the cheapest order, the key orders made for it included, that one may cost for which
    none is missing: estimates are no nearer, and what is made has to be brought forward.
    """
    narrow_columns: int = 3
    """Columns up to which key orders are made freely; wider rows take longer to sort, and memory
    for good.
    """

    # ── runs ──────────────────────────────────────────────────────────────────────────────────────
    # Watched by `bench triejoin`, and `balance64` and `threads2_triangle` of `bench
    # partition`.
    run_steps: int = 20_000_000
    """Kernel steps between two looks at limits and interrupts: about a tenth of a second."""
    shared_run_steps: int = 4_000_000
    """The same for tasks on threads, which stop together: about a fiftieth of a second."""
    run_rows: int = 1 << 15
    """Rows that a run has room for: what fits into the processor's cache against calls."""

    # ── scans and star joins ──────────────────────────────────────────────────────────────────────
    # Watched by `threads2_join` of `bench partition` and `flights_speedup` of `bench
    # maintenance`.
    block_rows: int = 1 << 16
    """Rows that scans read at a time: columns that stay in the processor's cache against calls."""
    columns_start: float = 10_000
    """Kernel steps in the time in which an evaluation by columns begins, by look-ups or with
    arithmetic: a search that takes less is done.
    """
