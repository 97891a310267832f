# SPDX-License-Identifier: Apache-2.0
"""Row that a recursion found last, for the error of a limit that ends it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lftj.errors import LimitError
from lftj.join.context import Context
from lftj.program.normal_form import RelationSchema
from lftj.syntax.constants import print_constant
from lftj.types import decode_scalar
from lftj.types.sources import lineage

_SHOWN = 40
"""Characters of a value that a message shows."""


def note_last(
    error: LimitError, rows: Iterable[tuple[RelationSchema, Sequence[int]]], context: Context
) -> None:
    """Have the error show the first of these rows, as codes, whose relation users know."""
    found = next((each for each in rows if not each[0].hidden), None)
    if found is None or error.last is not None:
        return
    schema, codes = found
    values = [
        print_constant(decode_scalar(type, code, context.resources.dictionary))
        for (_, type), code in zip(schema.columns, codes, strict=False)
    ]
    cut = [each if len(each) <= _SHOWN else f"{each[:_SHOWN]}…" for each in values]
    *_, name = lineage(schema.name)
    error.last = f"{name}({', '.join(cut)})"
