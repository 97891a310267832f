"""Thresholds of following changes: rules, fixpoints, counts and deletions."""

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
    """Steps that it may take while they are less than `update_soon_share` of a full evaluation,
    which also has to sort and compare all rows.
    """
    update_soon_share: float = 0.7
    """Share of a full evaluation for `update_soon_steps`."""
    unasked_changes: int = 16
    """Changed rows that a view reads, up to which nobody asks whether an update pays."""
    changed_share: float = 0.5
    """Share of what is read that may have changed at most for an update to be tried."""
    large_change: int = 1000
    """Changed rows below which no share of a relation is too large: only what such changes cost
    before tells.
    """
    seen_changes: int = 64
    """Changed rows after which their average cost forecasts the next: fewer may be chance."""
    head_steps: int = 20_000
    """Steps that following a shared head may take for a rule that joins it."""
    head_share: float = 0.5
    """Share of evaluating the body anew that it may take."""
    delta_stale: int = 8
    """Growth or shrinkage of what a delta query reads after which it is planned anew."""
    delta_stale_rows: int = 64
    """Rows up to which no growth makes a delta query stale."""
    first_proof: float = 8.0
    """Estimated proofs for each head row from which on a search for the first one, and its trace,
    pays.
    """
    first_proof_steps: int = 1 << 19
    """Kernel steps that it may take however few counting all proofs is expected to take."""
    vain_traces: int = 2
    """Updates by a trace that were given up, less those that went through, from which on a body is
    evaluated without one: of up to `unasked_changes` rows.
    """
    proven_traces: int = 8
    """Updates that went through which count against those that are given up, at most."""
    outgrown: int = 4
    """Growth of a relation after which a rule chooses anew between delta queries and a trace."""
    extremes_width: int = 3
    """Times as many columns as are read beyond which a relation is too wide for a key order that
    keeps a minimum or maximum.
    """
    extremes_rows: int = 1 << 15
    """Rows up to which that key order, or the order of the rows behind the minima and maxima of one
    relation in other heads, is made at once; of more it waits until one of these is deleted.
    """
    asked_changes: int = 10_000
    """Changed rows among which constants of rules are looked for; among more it takes longer than
    asking views in vain.
    """
    projected_rows: int = 4_000_000
    """Rows gathered before repeated ones are taken out: memory against sorting."""
    slice_rows: int = 8192
    """Rows between looks at limits and at Ctrl-C where Python makes each."""


@frozen(guarded=True, kw_only=True, eq=False)
class FixpointTuning:
    """Thresholds of semi-naive evaluation."""

    # ── semi-naïve evaluation ─────────────────────────────────────────────────────────────────────
    # Watched by `rand1k_vs_duckdb`, `cspa10k_vs_duckdb` and `galen_s` of `bench recursion`,
    # and `threads2_cspa` of `bench partition`.
    variant_stale: int = 8
    """Growth or shrinkage of a delta after which a variant is planned anew."""
    variant_stale_rows: int = 1000
    """Deltas for which no order is so bad that choosing another pays."""
    plan_steps: int = 50_000
    """Steps in the time that choosing a variable order takes: the price of rent or buy."""
    fixpoint_stale: int = 4
    """Growth or shrinkage of a relation below after which plans kept from commit to commit are
    made anew.
    """
    fixpoint_stale_rows: int = 64
    """Rows up to which no growth makes these stale."""
    dense_bits: int = 1 << 28
    """Bits of a bitmap that is cheaper than any hash table: 32 MiB."""
    dense_share: int = 64
    """Bits for each row up to which a larger bitmap is."""
    large_table: int = 256 << 20
    """Bytes beyond which a hash table grows more slowly, to leave memory to others."""
    shared_iteration: int = 2
    """Part of the steps from which on one evaluation is divided that make threads worth starting
    for an iteration.
    """
    shared_piece: int = 16
    """Pieces of an iteration in the steps from which on one evaluation is divided."""
    shared_parts: int = 4
    """Parts of one evaluation for each piece of an iteration."""

    # ── searches of closures ──────────────────────────────────────────────────────────────────────
    # Watched by `regret_p95` and `empty_change` of `bench deletions`.
    searched_least: int = 200_000
    """Steps that following a closure by searches may take in any case: a millisecond."""
    searched_steps: int = 16
    """Changed steps beyond which the graph's components are found before single searches."""

    # ── walks and affected partitions ─────────────────────────────────────────────────────────────
    # Watched by `forest_vs_duckdb`, `rmat1k_edit_ms` and `elastic_worst` of `bench
    # recursion`.
    walk_sparse: int = 8
    """Times wider than their number that a range of values is numbered anew for walks."""
    walk_rows: int = 1 << 20
    """Rows that walks have room for at first: memory against growing."""
    affected_share: float = 0.5
    """Share of the rows in affected partitions beyond which one evaluation of all is simpler."""
    affected_values: int = 1000
    """Values affected beyond which looking up their rows one by one costs too much."""
    affected_planned: int = 64
    """Values affected up to which plans of earlier commits serve, and no threads help."""
    affected_changes: int = 16
    """Changed rows that do not tell their partitions, up to which these are looked up."""
    affected_joined: int = 20_000
    """Rows that may join those changes for it."""


