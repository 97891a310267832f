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
from lftj.program.declaration import declaration_of, definition_of
from lftj.program.description import (
    function_data,
    function_signature_of,
    relation_data,
    relation_schema_of,
)
from lftj.program.named_program import program_data
from lftj.program.normal_form import RelationSchema
from lftj.program.program import Program
from lftj.program.schema import Catalog, FunctionSignature
from lftj.syntax import tree

if TYPE_CHECKING:
    from lftj.engine.live.engine import Engine

RULES, RELATIONS, ROWS = "rules.dl", "relations.json", "rows"
FORMAT = 1


class Dumped(NamedTuple):
    """A dump: schemas with a mark for views, aggregates, rule text, and files of rows."""

    relations: list[tuple[RelationSchema, bool]]
    aggregates: Mapping[str, UserAggregate]
    rules: str
    rows: dict[str, Path]
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
    catalog = state.program.catalog
    try:
        (folder / ROWS).mkdir(parents=True)
        types = "".join(f"{clause}\n" for clause in _types(catalog))
        rules = "".join(f"{source.rule}\n" for source in state.program.sources.values())
        (folder / RULES).write_text(types + rules, encoding="utf-8")
        about = {
            "format": FORMAT,
            "version": state.version,
            "relations": [
                relation_data(schema, view=schema.name in state.views)
                for schema in catalog.relations.values()
            ],
            "aggregates": paths_of(state.aggregates),
            **_functions(catalog),
            **_programs(state.program),
        }
        (folder / RELATIONS).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    except OSError as reason:
        raise FrameError(
            f"{folder} cannot be written: {reason.strerror}",
            code="E232",
            hint="name a folder that is not there yet",
        ) from None
    for name, schema in catalog.relations.items():
        base = state.base(name)
        if base.count and not (state.program.derives(name) and base is state.database[name]):
            yield name, _dump_rows(engine, schema, folder / ROWS / f"{name}.parquet")


def _functions(catalog: Catalog) -> dict[str, Any]:
    """Functions of users; nothing where there are none."""
    functions = catalog.functions.values()
    return {"functions": list(map(function_data, functions))} if functions else {}


def _programs(program: Program) -> dict[str, Any]:
    """Programs by name; nothing where there are none."""
    catalog, places = program.catalog, {n: place for place, n in enumerate(program.sources)}
    return (
        {
            "programs": {
                name: program_data(each.renumbered(places.__getitem__), catalog.relations)
                for name, each in catalog.programs.items()
            }
        }
        if catalog.programs
        else {}
    )


def _types(catalog: Catalog) -> Iterator[tree.Clause]:
    """The types of a program, and its declarations where columns are of these."""
    for name in catalog.aliases:
        yield definition_of(catalog, name)
    for name, kinds in catalog.kinds.items():
        if not catalog.aliases.keys().isdisjoint(kinds):
            yield declaration_of(catalog, name)


def _dump_rows(engine: Engine, schema: RelationSchema, file: Path) -> int | DurableError:
    rows = engine.base_result(engine.state, schema)
    try:
        rows.write_parquet(file)
    except DurableError as error:
        return error
    return len(rows)


def dumped(folder: Path) -> Dumped:
    """A dump that was written by `dump`. Raises FrameError (E232), or DurableError (E352, E357)."""
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
        return Dumped(
            relations,
            aggregates_at(about["aggregates"]),
            (folder / RULES).read_text(encoding="utf-8"),
            {name: file for name, file in files.items() if file.exists()},
            about.get("programs", {}),
            list(map(function_signature_of, about.get("functions", ()))),
        )
    except DurableError:
        raise
    except (OSError, ValueError, LookupError, TypeError) as reason:
        raise FrameError(
            f"{folder} is no dump of a workspace: {reason}",
            code="E232",
            hint="name a folder that `lftj dump PATH FOLDER` wrote",
        ) from None
