"""The change oracle: which regions which change names, and what it counts."""

from __future__ import annotations

import random

import pytest

from lftj.sensitivity import EXACT, NONE, Constant, Granularity, hull, index, projected
from tests.unit.scantree.trees import rows_of
from tests.unit.sensitivity.bodies import BODIES, body
from tests.unit.sensitivity.maintained import Maintained
from tests.unit.sensitivity.test_invariant import arities, changed, drawn, some_rows

GRAPH = {"E": {(x, y) for x in range(6) for y in range(6) if (x + y) % 3}}
TRIANGLE = body(3, "E 0 1, E 1 2, E 0 2")


def regions_of(
    kept: Maintained, **after: set[tuple[int, ...]]
) -> list[tuple[tuple[int, ...], int, list[tuple[int, ...]]]]:
    found = kept.step({**kept.relations, **after})
    kept.check_result()
    return [(batch.levels, batch.log_from, rows_of(batch.columns)) for batch in found]


def test_without_indices_an_edge_is_a_delta_query_for_each_atom() -> None:
    kept = Maintained(TRIANGLE, GRAPH, {})
    found = regions_of(kept, E=GRAPH["E"] | {(1, 5)})
    assert found == [((0, 1), 1, [(1, 5)]), ((0, 2), 2, [(1, 5)]), ((1, 2), 2, [(1, 5)])]
    assert (kept.work.surgeries, kept.work.stabs, kept.work.hits, kept.work.regions) == (3, 0, 0, 3)


def test_an_index_narrows_the_box_to_the_contexts_that_ask() -> None:
    keys = {position.key: EXACT for position in TRIANGLE.shape.indexable}
    kept = Maintained(TRIANGLE, GRAPH, keys)
    found = regions_of(kept, E=GRAPH["E"] | {(1, 5)})
    assert {levels for levels, _, _ in found} == {(0, 1), (0, 1, 2)}
    # (x, 1, 5) for x with an edge to 1, and (1, y, 5) for y after 1
    points = {row for levels, _, rows in found if len(levels) == 3 for row in rows}
    assert points <= {(x, 1, 5) for x in range(6)} | {(1, y, 5) for y in range(6)}
    assert kept.work.stabs == 2
    assert kept.work.hits == len(points)


def test_a_branch_of_a_new_vertex_names_the_vertex_alone() -> None:
    kept = Maintained(TRIANGLE, GRAPH, {})
    assert regions_of(kept, E=GRAPH["E"] | {(9, 1), (9, 2)}) == [
        ((0,), 0, [(9,)]),
        ((1,), 1, [(9,)]),
    ]


def test_a_change_of_one_relation_asks_nothing_of_the_others() -> None:
    three = body(3, "E 0 1, F 1 2, G 0 2")
    kept = Maintained(
        three, dict.fromkeys("EFG", GRAPH["E"]), {(1, 0): EXACT, (1, 1): EXACT, (2, 1): EXACT}
    )
    regions_of(kept, G=GRAPH["E"] | {(1, 5)})
    assert (kept.work.surgeries, kept.work.stabs) == (1, 1)


def test_no_change_is_no_region() -> None:
    kept = Maintained(TRIANGLE, GRAPH, {})
    assert kept.step(kept.relations) == ()


def test_in_an_existential_block_the_region_is_the_block() -> None:
    block = body(3, "E 0 1, E 1 2, P 2", exists_from=1)
    kept = Maintained(
        block,
        {**GRAPH, "P": {(0,), (4,)}},
        {position.key: EXACT for position in block.shape.indexable},
    )
    found = regions_of(kept, P={(4,)})
    assert {(levels, log_from) for levels, log_from, _ in found} == {((0,), 1)}
    kept.check_invariant(range(6))
    without = Maintained(block, {**GRAPH, "P": {(0,), (4,)}}, {})
    assert regions_of(without, P={(4,)}) == [((), 1, [])]


def test_rows_that_contradict_a_constant_touch_nothing() -> None:
    constant = body(3, "P 1, E 0 2", computed={0: Constant(2)})
    kept = Maintained(constant, {**GRAPH, "P": {(1,)}}, {})
    assert regions_of(kept, E=GRAPH["E"] | {(1, 5)}) == []
    assert kept.work.surgeries == 0
    assert regions_of(kept, E=kept.relations["E"] | {(2, 4)}) == [((0, 2), 2, [(2, 4)])]


def test_rows_that_differ_where_a_variable_repeats_touch_nothing() -> None:
    kept = Maintained(body(1, "P 0, !T 0 0 0"), {"P": {(1,)}, "T": set()}, {})
    assert regions_of(kept, T={(1, 2, 1), (1, 1, 2)}) == []
    assert kept.work.surgeries == 0
    assert regions_of(kept, T={(1, 1, 1)}) == [((0,), 0, [(1,)])]


def test_a_ground_negated_atom_switches_the_whole_body() -> None:
    kept = Maintained(body(2, "E 0 1, !P =7"), {**GRAPH, "P": set()}, {})
    assert regions_of(kept, P={(6,)}) == []
    assert regions_of(kept, P={(7,)}) == [((), 0, [])]
    assert kept.result == set()


def test_work_follows_the_degree_and_not_the_size() -> None:
    """With exact indices, what an edge costs is bounded by what asks about it, however much else
    there is.
    """
    steps = []
    for size in (10, 40):
        ring = {(v, (v + k) % size) for v in range(size) for k in (1, 2, 3)} - {(0, 2)}
        kept = Maintained(TRIANGLE, {"E": ring}, dict.fromkeys(TRIANGLE.shape.by_key, EXACT))
        kept.step({"E": ring | {(0, 2)}})
        kept.check_result()
        steps.append(kept.steps)
    assert steps[1] <= steps[0] * 1.5
    assert steps[1] < kept.full_steps / 10


@pytest.mark.parametrize("name", BODIES)
def test_granularities_may_change_at_any_time(name: str) -> None:
    """Coarsening, merging with liveness and logging anew, in between steps, change no answer and
    keep the invariant.
    """
    case, values = BODIES[name]
    rng = random.Random(7)
    widths = arities(case)
    relations = {relation: some_rows(rng, arity, values) for relation, arity in widths.items()}
    kept = Maintained(case, relations, drawn(case.shape, rng, (EXACT, hull(2))))
    coarser: list[Granularity] = [hull(2), hull(1), projected(1), projected(0), NONE]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            index, "SLACK", 0
        )  # so every index is merged, and its dead contexts dropped, all the time
        for _ in range(8):
            relations = changed(relations, rng, widths, values)
            kept.step(relations)
            kept.check_result()
            kept.check_invariant(range(values))
            for key in sorted(kept.indices):
                wanted = rng.choice(coarser)
                if rng.random() < 0.3 and wanted.at_most(kept.granularities[key]):
                    kept.granularities[key] = wanted
                    narrower = kept.indices.pop(key).coarsened(wanted)
                    if narrower is not None:
                        kept.indices[key] = narrower
            if rng.random() < 0.1:
                kept.granularities = drawn(case.shape, rng, (EXACT, hull(2)))
                kept.log_all()
