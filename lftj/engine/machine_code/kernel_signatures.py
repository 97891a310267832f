# SPDX-License-Identifier: Apache-2.0
"""Kernels by the types they are called with: what the library of kernels holds, and what is
compiled ahead where there is no library.

Numba infers types at the call; this list was recorded from calls in tests. What it lacks still
works: Numba compiles it when it is called, and the log names the kernel and the types.
"""

GROUPS = {
    "rows": """
lftj.scantree.apply_kernels apply_in_room W W i i R R
lftj.scantree.diff_kernels diff W W i i i i
lftj.scantree.diff_kernels mark_differing W i i R i i B B
lftj.scantree.read_kernels look_up W i i W R B R
lftj.scantree.build_kernels build_in_room W W R
lftj.scantree.build_kernels load_fill W
lftj.scantree.build_kernels words_packed W i
lftj.scantree.build_kernels words_to_load W i
lftj.scantree.build_kernels fill_leaves W W i W W
lftj.scantree.build_kernels raise_levels W W W i i
lftj.scantree.build_kernels take_leaves W W i W
lftj.scantree.read_kernels read_edges W i i W R i b B R
lftj.scantree.seek_kernels lower_bound W i i W R i
lftj.scantree.build_kernels fill_packed W W W W W W
lftj.scantree.rows_kernels locate_ascending W W W W
lftj.scantree.packing_kernels pack_rows R i W W W
lftj.scantree.place_sort_kernels sort_places W W W W i i
lftj.scantree.word_sort_kernels sort_digits W W i i i
lftj.scantree.word_sort_kernels count_values W i W
lftj.scantree.word_sort_kernels move_words W i W W
lftj.scantree.word_sort_kernels sort_runs W W W i i i i i
lftj.scantree.reorder_kernels pack_leaves W i i W W W W W
lftj.scantree.read_kernels read_rows W i i i i W R
lftj.scantree.packing_kernels sum_equal R i b
lftj.scantree.packing_kernels unpack_rows W W W b R
lftj.scantree.reorder_kernels survey_leaves W i i W W W W
lftj.scantree.read_kernels read_numbered W i i W W R
lftj.scantree.packing_kernels survey R W W
lftj.scantree.packing_kernels unpack_sums W U8 W W b R
lftj.scantree.page_kernels release W i
lftj.scantree.rows_kernels mark_common R R B B
lftj.scantree.compare_kernels compare R R i W W W W
lftj.scantree.packing_kernels sum_packed R W W W U8
lftj.scantree.place_sort_kernels sort_ties W i R W i
lftj.scantree.seek_kernels rank W i i i
lftj.scantree.packing_kernels run_lengths W W
lftj.scantree.rows_kernels run_sums W W W
lftj.scantree.rows_kernels refine_ranges W W W W
lftj.scantree.packing_kernels state_of R i
lftj.scantree.place_sort_kernels add_field W W i i
lftj.scantree.place_sort_kernels spread W
lftj.scantree.page_kernels index_column i i
lftj.scantree.word_sort_kernels ascending W
lftj.scantree.page_kernels leaf_column i i
""",
    "rules": """
lftj.join.kernels.triejoin_kernels run i i i i i i i i
lftj.scantree.count_kernels add_counts W W i i R W R R R W
lftj.sensitivity.coverage_kernels merge_gaps B W W W i i
lftj.scantree.interval_kernels overlap W W i i i R W
lftj.join.kernels.statistics_kernels count_values R R
lftj.sensitivity.surgery_kernels branch_depths W i i R W
lftj.heads.changes_kernels net_few R W R W
lftj.scantree.weight_kernels read_units W W i i R W i W
lftj.scantree.weight_kernels rank_prefixes W W i i R b W
lftj.join.kernels.lookup_kernels compute_rows i i W R i i W
lftj.heads.changes_kernels divide R W i W W
lftj.heads.changes_kernels keep_values W W W
lftj.sensitivity.region_kernels mark_outside R W R B
lftj.join.kernels.lookup_kernels find_placed W i I32 W W
lftj.sensitivity.coverage_kernels merge_touching B W W W
lftj.join.kernels.lookup_kernels place_rows W i I32 W
lftj.join.kernels.lookup_kernels add_up W W W
lftj.join.kernels.bitmap_kernels clear_cache i i
""",
    "sums": """
lftj.heads.integer_sum_kernels total_runs W W W W W
lftj.heads.integer_sum_kernels merge_totals W W W W
lftj.heads.grouping_kernels place_groups R W i I32 R W W
lftj.heads.grouping_kernels add_floats W W W i i b W
lftj.heads.grouping_kernels add_integers W W W i i b
lftj.heads.grouping_kernels add_times W W W i i
lftj.heads.grouping_kernels add_missing W W W W i i b
lftj.heads.grouping_kernels add_extremes W R W i i b W b
lftj.join.kernels.lookup_kernels hash_rows R I32 W
""",
    "floats": """
lftj.heads.float_sum_kernels advance_states R W W W W W
lftj.heads.float_sum_kernels sum_runs W W W W W
lftj.heads.float_sum_kernels changed_words R R R R R
lftj.heads.float_sum_kernels read_states W i i W R R
lftj.heads.float_sum_kernels divide_floats W W W
""",
    "strings": """
lftj.types.text_index_kernels find W i i i i i W
lftj.heads.concatenation_kernels write_joined W U8 W W W W U8
lftj.heads.text_order_kernels find_neighbours W i i W U8 i i i
lftj.scantree.page_kernels note_words W U8
lftj.types.text_index_kernels enter W i i i i i
lftj.heads.concatenation_kernels measure_joined W W W W W W
lftj.types.text_index_kernels enter_some W i i i W
lftj.types.text_index_kernels find_or_enter W i i i i i i W W
lftj.types.expected_texts_kernels find_expected i i i i W W W W
""",
    "recursion": """
lftj.maintenance.lattice.improvement_kernels run_improvement W
  lftj.maintenance.counting.question_kernels.Surroundings:i,i,i,i
  lftj.maintenance.counting.apply_iteration_kernels.Trees:R,R,R,R
  lftj.maintenance.counting.question_kernels.Questions:R,R,W R R R W
lftj.maintenance.lattice.group_order_kernels rank_nodes W W W
lftj.maintenance.counting.iteration_kernels run_iterations W
  lftj.maintenance.counting.question_kernels.Surroundings:i,i,i,i
  lftj.maintenance.counting.apply_iteration_kernels.Trees:R,R,R,R
  lftj.maintenance.counting.question_kernels.Questions:R,R,W
  lftj.maintenance.counting.waiting_kernels.Waiting:R,W R R W
lftj.maintenance.separable.counted_walk_kernels counted_walk
  lftj.maintenance.separable.walk_kernels.Parts:W,W,W
  lftj.maintenance.separable.walk_kernels.Graph:W,W
  lftj.maintenance.separable.counted_walk_kernels.Weights:W,W
  lftj.maintenance.separable.walk_kernels.Reached:I8,W,W,W
  lftj.maintenance.separable.counted_walk_kernels.Marks:W,W W
  lftj.maintenance.separable.counted_walk_kernels.Counted:W,W,W i
lftj.maintenance.separable.walk_kernels walk lftj.maintenance.separable.walk_kernels.Parts:W,W,W
  lftj.maintenance.separable.walk_kernels.Graph:W,W
  lftj.maintenance.separable.walk_kernels.Reached:I8,W,W,W W W i
lftj.maintenance.reachability.graph_kernels repair
  lftj.maintenance.reachability.graph_kernels.Rows:W,W,W
  lftj.maintenance.reachability.graph_kernels.Rows:W,W,W
  lftj.maintenance.reachability.graph_kernels.Doubt:W,I8
  lftj.maintenance.reachability.graph_kernels.Steps:W,W,U8
  lftj.maintenance.reachability.graph_kernels.Steps:W,W,U8
  lftj.maintenance.reachability.graph_kernels.Search:I8,W W
  lftj.maintenance.reachability.graph_kernels.Found:W,W
  lftj.maintenance.reachability.graph_kernels.Found:W,W
lftj.maintenance.reachability.graph_kernels components
  lftj.maintenance.reachability.graph_kernels.Steps:W,W,U8 i
  W W W W W
lftj.maintenance.reachability.graph_kernels reach
  lftj.maintenance.reachability.graph_kernels.Steps:W,W,U8 i
  lftj.maintenance.reachability.graph_kernels.Search:I8,W i i I8
lftj.maintenance.semi_naive.row_set_kernels add_sparse A i W W W W U32 i b W i
lftj.maintenance.semi_naive.row_set_kernels add_sparse A i W W W W W i b W i
lftj.maintenance.semi_naive.row_set_kernels add_sparse R i W W W W U32 i b W i
lftj.maintenance.semi_naive.row_set_kernels add_sparse R i W W W W W i b W i
lftj.maintenance.semi_naive.proof_table_kernels add_proofs A W W i W i i
lftj.maintenance.semi_naive.proof_table_kernels add_proofs R W W i W i i
lftj.maintenance.semi_naive.row_set_kernels add_dense A i W W W W W b W i
lftj.maintenance.semi_naive.row_set_kernels add_dense R i W W W W W b W i
lftj.scantree.rows_kernels merge_distinct R R R
lftj.scantree.apply_kernels words_to_change W i i i i
lftj.maintenance.counting.apply_iteration_kernels follow R R R
lftj.maintenance.semi_naive.row_set_kernels fill W U32 i
lftj.maintenance.semi_naive.row_set_kernels fill W W i
lftj.maintenance.separable.walk_kernels invert W W W W
lftj.maintenance.semi_naive.proof_table_kernels rehash W i i W i
lftj.maintenance.counting.apply_iteration_kernels judge_rows B W W i i W W
lftj.maintenance.counting.apply_iteration_kernels tell_iterations R i W
lftj.maintenance.separable.walk_kernels take
  lftj.maintenance.separable.walk_kernels.Reached:I8,W,W,W i W
  i
lftj.maintenance.counting.apply_iteration_kernels amend R R B W
lftj.maintenance.semi_naive.row_set_kernels bounds A W W W
lftj.maintenance.semi_naive.row_set_kernels bounds R W W W
lftj.maintenance.semi_naive.row_set_kernels append_numbers W W W i W
lftj.maintenance.semi_naive.row_set_kernels reordered W W W W W
lftj.maintenance.semi_naive.row_set_kernels unpack W W W R
""",
    "parts": """
lftj.scantree.rows_kernels merge_distinct R R R
lftj.scantree.stored_kernels write_pages W W i W W W W
lftj.scantree.stored_kernels address_pages W W i i i
lftj.scantree.stored_kernels page_words W i
""",
    "driver": """
lftj.scantree.rows_kernels merge_distinct R R R
lftj.scantree.packing_kernels pack_rows R i W W W
lftj.scantree.packing_kernels unpack_rows W W W b R
lftj.scantree.rows_kernels mark_common R R B B
lftj.scantree.word_sort_kernels sort_digits W W i i i
lftj.scantree.word_sort_kernels ascending W
""",
    "others": """
lftj.heads.float_sum_kernels to_balanced W W
lftj.heads.float_sum_kernels to_twos_complement W
lftj.join.kernels.lookup_kernels find_hashed R R I32 W W
lftj.join.kernels.lookup_kernels find_runs W i I32 W W W
lftj.join.kernels.lookup_kernels keep_absent W i i W
lftj.join.kernels.lookup_kernels keep_runs W W W i
lftj.join.kernels.lookup_kernels keep_same W W W W i
lftj.join.kernels.lookup_kernels mark_runs W i I32
lftj.scantree.complement_kernels complement W W tuple:i,i,i tuple:i,i,i
lftj.scantree.packing_kernels count_equal R W
lftj.scantree.page_kernels discard W i
lftj.scantree.read_kernels at_rank W i i i
lftj.scantree.read_kernels position_of W i i i
lftj.scantree.rows_kernels locate_ascending V W W W
lftj.scantree.rows_kernels refine_ranges V W W W
lftj.scantree.scan_kernels scan_range W W i i i i i i i
lftj.scantree.seek_kernels gallop W i i i i
lftj.scantree.seek_kernels leaf_at W i i i
lftj.scantree.seek_kernels next_leaf W i i i
lftj.scantree.seek_kernels seek_after W i i i i i i
lftj.scantree.seek_kernels seek_lub W i i i i i i
lftj.scantree.seek_kernels value_at W i i i i
lftj.scantree.stored_kernels relocate W W i i W W W
lftj.scantree.stored_kernels forget_addresses W W W
lftj.scantree.stored_kernels take_back_addresses W W
""",
}
"""The groups, as `lftj.scantree.jit.ahead` reads them: the kernels of each by the types they are
called with, the slowest to compile first. Programs need the groups that
`lftj.engine.machine_code.compiled_ahead` names. Only the library holds `others`: kernels of files,
of Spark's tasks, and of rare calls.
"""
