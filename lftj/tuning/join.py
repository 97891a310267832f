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
    hardly_repeating: float = 1.25
    """Rows for each value up to which neighbours, not the sample, estimate the first column."""
    repeating: float = 2.0
    """Rows for each value from which on a column repeats, and aggregates are drawn into joins."""
    frequent_times: int = 4
    """Times that a sample has a value from which on its own share counts, not the mean."""
    spread_values: int = 33
    """Values at equal distances that comparisons are tried on: time of planning against accuracy
    of ranges.
    """
    agreeing_pairs: int = 10
    """Pairs of sampled rows that have to agree before a join is taken for skewed: fewer may be
    chance.
    """
    stale_statistics: float = 1.5
    """Growth or shrinkage after which a relation is sampled again: time of sampling against bad
    orders.
    """
    crowded: float = 2.0
    """Times the mean from which on values of two atoms count as skewed; less may be chance."""
    comparison_share: float = 0.5
    """Share of values taken to pass a comparison of which nothing is known."""
    comparison_least: float = 0.002
    """Share taken to pass where no sampled value does: the sample is small."""
    window_share: float = 0.05
    """Share taken to pass two comparisons that are the ends of one range: most are narrow."""

    # ── variable orders ───────────────────────────────────────────────────────────────────────────
    # Watched by `bench triejoin`, `bench answers`, and `ms_per_extra_rule` of `bench
    # startup` for the time of planning.
    permuted_variables: int = 5
    """Variables up to which every order is looked at; beyond, subsets: exact against 2ⁿ steps."""
    searched_variables: int = 9
    """Variables up to which subsets are searched; beyond, a greedy choice takes n² steps."""
    decisive_variables: int = 9
    """Variables beyond which one level that is taken for far too little decides an order."""
    handful_rows: int = 16
    """Rows up to which an atom may begin a greedy order although it has no constant."""
    divided_order: float = 3.0
    """Times the cheapest order that one may cost which begins where the work is divided."""
    present_order: float = 1.5
    """Times the cheapest order, the key orders made for it included, that one may cost for which
    none is missing: estimates are no nearer, and what is made has to be brought forward.
    """
    skewed_order: float = 4.0
    """Times cheaper that another order must seem to samples before the first choice gives way."""
    informed_order_cost: float = 20_000
    """Cost of an order, in kernel steps, from which on samples are asked about it: asking makes a
    choice some tens of times as long.
    """
    starting_atoms: int = 12
    """Atoms up to which a greedy order is begun with each of them."""
    narrow_columns: int = 3
    """Columns up to which key orders are made freely; wider rows take longer to sort, and memory
    for good.
    """
    advised_order_cost: float = 20_000
    """Cost of a plan, in kernel steps, from which on the index advisor looks for a better one."""
    stale_plan: int = 2
    """Growth or shrinkage of what a plan reads after which it is made anew."""
    stale_plan_rows: int = 64
    """Rows up to which sizes do not make a plan stale."""

    # ── runs ──────────────────────────────────────────────────────────────────────────────────────
    # Watched by `bench triejoin`, and `balance64` and `threads2_triangle` of `bench
    # partition`.
    run_steps: int = 20_000_000
    """Kernel steps between two looks at limits and interrupts: about a tenth of a second."""
    bound_search_cost: float = 1e6
    """Estimated kernel steps up to which a question with parameters is one run of a plan that is
    kept; above, threads and all other ways to evaluate it may gain more than that saves.
    """
    shared_run_steps: int = 4_000_000
    """The same for tasks on threads, which stop together: about a fiftieth of a second."""
    run_rows: int = 1 << 15
    """Rows that a run has room for: what fits into the processor's cache against calls."""
    run_records: int = 1 << 14
    """Records of a trace that a run has room for, as `run_rows`."""
    thread_rows: int = 1_000_000
    """Rows gathered on a thread before repeated ones are taken out: memory against sorting."""
    grouped_bindings: int = 2_000_000
    """Bindings from which on an evaluation may go group by group: memory of all rows against a
    dearer order.
    """
    grouped_order: float = 4.0
    """Times the cheapest order that one may cost which goes group by group."""
    least_proofs: float = 4.0
    """Proofs for each row read up to which all values of a group are kept; beyond, the trace of a
    search for the least: time of one against memory of the other.
    """
    weighed_rows: int = 2048
    """Rows for each part that tell what parts cost: a few per cent of balance against reading, of
    which a row takes longer than a kernel step.
    """

    # ── scans and star joins ──────────────────────────────────────────────────────────────────────
    # Watched by `threads2_join` of `bench partition` and `flights_speedup` of `bench
    # maintenance`.
    block_rows: int = 1 << 16
    """Rows that scans read at a time: columns that stay in the processor's cache against calls."""
    columns_start: float = 10_000
    """Kernel steps in the time in which an evaluation by columns begins, by look-ups or with
    arithmetic: a search that takes less is done.
    """
    star_atoms: int = 16
    """Atoms up to which a body is looked at as a star of look-ups: planning takes the third power
    of their number.
    """
    star_span: int = 1 << 17
    """Facts for each thread of a scan, fewer the more is looked up for each: work against the start
    of a thread.
    """
    star_steps: int = 2
    """Kernel steps in the time of one step of a scan, at least: what it does with a row takes 3 to
    50 nanoseconds.
    """
    star_spans: int = 2
    """Spans for each thread, so that one that is held up does not hold up all."""
    star_passing: float = 0.5
    """Share of the rows of an atom that is taken to pass its own tests."""
    semijoin_rows: int = 1 << 15
    """Rows of a wide relation from which on semi-joins reduce it before the join."""
    semijoin_steps: int = 8
    """Rows that a scan tests in the time of a kernel step of a search among as many, which waits
    for memory: 3 to 5 nanoseconds against 30 to 40.
    """
    semijoin_smaller: int = 2
    """Times fewer rows that a relation needs to restrict another one."""
    semijoin_passing: float = 0.75
    """Share of sampled rows that pass from which on a test is not worth its time."""
    semijoin_worth: float = 0.5
    """The same for all tests together, which have to leave much less to sort."""
    table_places: int = 8
    """Places for each row up to which a look-up table by place is worth its memory."""
    table_least: int = 1 << 16
    """Places that such a table may have in any case."""
    present_bits: int = 24
    """Bits of a range of values up to which a table tells which are present: 16 MiB."""
    summed_rows: int = 4
    """Rows for each combination of values from which on counts are added up by place, not
    listed.
    """
    summed_places: int = 1 << 20
    """Places up to which counts are added up so; more do not stay in the processor's cache."""
