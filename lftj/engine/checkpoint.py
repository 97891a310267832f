"""A committed version as a record that names pages: rows, views and all that they are maintained
with. Opening a record evaluates nothing and reads no page.

Base rows and the program are in a form that later versions of lftj read. What views are maintained
with is of the version that wrote it (`stored_format`): another one derives the views from the base
rows, once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lftj.engine.ahead import compile_for
from lftj.engine.commit import Proposal, carry_out
from lftj.engine.state import State
from lftj.frames.whole_files import sync_folder
from lftj.heads.importable import aggregates_at, paths_of
from lftj.maintenance.rules.view_states import ViewStates
from lftj.maintenance.stored.stored_statistics import statistics_data, statistics_of
from lftj.maintenance.stored.stored_views import views_data, views_of
from lftj.program.description import described, restored
from lftj.program.normal_form import RelationSchema
from lftj.program.program import Program
from lftj.storage.database import Database, base_name
from lftj.storage.durable.stored_format import stored_format
from lftj.storage.durable.stored_pages import StoredPages, segment_data, segment_of
from lftj.storage.durable.stored_strings import StoredStrings
from lftj.storage.durable.stored_trees import (
    OpenedTrees,
    StoredTrees,
    relation_data,
    relation_of,
)
from lftj.tuning import DEFAULT, Tuning
from lftj.types.sources import Role, read_name, without_role

if TYPE_CHECKING:
    from lftj.engine.engine import Engine

Record = dict[str, Any]
LAYERS = ("engine",)
"""Floors that have a say in what is stored, beside those of all stored states."""
_OWNER = "pages"
_GROWTH = 2
"""Words of all pages written, over those that one version has, from which all are written again."""
_SPARE = 1 << 15
"""Words beyond, for versions of few pages."""


# ── the program ───────────────────────────────────────────────────────────────────────────────────
def program_text(state: State, tuning: Tuning) -> str:
    """The program of a state as text, with views, aggregates and tuning. Raises DurableError (E357)
    for an aggregate that cannot be found again.
    """
    about = described(state.program, state.views)
    paths = paths_of(state.aggregates)
    return json.dumps({**about, "paths": paths, "tuning": dict(tuning.others())}, default=sorted)


def adopt_tuning(engine: Engine, text: str) -> None:
    """Have an engine use the tuning of a `program_text`, unless it was given one. Fields that this
    version does not have are left out.
    """
    if engine.tuning == DEFAULT:
        known = {field.name for field in fields(Tuning)}
        stored = json.loads(text)["tuning"].items()
        engine.tuning = Tuning(**{name: value for name, value in stored if name in known})
        engine.statistics.tuning = engine.tuning


def with_program(state: State, text: str) -> State:
    """A state with another program, whose kernels are compiled, and rows that are still those of
    the one before. Raises DurableError (E357), or LookupError, TypeError, ValueError for what is no
    program.
    """
    about = json.loads(text)
    aggregates = aggregates_at(about["paths"])
    program, views = restored(about, state.program)
    compile_for(program.catalog.relations.values(), program.order.strata)
    return replace(state, program=program, views=views, aggregates=aggregates)


# ── writing ───────────────────────────────────────────────────────────────────────────────────────
def written(
    engine: Engine,
    state: State,
    text: str,
    pages: StoredPages,
    strings: StoredStrings,
    *,
    anew: bool = False,
) -> Record:
    """Write what is new of a state's pages and strings, with `anew` all pages; the record that
    tells them. `text`: its `program_text`. Any thread may do it while others commit. Raises
    OSError, MemoryError or FileDamagedError.
    """
    trees = StoredTrees()
    record = {
        "format": stored_format(*LAYERS),
        "program": text,
        "version": state.version,
        "relations": {
            name: relation_data(relation, trees) for name, relation in state.database.items()
        },
        **views_data(state.heads, list(state.program.rules), trees),
        "statistics": statistics_data(engine.statistics),
        "upkeep": {name: list(map(list, each)) for name, each in [*engine.kept_orders.items()]},
    }
    record["strings"] = strings.written(pages.folder)
    roots = trees.roots(shared=False)
    if not anew:
        pages.append(_OWNER, roots)
        segments = pages.needed(data[0] for data in trees.written())
        full = pages.overgrown(_OWNER, segments, growth=_GROWTH, spare=_SPARE)
        anew = full or not pages.there(segments)
    if anew:
        pages.rewrite(_OWNER, roots)
    record["trees"] = trees.written()
    needed = pages.needed(data[0] for data in record["trees"])
    record["segments"] = list(map(segment_data, needed))
    record["full"] = pages.full[_OWNER]
    pages.check()
    sync_folder(pages.folder)
    return record


# ── opening ───────────────────────────────────────────────────────────────────────────────────────
def opened(engine: Engine, record: Record, pages: StoredPages, strings: StoredStrings) -> State:
    """The state as it was. O(record): pages are read when someone looks at them. The dictionary is
    empty before.

    Raises DurableError (E357), or OSError, MemoryError, LookupError, TypeError, ValueError or
    FileDamagedError where it cannot be had.
    """
    adopt_tuning(engine, record["program"])
    chain = [(file, count) for file, count in record["strings"]]
    _require_names(file for file, _ in chain)
    strings.take(pages.folder, chain)
    state = state_of(engine, engine.state, record, pages)
    if record["format"] == stored_format(*LAYERS):
        engine.statistics = statistics_of(record["statistics"], engine.tuning)
        for text, orders in record["upkeep"].items():
            engine.kept_orders[read_name(text)] = set(map(tuple, orders))
    return state


def state_of(engine: Engine, before: State, record: Record, pages: StoredPages) -> State:
    """The state of a record, whose strings the dictionary has. `before`: another one, some rules of
    which it may have. O(record). Raises as `opened`.
    """
    state = with_program(before, record["program"])
    segments = list(map(segment_of, record["segments"]))
    _require_names(segment.name for segment in segments)
    roots = pages.opened(segments, [data[0] for data in record["trees"]])
    trees = OpenedTrees(engine.arena, record["trees"], roots)
    pages.full.setdefault(_OWNER, record["full"])
    if record["format"] != stored_format(*LAYERS):
        return _derived(engine, state, record, trees)
    stored = {read_name(text): data for text, data in record["relations"].items()}
    schemas = _schemas(state.program, stored)
    relations = {name: relation_of(data, schemas[name], trees) for name, data in stored.items()}
    states = views_of(
        record,
        relations,
        list(state.program.rules),
        schemas,
        engine.dictionary,
        trees,
        state.aggregates,
    )
    database = Database(relations, record["version"])
    return replace(state, database=database, heads=ViewStates.of(states))


def _require_names(names: Iterable[str]) -> None:
    """Raise ValueError for a name that leads out of the folder."""
    if any(Path(name).name != name for name in names):
        raise ValueError("a file outside the folder is named")


def _schemas(program: Program, names: Mapping[str, Any]) -> dict[str, RelationSchema]:
    """The schemas of a database's relations, those of base rows included."""
    known = program.stratified.relations
    return {
        name: known[name]
        if name in known
        else replace(known[without_role(name, Role.BASE)], name=name)
        for name in names
    }


def _derived(engine: Engine, state: State, record: Record, trees: OpenedTrees) -> State:
    """The base rows of a record, and views derived from them."""
    program, stored = state.program, record["relations"]
    bare = Program(replace(program.catalog, derivations={}, fact_relations=frozenset()))
    relations = {}
    for name, schema in program.catalog.relations.items():
        own = base_name(name) if base_name(name) in stored else name
        relations[name] = relation_of(stored[own], schema, trees)
    before = State(bare, Database(relations, record["version"]))
    proposal = Proposal(
        program, state.views, state.aggregates, program.revised_since(bare), staged={}
    )
    made = carry_out(before, proposal, engine.context(state.aggregates)).state
    return replace(made, database=made.database.replace({}, version=record["version"]))
