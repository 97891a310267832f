"""Every figure with its bar, on one page. Bars hold at the full size (`--size l`)."""

from __future__ import annotations

from bench.figure import Bar

BARS: dict[str, dict[str, Bar]] = {
    "storage": {
        "commit_growth": Bar("at most", 3),
        "commit_ms_10m": Bar("at most", 2, unit="ms"),
        "diff_growth": Bar("at most", 3),
        "bytes_per_row": Bar("at most", 24, unit="bytes"),
    },
    "triejoin": {
        "triangle_vs_duckdb": Bar("at least", 4),
        "clique_vs_duckdb": Bar("at least", 20),
        "skew_growth": Bar("at most", 2.5),
        "skew_vs_duckdb": Bar("at least", 50),
        "fourcycle_vs_duckdb": Bar("at least", None, "inform"),
        "clique_vs_duckdb_by_hand": Bar("at least", None, "inform"),
    },
    "startup": {
        "first_result_warm_s": Bar("at most", 2, unit="s"),
        "first_result_cold_s": Bar("at most", 30, unit="s"),
        "ms_per_extra_rule": Bar("at most", 5, unit="ms"),
        "compiled_functions_added": Bar("exactly", 0, unit="functions"),
    },
    "load": {
        "load_vs_pyarrow": Bar("at most", 4),
    },
    "recursion": {
        "rand1k_vs_duckdb": Bar("at least", 5),
        "forest_vs_duckdb": Bar("at least", 1.5),
        "wikivote_vs_duckdb": Bar("at least", 2),
        "cspa10k_vs_duckdb": Bar("at least", 5),
        "rmat1k_edit_ms": Bar("at most", 20, unit="ms"),
        "chain_us_per_round": Bar("at most", None, "inform", unit="µs"),
        "choice_edit": Bar("at most", None, "inform"),
        "shortest_edit": Bar("at most", None, "inform"),
        "add_rule_ms": Bar("at most", 20, unit="ms"),
        "lubm_add": Bar("at most", 1 / 8),
        "lubm_remove": Bar("at most", 1 / 8),
        "state_ratio": Bar("at most", 3),
        "elastic_worst": Bar("at most", 1.3),
        "dred_vs_ours": Bar("at least", None, "inform"),
        "galen_s": Bar("at most", 600, unit="s"),
        "galen_gib": Bar("at most", 12, unit="GiB"),
        "galen_edit_ratio": Bar("at most", 0.2),
    },
    "maintenance": {
        "edit1_median": Bar("at most", 1 / 1000),
        "edit1_p99": Bar("at most", 1 / 50),
        "edit10": Bar("at most", 1 / 300),
        "edit1000": Bar("at most", 1 / 15),
        "growth": Bar("at most", 3),
        "logging_overhead": Bar("at most", 1.5),
        "state_ratio": Bar("at most", 8),
        "vs_duckdb_delta": Bar("at least", 5),
        "bulk_ratio": Bar("at most", 1.3),
        "work_per_assignment_spread": Bar("at most", 3),
        "aggregate_sum_us": Bar("at most", 50, unit="µs"),
        "aggregate_minmax_steps": Bar("at most", 20, unit="log₂ n"),
        "bitcoin_speedup": Bar("at least", 20),
        "flights_speedup": Bar("at least", 20),
        "flights_speedup_orders_kept": Bar("at least", None, "inform"),
        "pathway_time": Bar("at most", 1 / 5),
        "pathway_memory": Bar("at most", 1 / 10),
    },
    "partition": {
        "threads2_triangle": Bar("at least", 1.6),
        "threads2_cspa": Bar("at least", 1.6),
        "threads2_cspa_x8": Bar("at least", 1.6),
        "balance64": Bar("at most", 1.3),
        "spark_overhead": Bar("at most", 2),
        "spark_commit_s": Bar("at most", 1.5, unit="s"),
        "shipped_per_change": Bar("at most", 2000, unit="bytes"),
        "untouched_parts_read": Bar("exactly", 0, unit="parts"),
        "driver_memory_growth": Bar("at most", 1.2),
    },
    "answers": {
        "wrong": Bar("exactly", 0, unit="answers"),
        "checked": Bar("at least", None, "inform", unit="answers"),
    },
}
