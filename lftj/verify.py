"""Checking the promise that every view equals what the rules derive from the base rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lftj.maintain.refresh import refresh
from lftj.result import Result
from lftj.state import State
from lftj.storage.relation import RelationVersion

if TYPE_CHECKING:
    from lftj.engine import Engine


@dataclass(frozen=True)
class Discrepancy:
    """A view that is not what it should be. `difference` holds the rows it lacks (`__diff__` +1) and has in excess (−1)."""

    relation: str
    difference: Result


def discrepancies(engine: Engine, state: State) -> list[Discrepancy]:
    """The views that differ from a fresh evaluation; empty when all is well. As expensive as computing every view from nothing."""
    program = state.program.stratified
    derived = frozenset(name for stratum in program.strata for name in stratum.relations)
    bare = {name: RelationVersion.empty(program.relations[name], engine.arena) for name in derived}
    empty = state.database.replace(bare)
    database = refresh(program, empty, empty, {}, {}, engine.context(state.aggregates), changed_rules=derived).database
    found = []
    for name in sorted(derived):
        delta = database[name].difference(state.database[name])
        if len(delta):
            schema = program.relations[name]
            found.append(Discrepancy(name, engine.change_set(state.version, schema, delta)))
    return found