@frozen(guarded=True, kw_only=True, eq=False)
class CountingTuning:
    """Thresholds of counted strata, lattices, compiled iterations and deletions without counts.
    Costs are kernel steps of the cost model.
    """

    # ── counts ────────────────────────────────────────────────────────────────────────────────────
    # Watched by `elastic_worst` and `rmat1k_edit_ms` of `bench recursion`.
    elastic_steps: int = 4_000_000
    """Cost that an update of a stratum may have in any case: some twenty milliseconds."""
    elastic_running: int = 5
    """Times its share that an update may take once it runs: what it took is lost when a bootstrap
    follows.
    """
    elastic_given_up: int = 2
    """Times what it was allowed that an update given up is taken to need."""
    elastic_forecast: int = 2
    """Times its share that a forecast may say which goes by a bootstrap alone."""
    elastic_seen: int = 3
    """The same of one that goes by earlier updates."""
    elastic_forgetting: float = 0.9
    """Weight of earlier updates at each later one: stable against quick to learn."""
    usual_change: float = 0.01
    """Share of the rows that the first update is taken to move: plans and key orders are made for
    it.
    """
    given_rows: int = 1000
    """Rows given at once from which on proofs are counted from the beginning."""
    given_steps: int = 8
    """Steps for each given row up to which they are."""
    query_stale: int = 3
    """Doublings or halvings of what a query of an update reads after which it is planned anew."""
    query_stale_bits: int = 6
    """Bits of a number of rows up to which no growth does so."""
    query_bindings: float = 1000.0
    """Bindings whose trying takes less time than a plan for fewer."""
    bootstrap_rows: int = 1 << 16
    """Rows that a counting walk has room for at first."""
    late_order: int = 1
    """Times all rows that changes may be gone through while they wait for the identity order: a
    row is gone through in the time that a 256th of a page takes.
    """
    late_share: int = 16
    """Part of the rows that may wait so from one update to the next."""
    late_rows: int = 1 << 13
    """Rows that may wait so at most."""

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
    compiled_worth: int = 4
    """Times as many iterations that a run has to do to be worth it; else twice as many come
    first.
    """
    compiled_rows: int = 64
    """Rows due in an iteration up to which compiled code does it."""
    compiled_offers: int = 128
    """Offers of an iteration of a lattice up to which compiled code does it."""
    compiled_questions: int = 8
    """Questions planned up to which each is planned when it is asked: a plan may make key
    orders.
    """
    compiled_iterations: int = 1 << 16
    """Iterations of a compiled run between two looks at limits."""
    compiled_steps: int = 100_000
    """Steps of one question in a compiled iteration."""

    # ── lattices ──────────────────────────────────────────────────────────────────────────────────
    # Watched by `shortest_edit` of `bench recursion`.
    offered_rows: int = 1 << 20
    """Offers from which on those that say the same, or less, are left out as they come: memory
    against sorting.
    """
    taken_offers: int = 256
    """Offers that an iteration takes, the best first: fewer are improved later, more iterations are
    run.
    """
    taken_share: int = 16
    """Part of the offers that an iteration takes, where that is more."""

    # ── deletions without counts ──────────────────────────────────────────────────────────────────
    # Watched by `elastic_worst`, `galen_edit_ratio` and `add_rule_ms` of `bench recursion`.
    rows_steps: int = 20_000_000
    """Cost that a change may have where nobody knows what an evaluation takes, and regret below
    which no counts are made: a tenth of a second.
    """
    rows_small: int = 1_000_000
    """Cost of evaluating parts for which nothing else is tried: some five milliseconds."""
    rows_least: int = 500_000
    """Cost that a change may have even where an evaluation takes less: some milliseconds."""
    rows_begun: int = 125_000
    """The same where there were no rows, so that an evaluation finds nothing else."""
    rows_worth: float = 0.5
    """Share of an evaluation that a deletion may cost: as much is lost where it is given up, and a
    commit that lost it in one stratum may lose less in the next.
    """
    rows_tried: float = 0.125
    """Share of an evaluation that a deletion may cost before ranks are made for it, or proofs
    counted; and one of a large share of what is read.
    """
    rows_counted: float = 2.2
    """Evaluations that counting proofs may cost to be preferred to ranks then. Counts that cost
    more have a price that is as many times as high.
    """
    rows_iterations: int = 64
    """Iterations of an evaluation beyond which neither is done: both take as many."""
    ranked_plan: int = 200_000
    """Cost of planning an atom over ranked rows. A deletion has to have as much left, and what
    making ranks takes.
    """
    rederive_turn: int = 50_000
    """Steps that led to nothing after which a search for rows that return goes the other way."""
    rederive_steps: int = 16
    """Steps for each row that drives such a search or is found; what is beyond led to nothing."""
    rederive_gone: int = 4096
    """Rows that are gone up to which they are looked up one by one."""
    rederive_lasting: int = 1000
    """Rows of the stratum for each that may be gone from which on a search is worth key orders of
    its own.
    """
