# SPDX-License-Identifier: Apache-2.0
"""A change of one relation as an Arrow table: a sign before the values of each row, +1 where it
came and −1 where it went. Values are values, not codes, so each reader codes them with a dictionary
of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa

from lftj import frames
from lftj.program.normal_form import RelationSchema
from lftj.storage.delta import Columns, Delta
from lftj.types import Type
from lftj.types.arrow_arrays import arrow_array, numpy_array
from lftj.types.arrow_validity import require_valid
from lftj.types.dictionary import Dictionary
from lftj.types.texts import Texts

SIGN = "#"
"""The name of the column of signs, which no user can choose."""


@lru_cache(maxsize=1024)
def signed_schema(columns: tuple[tuple[str, Type], ...]) -> pa.Schema:
    """The Arrow schema of changes to a relation of these columns."""
    return pa.schema([(SIGN, pa.int8()), *((name, type.arrow) for name, type in columns)])


def signed_table(
    schema: RelationSchema, columns: Sequence[np.ndarray], signs: np.ndarray, texts: Texts
) -> pa.Table:
    """Rows of a relation with their signs, in one chunk."""
    values = [
        frames.decode_column(type, codes, texts)
        for (_, type), codes in zip(schema.columns, columns, strict=False)
    ]
    arrays = [arrow_array(signs.astype(np.int8)), *values]
    return pa.Table.from_arrays(arrays, schema=signed_schema(schema.columns)).combine_chunks()


def coded_rows(
    table: pa.Table, schema: RelationSchema, dictionary: Dictionary
) -> tuple[Columns, np.ndarray]:
    """Rows as codes, and their signs. Raises ValueError where the table has other columns, or
    damaged ones.
    """
    if not table.schema.equals(signed_schema(schema.columns)):
        raise ValueError("its columns are others")
    require_valid(table.column(SIGN))
    signs = numpy_array(table.column(SIGN))
    if not schema.arity:
        return [np.zeros(len(signs), np.int64)], signs
    frame = frames.read(table.drop_columns([SIGN]), schema.columns, dictionary=dictionary)
    return frame.columns, signs


def change_of(columns: Columns, signs: np.ndarray) -> Delta:
    """A change where a row that went and came is one that came. O(n log n)."""
    came = signs > 0
    if came.all():
        return Delta.insertion(columns)
    gone = Delta.deletion([column[~came] for column in columns])
    return gone.then(Delta.insertion([column[came] for column in columns]))
