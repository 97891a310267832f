# SPDX-License-Identifier: Apache-2.0
"""Defaults of columns: what a row by name has in a column that it leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lftj.program.normal_form import RelationSchema
from lftj.syntax import tree
from lftj.types import Type, code_of, decode_scalar


def with_defaults(schema: RelationSchema, defaults: Mapping[str, object]) -> RelationSchema:
    """The schema with these defaults of its columns, and no others; None is no default."""
    found = tuple(
        (name, value) for name, _ in schema.columns if (value := defaults.get(name)) is not None
    )
    return replace(schema, defaults=found) if found or schema.defaults else schema


def with_default(schema: RelationSchema, column: str, value: object) -> RelationSchema:
    """The schema with another default of a column, None for none."""
    return with_defaults(schema, {**dict(schema.defaults), column: value})


def filled(known: RelationSchema, said: RelationSchema) -> RelationSchema:
    """A declaration with the defaults that are there, where it says none itself."""
    if not known.defaults:
        return said
    return with_defaults(said, {**dict(known.defaults), **dict(said.defaults)})


def default_term(schema: RelationSchema, column: str) -> tree.Constant | None:
    """The default of a column as a constant in text; None where there is none."""
    value: Any = dict(schema.defaults).get(column)
    return None if value is None else tree.Constant(value)


# ── as plain data ─────────────────────────────────────────────────────────────────────────────────
def default_data(type: Type, value: Any) -> int | str | None:
    """A default as data that JSON can write: strings as they are, else the code."""
    return value if value is None or isinstance(value, str) else code_of(type, value)


def default_of(type: Type, data: Any) -> object:
    """The default again."""
    return data if data is None or isinstance(data, str) else decode_scalar(type, data, _NO_STRINGS)


class _NoStrings:
    """Strings are told as they are."""

    def decode_one(self, code: int) -> str:
        raise LookupError(f"no string has the code {code} here")


_NO_STRINGS = _NoStrings()
