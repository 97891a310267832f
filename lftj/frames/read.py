"""Any data a user may hold, to the coded columns of a relation."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from lftj.dictionary import Dictionary
from lftj.errors import FrameError
from lftj.frames.carriers import ArrowCarrier, carry_table
from lftj.frames.facts import Parameters, check_table_parameters, read_facts
from lftj.frames.files import carry_file, file_kind, is_table_file, local_path
from lftj.frames.frame import Carrier, Columns, Frame, NullPolicy, Place, Target, check_policy, settle
from lftj.frames.match import ColumnMap, match_columns
from lftj.frames.rows import carry_rows


def read(
    source: Any,
    columns: Columns,
    *,
    dictionary: Dictionary,
    nulls: NullPolicy = "error",
    mapping: ColumnMap | None = None,
    facts: Parameters | None = None,
    place: Place | None = None,
) -> Frame:
    """The rows of `source` as codes, one int64 array per column of the relation, in input order.

    `source`: tuples or lists (by position), a dict (one row) or dicts; an Arrow table, batch or reader; a pandas, Polars or Spark
    DataFrame, or anything else that offers an Arrow stream; a result (by position); a NumPy array of two dimensions (by position) or of
    named fields; a path to a `.csv .tsv .facts .parquet .arrow` file. Frames with names match by name and must have exactly the
    relation's columns; `mapping` (relation column → frame column) renames, and lets other columns be. `nulls`: "error" raises at the
    first NULL or NaN, "drop" leaves such rows out and counts them. `facts`: read the path or open file as Soufflé's facts, with these
    parameters of `.input` (`{}`: none), whatever its ending; Parquet and Arrow files stay what they are, and take none but the name.
    `place`: what messages call the source, where it is an Arrow table or batch that was a file's.

    Nothing is converted but integers to wider ones and timestamps to microseconds, where exact. Raises FrameError, FileMissingError,
    ArityError, NullValueError, ValueTypeError, ValueRangeError; each names row and column (and the line of a text file).
    Cost: one copy of the data for Arrow; about 30 ns a value for uniform tuples; 50 ns a field for text.
    """
    check_policy(nulls)
    is_path = isinstance(source, (str, os.PathLike))
    source = local_path(source) if is_path else source
    if facts is not None and is_path and is_table_file(source):
        check_table_parameters(facts, source)
        facts = None
    if facts is not None or (is_path and file_kind(source) == ".facts"):
        if mapping is not None:
            raise FrameError("a fact file has no column names, so columns= cannot pick any", hint='write facts={"columns": "0:2:1"}')
        if not is_path and not hasattr(source, "read"):
            raise FrameError(f"facts= is for files, found {type(source).__name__}", code="E231", hint="pass a path, or leave facts= out")
        return read_facts(source, columns, facts or {}, dictionary)
    carrier = carry_file(source) if is_path else None if type(source) is list else carry_table(source)
    if place is not None and isinstance(carrier, ArrowCarrier):
        carrier = replace(carrier, place=place)
    if carrier is None:
        if isinstance(source, bytes) or not isinstance(source, Iterable):
            hint = "pass rows as a list of tuples, a pandas, Polars, Arrow or Spark table, or the path of a file"
            raise FrameError(f"{type(source).__name__} holds no rows", code="E231", hint=hint)
        carrier = carry_rows(source, len(columns))
        if not carrier.rows:  # as many a change has none to insert, or none to delete
            return Frame([np.empty(0, np.int64) for _ in columns], 0)
    return _read_carrier(carrier, columns, dictionary, nulls, mapping)


def read_options(nulls: NullPolicy, columns: ColumnMap | None, facts: Parameters | None) -> dict[str, Any]:
    """The arguments of `read` that the options of a `load` stand for."""
    return {"nulls": nulls, "mapping": columns, "facts": facts}


def _read_carrier(carrier: Carrier, columns: Columns, dictionary: Dictionary, nulls: NullPolicy, mapping: ColumnMap | None) -> Frame:
    """Matches, codes and settles the columns of one carrier."""
    positions = match_columns(carrier, columns, mapping)
    targets = [Target(name, type, dictionary, carrier.place) for name, type in columns]
    coded = [carrier.code(position, target) for position, target in zip(positions, targets, strict=True)]
    return settle(coded, columns, carrier.rows, nulls, carrier.place)
