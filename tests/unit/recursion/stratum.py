"""A recursive stratum of a workspace looked at from inside, and from nothing, for tests of its
state.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lftj.maintenance.counting.derivation_count import without_proofs
from lftj.maintenance.counting.elastic_bootstrap import elastic_bootstrap
from lftj.maintenance.counting.recount import recounted
from lftj.maintenance.counting.stratum_change import StratumChange
from lftj.maintenance.counting.stratum_state import StratumState
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.lattice.lattice_update import prove
from lftj.maintenance.lattice.optimal_support import WithBest
from lftj.program.normal_form import NormalRule

Rows = dict[tuple[int, ...], tuple[int, int]]


@contextmanager
def counted_at_once() -> Iterator[None]:
    """Meanwhile ranks are to be least, so that the first small change of a stratum makes its proofs
    counted, though it could be followed by its rows alone.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StratumChange, "least", True)
        yield


def states(workspace: Any) -> list[StratumState]:
    """The counted states that a workspace keeps."""
    return [
        state
        for state in workspace._backend.state.view_states.values()
        if isinstance(state, StratumState)
    ]


def rows_of(state: StratumState) -> dict[str, Rows]:
    """Per relation: codes of the row → (iteration, proofs)."""
    found: dict[str, Rows] = {}
    for name, relation in state.relations.items():
        rows, iterations, proofs = relation.counted()
        found[name] = {
            tuple(row): (i, c) for *row, i, c in np.transpose([*rows, iterations, proofs]).tolist()
        }
    return found


def candidates_of(state: StratumState) -> dict[str, tuple[Rows, set[tuple[int, ...]]]]:
    """Per relation with a choice: codes of the candidate → (iteration, proofs), and the rows of the
    ranking.
    """
    found: dict[str, tuple[Rows, set[tuple[int, ...]]]] = {}
    for name, kept in state.candidates.items():
        rows, iterations, proofs = kept.rows.counted()
        counted = {
            tuple(row): (i, c) for *row, i, c in np.transpose([*rows, iterations, proofs]).tolist()
        }
        found[name] = counted, set(map(tuple, np.transpose(kept.ranking.columns()).tolist()))
    return found


def check(workspace: Any) -> int:
    """Supports are those of a recount; where ranks are least a kept state equals a bootstrap on the
    present input; all key orders agree, and rows are the views'. The number of states.
    """
    engine = workspace._backend
    database = engine.state.database
    kept = states(workspace)
    for state in kept:
        normal = _rules_of(engine, state.schemas)
        context = engine.context(engine.state.aggregates)
        versions = Versions(database, database, {}, engine.arena)
        empty = replace(StratumState.empty(state.schemas, engine.arena), lattices=state.lattices)
        relations = WithBest(database, database, state.lattices)
        if not state.candidates:
            for rows, words, right in recounted(state, relations, context).values():
                assert words.tolist() == right.tolist(), np.transpose(rows).tolist()
        if not state.least:
            fresh = None
        elif state.lattices:
            fresh = prove(
                empty, normal, {name: database[name] for name in state.schemas}, versions, context
            )
            assert fresh is not None
        else:
            fresh = elastic_bootstrap(state.schemas, empty.queries_of(normal), versions, context)
            assert fresh is not None
        if fresh is not None:
            assert rows_of(state) == rows_of(fresh)
            assert candidates_of(state) == candidates_of(fresh)
        for name, relation in state.relations.items():
            assert [column.tolist() for column in relation.rows()] == [
                column.tolist() for column in database[name].columns()
            ]
            _check_orders(relation)
    return len(kept)


def _rules_of(engine: Any, relations: Collection[str]) -> list[NormalRule]:
    return [
        rule
        for stratum in engine.state.program.stratified.strata
        if set(stratum.relations) == set(relations)
        for rule in stratum.rules
        if isinstance(rule, NormalRule)
    ]


def _check_orders(relation: Any) -> None:
    *columns, words = relation.columns()
    rows = set(zip(*(column.tolist() for column in (*columns, without_proofs(words))), strict=True))
    for order in relation.orders()[1:]:
        tree = relation.tree(order)
        back = [tree.columns()[order.index(i)].tolist() for i in range(len(order))]
        assert set(zip(*back, strict=True)) == rows
