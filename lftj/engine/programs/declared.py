# SPDX-License-Identifier: Apache-2.0
"""Declarations of relations in Python, checked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from lftj import frames
from lftj.errors import DeclarationError, LftjError, UnknownNameError
from lftj.program.defaults import default_of, with_defaults
from lftj.program.normal_form import CHANGE_COLUMNS, RelationSchema
from lftj.types import Type, code_of, type_of_python
from lftj.types.sources import is_reserved

ChoiceDomains = str | Sequence[str | Sequence[str]]
"""One column, or several domains, each a column or several."""


def checked_columns(columns: Mapping[str, object]) -> tuple[tuple[str, Type], ...]:
    """Names and types. Raises DeclarationError (E160, E161)."""
    # Not everybody runs a type checker, so what comes in is looked at.
    if not isinstance(columns, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        hint = 'write {"id": int, "country": str}'
        raise DeclarationError(
            f"columns are a dict of names and types, found {type(columns).__name__}", hint=hint
        )
    if wrong := [name for name in columns if not _names(name)]:
        raise DeclarationError(
            f"{wrong[0]!r} is not a name for a column", hint="use letters, digits and _"
        )
    if of_changes := [name for name, _ in CHANGE_COLUMNS if name in columns]:
        raise DeclarationError(
            f"`{of_changes[0]}` is a column of change sets",
            hint="choose another name for the column",
        )
    return tuple((name, type_of_python(annotation)) for name, annotation in columns.items())


def named_columns(columns: Any) -> Mapping[str, object]:
    """Names and types, as they are given or as data has them. Raises DeclarationError (E160,
    E161).
    """
    return columns if isinstance(columns, Mapping) else frames.columns_of(columns)  # pyright: ignore[reportUnknownVariableType]


def _names(name: object) -> bool:
    """Check that a column can have this name: in Arrow tables and files too, and no name of the
    engine's.
    """
    return (
        isinstance(name, str)
        and name != ""
        and not is_reserved(name)
        and not any("\ud800" <= each <= "\udfff" for each in name)
    )


def checked_key(
    name: str, columns: Mapping[str, object], key: str | Sequence[str] | None
) -> tuple[int, ...] | None:
    """Positions of the key columns. Raises UnknownNameError (E111)."""
    if key is None:
        return None
    return _positions(name, columns, key)


def checked_choice(
    name: str, columns: Mapping[str, object], choice: ChoiceDomains
) -> tuple[tuple[int, ...], ...]:
    """Positions of the columns of each choice domain. Raises UnknownNameError (E111)."""
    return tuple(sorted({_positions(name, columns, domain) for domain in _listed(choice)}))


def view_schema(name: str, columns: Mapping[str, object]) -> RelationSchema:
    """A relation as `ws.view` declares it."""
    return RelationSchema(name, checked_columns(columns))


def relation_schema(
    name: str,
    columns: Mapping[str, object],
    key: str | Sequence[str] | None,
    choice: ChoiceDomains = (),
    default: Mapping[str, object] | None = None,
) -> RelationSchema:
    """A relation as `ws.relation` declares it."""
    schema = RelationSchema(
        name,
        checked_columns(columns),
        checked_key(name, columns, key),
        choice=checked_choice(name, columns, choice),
    )
    return with_defaults(schema, _checked_defaults(schema, default or {}))


def _checked_defaults(schema: RelationSchema, defaults: Mapping[str, object]) -> dict[str, object]:
    """The defaults of columns as they are kept. Raises UnknownNameError (E111), and what
    `checked_default` raises.
    """
    types = dict(schema.columns)
    _positions(schema.name, types, list(defaults))
    return {
        name: checked_default(name, types[name], value)
        for name, value in defaults.items()
        if value is not None
    }


def checked_default(column: str, type: Type, value: object) -> object:
    """The default of a column as its rows would have it. Raises ValueTypeError, ValueRangeError or
    NullValueError.
    """
    try:
        if isinstance(value, str) and type.name == "str":
            return value
        return default_of(type, code_of(type, value))
    except LftjError as error:
        error.message += f", as the default of `{column}`"
        raise


def function_schema(name: str, arguments: Mapping[str, object], value: object) -> RelationSchema:
    """A function as `ws.function` declares it: a relation with one more column, which the arguments
    determine.

    Raises DeclarationError (E160, E161, E164).
    """
    checked = checked_columns(arguments)
    if any(argument == "value" for argument, _ in checked):
        hint = "give the argument another name: the column of the values is called so"
        raise DeclarationError(f"relation `{name}` has two columns `value`", code="E164", hint=hint)
    columns = (*checked, ("value", type_of_python(value)))
    return RelationSchema(name, columns, tuple(range(len(arguments))), functional=True)


def is_news(
    schema: RelationSchema,
    relations: Mapping[str, RelationSchema],
    views: Collection[str],
    *,
    view: bool,
) -> bool:
    """Test for a declaration that adds anything. Raises DeclarationError (E160) for a view declared
    as a relation, or the other way.
    """
    if relations.get(schema.name) != schema:
        return True
    if (schema.name in views) != view:
        kind = "relation" if view else "view"
        raise DeclarationError(
            f"`{schema.name}` is declared as a {kind} already",
            hint=f"write ws.{kind}({schema.name!r}, …) here too",
        )
    return False


def _positions(
    name: str, columns: Mapping[str, object], wanted: str | Sequence[str]
) -> tuple[int, ...]:
    names = _listed(wanted)
    known = list(columns)
    if unknown := [column for column in names if column not in known]:
        raise UnknownNameError(
            f"relation `{name}` has no column `{unknown[0]}`",
            code="E111",
            hint=f"its columns are {', '.join(known)}",
        )
    return tuple(sorted({known.index(column) for column in names}))


def _listed(wanted: Any) -> list[Any]:
    """Make a list of one item or several. A number is one item too, for the message that there is
    no such column.
    """
    return (
        list(wanted) if isinstance(wanted, Iterable) and not isinstance(wanted, str) else [wanted]
    )
