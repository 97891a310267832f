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
from lftj.maintenance.counting.stratum_state import StratumState, Uncounted
from lftj.maintenance.deletion.ranks import Ranks
from lftj.maintenance.deletion.supports import SupportCheck, ranked_name
from lftj.maintenance.deletion.trail import Trail
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.lattice.lattice_update import prove
from lftj.program.normal_form import NormalRule
from lftj.storage.database import base_name

Rows = dict[tuple[int, ...], tuple[int, int]]


@contextmanager
def counted_at_once() -> Iterator[None]:
    """Meanwhile the first small change of a stratum makes its proofs counted, though it could be
    followed by its rows alone.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lftj.maintenance.dred.by_rows.Rows.applies", lambda _: False)
        yield


def states(workspace: Any) -> list[StratumState]:
    """The counted states that a workspace keeps."""
    return [
        state
        for state in workspace._backend.state.heads.values()
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
    """Every kept state equals a bootstrap on the present input, all its key orders agree, and its
    rows are the views'. Their number.
    """
    engine = workspace._backend
    database = engine.state.database
    kept = states(workspace)
    for state in kept:
        normal = _rules_of(engine, state.schemas)
        context = engine.context(engine.state.aggregates)
        versions = Versions(database, database, {}, engine.arena)
        empty = replace(StratumState.empty(state.schemas, engine.arena), lattices=state.lattices)
        if state.lattices:
            fresh = prove(
                empty, normal, {name: database[name] for name in state.schemas}, versions, context
            )
            assert fresh is not None
        else:
            fresh = elastic_bootstrap(state.schemas, empty.queries_of(normal), versions, context)
            assert fresh is not None
        assert rows_of(state) == rows_of(fresh)
        assert candidates_of(state) == candidates_of(fresh)
        for name, relation in state.relations.items():
            assert [column.tolist() for column in relation.rows()] == [
                column.tolist() for column in database[name].columns()
            ]
            _check_orders(relation)
    return len(kept)


def ranks_of(workspace: Any) -> list[Ranks | Trail]:
    """The ranks that a workspace keeps, made or not."""
    return [
        state.ranks
        for state in workspace._backend.state.heads.values()
        if isinstance(state, Uncounted) and state.ranks is not None
    ]


def _made(ranks: Ranks | Trail, engine: Any) -> Ranks:
    """The ranks that a trail tells of the rows as they are."""
    if isinstance(ranks, Ranks):
        return ranks
    rules, database = _rules_of(engine, ranks.found), engine.state.database
    schemas = {name: database[name].schema for name in ranks.found}
    return Ranks.of(schemas, rules, engine.arena, ranks, database)


def _rules_of(engine: Any, relations: Collection[str]) -> list[NormalRule]:
    return [
        rule
        for stratum in engine.state.program.stratified.strata
        if set(stratum.relations) == set(relations)
        for rule in stratum.rules
        if isinstance(rule, NormalRule)
    ]


def check_ranks(workspace: Any) -> int:
    """Ranks have the rows of the views, and each row has a derivation from lower ranks. The number
    of strata.
    """
    engine = workspace._backend
    database = engine.state.database
    kept = ranks_of(workspace)
    for each in kept:
        ranks = _made(each, engine)
        ranked = {ranked_name(name): rows for name, rows in ranks.relations.items()}
        base = {
            name: database[base_name(name)]
            for name in ranks.relations
            if base_name(name) in database
        }
        context = engine.context(engine.state.aggregates)
        checking = SupportCheck(ranks.supports, base, {**database, **ranked}, context)
        for name, relation in ranks.relations.items():
            rows = relation.columns()
            assert [column.tolist() for column in rows[:-1]] == [
                column.tolist() for column in database[name].columns()
            ]
            assert max(rows[-1], default=0) <= ranks.height
            first = rows[-1] == 0
            left = checking.unsupported(name, [column[~first] for column in rows], {})
            assert not len(left[0])
    return len(kept)


def _check_orders(relation: Any) -> None:
    *columns, words = relation.columns()
    rows = set(zip(*(column.tolist() for column in (*columns, without_proofs(words))), strict=True))
    for order in relation.orders()[1:]:
        tree = relation.tree(order)
        back = [tree.columns()[order.index(i)].tolist() for i in range(len(order))]
        assert set(zip(*back, strict=True)) == rows
