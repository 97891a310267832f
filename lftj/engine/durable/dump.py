# SPDX-License-Identifier: Apache-2.0
"""A workspace as a folder of Parquet files and rule text, and back: what outlives any format.

`rules.dl` has types and rules as written, `relations.json` the declarations, `rows/NAME.parquet`
the rows of each relation that are not derived.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lftj.errors import DurableError, FrameError
from lftj.heads.importable import aggregates_at, paths_of
from lftj.heads.user import UserAggregate
from lftj.program.declaration import type_clauses
from lftj.program.description import (
    function_data,
    function_signature_of,
    relation_data,
    relation_schema_of,
)
from lftj.program.named_program import program_data
from lftj.program.normal_form import RelationSchema
from lftj.program.program import Program
from lftj.program.schema import FunctionSignature

if TYPE_CHECKING:
    from lftj.engine.live.engine import Engine
    from lftj.engine.versions.result import Result
    from lftj.engine.versions.state import State

RULES, RELATIONS, ROWS = "rules.dl", "relations.json", "rows"
FORMAT = 1


class Contents(NamedTuple):
    """All of a workspace but rows: schemas with a mark for views, aggregates, rule text."""

    relations: list[tuple[RelationSchema, bool]]
    aggregates: Mapping[str, UserAggregate]
    rules: str
    programs: Mapping[str, Any]
    """Programs by name, whose rules are told by their places among all."""
    functions: list[FunctionSignature]
    """Functions of users; their results are not dumped."""


def dump(engine: Engine, folder: Path) -> Iterator[tuple[str, int | DurableError]]:
    """Write the committed state to an empty folder; yields each relation with its number of rows,
    or the error that kept it from being read. Raises FrameError (E232) where the folder is not
    empty or cannot be written.
    """
    state = engine.state
    contents = contents_of(state)
    try:
        (folder / ROWS).mkdir(parents=True)
        (folder / RULES).write_text(contents.rules, encoding="utf-8")
        about: dict[str, Any] = {
            "format": FORMAT,
            "version": state.version,
            "relations": [relation_data(schema, view=view) for schema, view in contents.relations],
            "aggregates": paths_of(contents.aggregates),
        }
        if contents.functions:
            about["functions"] = list(map(function_data, contents.functions))
        if contents.programs:
            about["programs"] = contents.programs
        (folder / RELATIONS).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    except OSError as reason:
        raise FrameError(
            f"{folder} cannot be written: {reason.strerror}",
            code="E232",
            hint="name a folder that is not there yet",
        ) from None
    for name, rows in own_rows(engine, state):
        yield name, _dump_rows(rows, folder / ROWS / f"{name}.parquet")


def contents_of(state: State) -> Contents:
    """All of a state but rows."""
    program = state.program
    catalog = program.catalog
    clauses = [*type_clauses(catalog), *(source.rule for source in program.sources.values())]
    return Contents(
        [(schema, schema.name in state.views) for schema in catalog.relations.values()],
        state.aggregates,
        "".join(f"{clause}\n" for clause in clauses),
        _programs(program),
        list(catalog.functions.values()),
    )


def own_rows(engine: Engine, state: State) -> Iterator[tuple[str, Result]]:
    """Yield each relation that has rows which are not derived, with these."""
    for name, schema in state.program.catalog.relations.items():
        base = state.base(name)
        if base.count and not (state.program.derives(name) and base is state.database[name]):
            yield name, engine.base_result(state, schema)


def _programs(program: Program) -> dict[str, Any]:
    """Programs by name."""
    catalog, places = program.catalog, {n: place for place, n in enumerate(program.sources)}
    return {
        name: program_data(each.renumbered(places.__getitem__), catalog.relations)
        for name, each in catalog.programs.items()
    }


def _dump_rows(rows: Result, file: Path) -> int | DurableError:
    try:
        rows.write_parquet(file)
    except DurableError as error:
        return error
    return len(rows)


def dumped(folder: Path) -> tuple[Contents, dict[str, Path]]:
    """A dump that was written by `dump`, and its files of rows. Raises FrameError (E232), or
    DurableError (E352, E357).
    """
    try:
        about: dict[str, Any] = json.loads((folder / RELATIONS).read_text(encoding="utf-8"))
        if about["format"] > FORMAT:
            raise DurableError(
                f"{folder} has format {about['format']}, this version reads up to {FORMAT}",
                code="E352",
                hint="load it with the version of lftj that dumped it, or a later one",
            )
        relations = [(relation_schema_of(each), each["view"]) for each in about["relations"]]
        files = {schema.name: folder / ROWS / f"{schema.name}.parquet" for schema, _ in relations}
        contents = Contents(
            relations,
            aggregates_at(about["aggregates"]),
            (folder / RULES).read_text(encoding="utf-8"),
            about.get("programs", {}),
            list(map(function_signature_of, about.get("functions", ()))),
        )
        return contents, {name: file for name, file in files.items() if file.exists()}
    except DurableError:
        raise
    except (OSError, ValueError, LookupError, TypeError) as reason:
        raise FrameError(
            f"{folder} is no dump of a workspace: {reason}",
            code="E232",
            hint="name a folder that `lftj dump PATH FOLDER` wrote",
        ) from None
