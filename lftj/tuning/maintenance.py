# SPDX-License-Identifier: Apache-2.0
"""Thresholds of following changes: rules, counts and deletions."""

from __future__ import annotations

from lftj.scantree.frozen import frozen


@frozen(guarded=True, kw_only=True, eq=False)
class RuleTuning:
    """Thresholds of rules that are not recursive. Steps are kernel steps, some five nanoseconds
    each.
    """

    # ── rules without recursion ───────────────────────────────────────────────────────────────────
    # Watched by `edit1_median`, `edit1000`, `bulk_ratio` and `flights_speedup` of `bench
    # maintenance`.
    update_steps: int = 20_000
    """Steps that an update may take in any case: less than a millisecond."""
    update_soon_steps: int = 60_000
    """Steps that it may take while they are less than seven tenths of a full evaluation, which also
    has to sort and compare all rows.
    """
    large_change: int = 1000
    """Changed rows below which no share of a relation is too large: only what such changes cost
    before tells.
    """
    extremes_rows: int = 1 << 15
    """Rows up to which the key order that keeps a minimum or maximum, or the order of the rows
    behind those of other heads, is made at once; of more it waits until one of these is deleted.
    """


@frozen(guarded=True, kw_only=True, eq=False)
class CountingTuning:
    """Thresholds of closures, counted strata, compiled iterations and deletions without counts.
    Costs are kernel steps of the cost model.
    """

    # ── searches of closures ──────────────────────────────────────────────────────────────────────
    # Watched by `regret_p95` and `empty_change` of `bench deletions`.
    searched_least: int = 200_000
    """Steps that following a closure by searches may take in any case: a millisecond."""

    # ── counts ────────────────────────────────────────────────────────────────────────────────────
    # Watched by `elastic_worst` and `rmat1k_edit_ms` of `bench recursion`.
    elastic_steps: int = 2_000_000
    """Cost that an update of a stratum may have in any case: some ten milliseconds."""
    elastic_forecast: int = 1
    """Times what it is allowed that following a change may be expected to cost."""

    # ── iterations of few rows ────────────────────────────────────────────────────────────────────
    # Watched by `chain_us_per_round` and `shortest_edit` of `bench recursion`.
    chain_rows: int = 64
    """Fresh rows up to which an iteration counts as one of a long chain."""
    chain_iterations: int = 256
    """Number of such iterations in a row after which a stratum is evaluated as an update."""
    chain_rest: int = 2
    """Times the cost of all else that they have to have cost."""
    compiled_patience: int = 32
    """Iterations of few rows before a compiled run is tried, as loading its code takes a while."""

    # ── deletions without counts ──────────────────────────────────────────────────────────────────
    # Watched by `elastic_worst`, `galen_edit_ratio` and `add_rule_ms` of `bench recursion`.
    rows_steps: int = 20_000_000
    """Cost that a change may have where nobody knows what an evaluation takes: a tenth of a
    second.
    """
    rows_least: int = 500_000
    """Cost that a change may have even where an evaluation takes less: some milliseconds."""
    rows_begun: int = 125_000
    """The same where there were no rows, so that an evaluation finds nothing else."""
    rows_worth: float = 0.5
    """Share of an evaluation that a search may cost: as much is lost where it is given up."""
    rows_tried: float = 0.125
    """Share of an evaluation that a deletion may cost where no ranks are known, or where it is few
    rows that are a large share of what is read.
    """
