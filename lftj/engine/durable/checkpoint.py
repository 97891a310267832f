# SPDX-License-Identifier: Apache-2.0
"""A committed version as a record that names pages: rows, views and all that they are maintained
with. Opening a record evaluates nothing and reads no page.

Base rows and the program are in a form that later versions of lftj read. What views are maintained
with is of the version that wrote it (`stored_format`): another one derives the views from the base
rows, once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lftj.engine.commit.commit import Proposal, carry_out
from lftj.engine.commit.demanded_views import apart_in
from lftj.engine.durable.branch_tips import Kept, Tip
from lftj.engine.machine_code.compiled_ahead import compile_for
from lftj.engine.versions.ancestry import MAIN, Ancestry
from lftj.engine.versions.noted_work import Spent
from lftj.engine.versions.state import State
from lftj.frames.whole_files import sync_folder
from lftj.heads.importable import aggregates_at, paths_of, require_paths
from lftj.program.description import described, restored
from lftj.program.normal_form import RelationSchema
from lftj.program.program import Program
from lftj.storage.database import Database, base_name
from lftj.storage.durable.log_branches import Line
from lftj.storage.durable.row_files import ROWS, all_rows
from lftj.storage.durable.stored_format import stored_format
from lftj.storage.durable.stored_pages import StoredPages, segment_data, segment_of
from lftj.storage.durable.stored_strings import StoredStrings, chain_of
from lftj.storage.durable.stored_trees import (
    OpenedTrees,
    StoredTrees,
    relation_data,
    relation_of,
)
from lftj.storage.relation import RelationVersion
from lftj.tuning import DEFAULT, Tuning
from lftj.types.sources import Role, read_name, without_role
from lftj.views.stored.stored_statistics import statistics_data, statistics_of
from lftj.views.stored.stored_views import views_data, views_of

if TYPE_CHECKING:
    from lftj.engine.live.engine import Engine

Record = dict[str, Any]
_Files = Sequence[tuple[str, Sequence[int]]]
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
    for an aggregate or a function that cannot be found again.
    """
    about = described(state.program, state.views)
    require_paths(state.program.catalog.functions.values())
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
    kept: Kept,
    engines: Mapping[str, Engine],
    pages: StoredPages,
    strings: StoredStrings,
    *,
    anew: bool = False,
) -> Record:
    """Write what is new of the pages and strings of all branches, with `anew` all pages; the record
    that tells them. Any thread may do it while others commit. Raises OSError, MemoryError or
    FileDamagedError.
    """
    writer = _RecordWriter(engines, kept)
    record = writer.record()
    record["strings"] = strings.written(pages.folder)
    trees = writer.trees
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


def forget_written(kept: Kept, engines: Mapping[str, Engine], pages: StoredPages) -> None:
    """Have no page of these branches be written: the next records write them anew."""
    writer = _RecordWriter(engines, kept)
    writer.record()
    pages.forget(_OWNER, writer.trees.roots(shared=False))


def words_of_pages(pages: StoredPages) -> int:
    """Words that the pages of one version took when all were written last."""
    return pages.full.get(_OWNER, 0)


