# SPDX-License-Identifier: Apache-2.0
"""Preparation: what the first change of each relation needs is made ready before it comes.

Plans, key orders and states that follow changes are made when a change first asks for them, since
no one knows before which of them are used. So preparing is changing: some rows of each relation go
and come back, in two commits that nobody sees. What comes out has the rows that there were, with
all that these changes asked for, and takes the place of the committed state.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lftj.engine.commit.commit import Proposal
from lftj.engine.commit.staging import Operation, Staging
from lftj.engine.versions.state import State
from lftj.errors import LftjError, LimitError
from lftj.program.stratification import Stratification
from lftj.scantree.rows import sort_rows
from lftj.storage.delta import Columns
from lftj.storage.relation import RelationVersion
from lftj.types import lookup_scalar

if TYPE_CHECKING:
    from lftj.engine.live.engine import Engine

_CONSTANTS = 16
"""Constants of rules for which a row of a relation goes and comes back, beside one of any."""


def prepared(engine: Engine, state: State) -> State:
    """The state with the same rows and version that the first changes of its relations find ready.
    Nothing is published. Costs two commits of some rows for each relation that rules read. Raises
    LimitError.
    """
    for name in _read_by_rules(state):
        base = state.base(name)
        if not base.count:
            continue
        try:
            state = _there_and_back(engine, state, name, _rows(engine, state, name, base))
        except LimitError:
            raise
        except LftjError:
            continue  # such a row cannot go by itself: its change needs nothing but the error
    return state


def _read_by_rules(state: State) -> Iterator[str]:
    """The relations of the user's that strata read, and those that have rules and rows of their
    own.
    """
    order = state.program.stratified.order
    for name in state.program.catalog.relations:
        if state.program.derives(name) or next(iter(order.reading(name)), None) is not None:
            yield name


def _there_and_back(engine: Engine, state: State, name: str, rows: Columns) -> State:
    """The state after these rows of a relation went and came back; the one given where it is not
    the same again, as rows may be chosen otherwise.
    """
    after = _changed(engine, state, name, "delete", rows)
    after = _changed(engine, after, name, "insert", rows)
    if after.program is not state.program or not _same_rows(state, after):
        return state
    database = after.database.replace({}, version=state.version)
    return replace(after, database=database)


def _changed(engine: Engine, state: State, name: str, operation: Operation, rows: Columns) -> State:
    staging = Staging(state.base(name))
    staging.add(operation, rows)
    proposal = Proposal(state.program, state.views, state.aggregates, frozenset(), {name: staging})
    # What waits until an extreme is erased is made now.
    tuning = replace(engine.tuning, extremes_rows=sys.maxsize)
    return engine.carry_out(proposal, state, tuning).state


def _same_rows(before: State, after: State) -> bool:
    """Compare all relations; shared pages are skipped."""
    if before.database.keys() != after.database.keys():
        return False
    return not any(
        len(now.difference(before.database[name])) for name, now in after.database.items()
    )


def _rows(engine: Engine, state: State, name: str, base: RelationVersion) -> Columns:
    """A row from the middle, and one for each of some constants that rules look for."""
    middle = base.count // 2
    found = [next(base.blocks(1, range(len(base.sample(1))), middle, middle + 1)).copy()]
    columns = state.schema(name).columns
    for column, value in _constants(state.program.stratified.order, name):
        type = columns[column][1]
        code = lookup_scalar(type, value, engine.dictionary) if type.name == "str" else value
        places = np.flatnonzero(base.columns([column])[0] == code)[:1]
        for place in places.tolist():
            found.append(next(base.blocks(1, range(len(columns)), place, place + 1)).copy())
    return sort_rows(list(np.concatenate(found, axis=1)))


def _constants(order: Stratification, name: str) -> list[tuple[int, int | str]]:
    """Columns of a relation with the constants that rules look for there, at most so many."""
    found = [
        (reading[1], reading[2])
        for reading in order.row_readers
        if len(reading) == 3 and reading[0] == name
    ]
    return found[:_CONSTANTS]