class _RecordWriter:
    """Makes the record of all branches; each program is in it once."""

    def __init__(self, engines: Mapping[str, Engine], kept: Kept):
        self.trees = StoredTrees()
        self._engines, self._kept = engines, kept
        self._texts: list[str] = []
        self._numbers = {id(tip.state.program): tip.text for tip in kept.tips.values()}

    def record(self) -> Record:
        main, ancestry = self._kept.tips[0], self._kept.ancestry
        record = {
            "format": stored_format(*LAYERS),
            "program": main.text,
            **self._state(main),
        }
        branches = [self._branch(tip) for tip in self._kept.tips.values() if tip.number]
        if not branches:
            return record
        forks = {name: self._base(state) for name, state in ancestry.forks.items()}
        merges = [[*pair, self._base(state)] for pair, state in ancestry.merges.items()]
        return {
            **record,
            "branches": branches,
            "parents": dict(ancestry.parents),
            "forks": forks,
            "merges": merges,
            "programs": self._texts,
        }

    def _branch(self, tip: Tip) -> Record:
        return {
            "name": tip.name,
            "number": tip.number,
            "line": list(map(list, tip.line)),
            "program": self._program(tip.text),
            **self._state(tip),
        }

    def _state(self, tip: Tip) -> Record:
        state, engine = tip.state, self._engines.get(tip.name, self._engines[MAIN])
        orders = [*engine.resources.kept_orders.items()]
        return {
            **self._rows(state),
            **views_data(state.view_states, list(state.program.rules), self.trees),
            "statistics": statistics_data(engine.statistics),
            "upkeep": {name: list(map(list, each)) for name, each in orders},
            "works": engine.spent.data(),
        }

    def _rows(self, state: State) -> Record:
        relations = state.database.items()
        return {
            "version": state.version,
            "relations": {name: relation_data(each, self.trees) for name, each in relations},
        }

    def _base(self, state: State) -> Record:
        text = self._numbers.get(id(state.program))
        if text is None:
            tuning = self._engines[MAIN].tuning
            text = self._numbers[id(state.program)] = program_text(state, tuning)
        return {"program": self._program(text), **self._rows(state)}

    def _program(self, text: str) -> int:
        if text not in self._texts:
            self._texts.append(text)
        return self._texts.index(text)


def record_of_files(version: int, text: str, relations: Mapping[str, _Files]) -> Record:
    """The record of a version whose rows are in files of their own, as parts left them; each with
    the sums of its batches. Nothing that views are maintained with is stored.
    """
    nothing = {"segments": [], "trees": [], "strings": [], "full": 0}
    return {
        "format": ROWS,
        "program": text,
        "version": version,
        "relations": dict(relations),
        **nothing,
    }


# ── opening ───────────────────────────────────────────────────────────────────────────────────────
def take_strings(record: Record, pages: StoredPages, strings: StoredStrings) -> None:
    """Have the dictionary, which is empty, begin with the strings of a record. Raises OSError,
    MemoryError, ValueError, TypeError or FileDamagedError.
    """
    chain = chain_of(record["strings"])
    _require_names(file for file, _ in chain)
    if not strings.take(pages.folder, chain):
        raise ValueError("strings came before those of the record")


class OpenedRecord:
    """A record whose pages are mapped, and whose strings the dictionary has. O(record): pages are
    read when someone looks at them.

    Raises DurableError (E357), or OSError, MemoryError, LookupError, TypeError, ValueError or
    FileDamagedError where it cannot be had.
    """

    def __init__(self, engine: Engine, record: Record, pages: StoredPages):
        segments = list(map(segment_of, record["segments"]))
        _require_names(segment.name for segment in segments)
        roots = pages.opened(segments, [data[0] for data in record["trees"]])
        self._trees = OpenedTrees(engine.arena, record["trees"], roots)
        pages.full.setdefault(_OWNER, record["full"])
        self._engine, self._record = engine, record
        self._folder = pages.folder.parent / ROWS if record["format"] == ROWS else None
        self._states: dict[str, State] = {}
        self._known = engine.state

    @property
    def ours(self) -> bool:
        """True where this version of lftj wrote what views are maintained with."""
        return self._record["format"] == stored_format(*LAYERS)

    def tip(self, line: Line) -> Tip:
        """The branch of a line, or the one above it that was there."""
        branches = {each["number"]: each for each in self._record.get("branches", ())}
        number = next(each for each, _ in line if each in branches or not each)
        return self._tip(branches[number]) if number else self._main()

    def tips(self) -> dict[int, Tip]:
        """All branches by number, main first."""
        branches = map(self._tip, self._record.get("branches", ()))
        return {0: self._main(), **{tip.number: tip for tip in branches}}

    def ancestry(self) -> Ancestry:
        """The ancestry of all branches."""
        record = self._record
        if "branches" not in record:
            return Ancestry()
        return Ancestry(
            record["parents"],
            {name: self._base(data) for name, data in record["forks"].items()},
            {(one, other): self._base(data) for one, other, data in record["merges"]},
        )

    def adopt(self, engine: Engine, number: int) -> None:
        """Have an engine use the samples and key orders of a branch again."""
        if not self.ours:
            return
        parts = (self._record, *self._record.get("branches", ()))
        data = next(each for each in parts if each.get("number", 0) == number)
        engine.statistics = statistics_of(data["statistics"], engine.tuning)
        engine.spent = Spent(data.get("works", ()), data["version"])
        for text, orders in data["upkeep"].items():
            engine.resources.kept_orders[read_name(text)] = set(map(tuple, orders))

    def _main(self) -> Tip:
        text = self._record["program"]
        return Tip(self._state(self._record, text), text)

    def _tip(self, data: Record) -> Tip:
        text = self._record["programs"][data["program"]]
        line = tuple((branch, last) for branch, last in data["line"])
        return Tip(self._state(data, text), text, data["name"], data["number"], line)

    def _program(self, text: str) -> State:
        if text not in self._states:
            self._states[text] = self._known = with_program(self._known, text)
        return self._states[text]

    def _base(self, data: Record) -> State:
        state = self._program(self._record["programs"][data["program"]])
        schemas = state.program.catalog.relations
        relations = {
            name: relation_of(each, schemas[name], self._trees)
            for name, each in data["relations"].items()
        }
        return replace(state, database=Database(relations, data["version"]))

    def _state(self, data: Record, text: str) -> State:
        state = self._program(text)
        if not self.ours:
            return _derived(self._engine, state, data, self._trees, self._folder)
        stored = {read_name(name): each for name, each in data["relations"].items()}
        schemas = _schemas(state.program, stored)
        relations = {
            name: relation_of(each, schemas[name], self._trees) for name, each in stored.items()
        }
        states = views_of(
            data,
            relations,
            list(state.program.rules),
            schemas,
            self._engine.dictionary,
            self._trees,
            state.aggregates,
            apart_in(state.program),
        )
        database = Database(relations, data["version"])
        return replace(state, database=database, view_states=states)


def _require_names(names: Iterable[str]) -> None:
    """Raise ValueError for a name that leads out of the folder."""
    if any(Path(name).name != name for name in names):
        raise ValueError("a file outside the folder is named")


def _schemas(program: Program, names: Mapping[str, Any]) -> dict[str, RelationSchema]:
    """The schemas of a database's relations, those of base rows included."""
    known = {**program.stratified.relations, **program.catalog.kept}
    return {
        name: known[name]
        if name in known
        else replace(known[without_role(name, Role.BASE)], name=name)
        for name in names
    }


def _derived(
    engine: Engine, state: State, record: Record, trees: OpenedTrees, folder: Path | None
) -> State:
    """The base rows of a record, which may be those of files in a folder, and views derived from
    them.
    """
    program, stored = state.program, record["relations"]
    # without choice domains, too: rows of a relation that has one are those that it chooses from
    schemas = program.catalog.relations
    plain = {name: replace(schema, choice=()) for name, schema in schemas.items()}
    chosen = {name for name, schema in schemas.items() if schema.choice}
    bare = Program(
        replace(program.catalog, relations=plain, derivations={}, fact_relations=frozenset())
    )
    relations = {}
    for name, schema in program.catalog.kept.items():
        own = base_name(name) if base_name(name) in stored else name
        if folder is not None:
            rows = all_rows(folder, stored[own], schema, engine.dictionary)
            relations[name] = RelationVersion.build(schema, engine.arena, rows)
        else:
            relations[name] = relation_of(stored[own], schema, trees)
    before = State(bare, Database(relations, record["version"]))
    revised = program.revised_since(bare) | chosen
    proposal = Proposal(program, state.views, state.aggregates, revised, staged={})
    made = carry_out(before, proposal, engine.context(state.aggregates)).state
    return replace(made, database=made.database.replace({}, version=record["version"]))
