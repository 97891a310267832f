# SPDX-License-Identifier: Apache-2.0
"""Assignment of a frame's columns to the columns of a relation."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from lftj.errors import FrameError
from lftj.errors.nearest import closest
from lftj.frames.coded_rows import CodedCarrier
from lftj.frames.frame import Carrier, Columns

ColumnMap = Mapping[str, Hashable]
"""Relation column → frame column, for those whose names differ."""


Defaults = Mapping[str, object]
"""Values of rows by name in columns that they leave out; optional columns that are not here have
NULL.
"""


def may_lack(columns: Columns, defaults: Defaults, mapping: ColumnMap | None) -> dict[str, object]:
    """Values of rows in columns that they may leave out: those with a default or NULL, but for
    those that `mapping` names.
    """
    return {
        name: defaults.get(name)
        for name, type in columns
        if (type.optional or name in defaults) and not (mapping and name in mapping)
    }


def match_columns(
    carrier: Carrier, columns: Columns, mapping: ColumnMap | None, defaults: Defaults
) -> list[int | None]:
    """Positions in the frame, one per column of the relation: by name, or by position where the
    frame has no names. None for a column that has a default, or NULL, and is not there.

    Without `mapping`, the frame must have no columns but the relation's, in any order; with it,
    other columns are left out. Raises FrameError (E230) that says what is missing, what is too
    much, and what was probably meant.
    """
    wanted = [name for name, _ in columns]
    found = carrier.names
    if isinstance(carrier, CodedCarrier):
        found = carrier.names_for(wanted, asked=mapping is not None)
    if found is None:
        _check_width(carrier, columns, defaults, mapping)
        return list(range(len(wanted)))
    names = list(found)
    _check_mapping({} if mapping is None else mapping, wanted)
    sources: list[Hashable] = [(mapping or {}).get(name, name) for name in wanted]
    lacking = may_lack(columns, defaults, mapping)
    missing = [source for source in sources if source not in names and source not in lacking]
    if missing:
        raise _missing(missing, names, sources, wanted, carrier)
    if doubled := [source for source in sources if names.count(source) > 1]:
        raise FrameError(
            f"{carrier.place.subject} has more than one column {_quoted(doubled)}",
            hint="give each column its own name",
        )
    extra = [name for name in names if name not in sources]
    if extra and mapping is None:
        pairs = ", ".join(f'"{name}": "{name}"' for name in wanted)
        hint = f"leave them out, or name the columns to take: columns={{{pairs}}}"
        raise FrameError(
            f"{carrier.place.subject} has columns that the relation lacks: {_quoted(extra)}",
            hint=hint,
        )
    return [names.index(source) if source in names else None for source in sources]


def suggestion(name: object, known: Sequence[object]) -> str | None:
    """The known name that `name` was probably meant to be, or None."""
    return closest(str(name), map(str, known))


def by_name_hint(width: int, columns: Columns, defaults: Defaults) -> str | None:
    """The remedy for rows of fewer values than columns, by position, where the last columns may be
    left out by name.
    """
    lacking = may_lack(columns, defaults, None)
    rest = [name for name, _ in columns[width:]]
    if not rest or width > len(columns) or any(name not in lacking for name in rest):
        return None
    has = ", ".join(f"{name} is {_shown(lacking[name])}" for name in rest)
    return f"give rows by name, as dicts or a frame: then what they leave out is filled ({has})"


def _shown(value: object) -> str:
    return "NULL" if value is None else repr(value)


def _check_width(
    carrier: Carrier, columns: Columns, defaults: Defaults, mapping: ColumnMap | None
) -> None:
    wanted = [name for name, _ in columns]
    if mapping is not None:
        raise FrameError(
            f"{carrier.place.subject} has no column names, so columns= cannot pick any",
            hint="leave columns= out",
        )
    if carrier.width != len(wanted):
        expected = f"{len(wanted)} ({', '.join(wanted)})"
        raise FrameError(
            f"{carrier.place.subject} has {carrier.width} columns, the relation has {expected}",
            hint=by_name_hint(carrier.width, columns, defaults),
        )


def _check_mapping(mapping: ColumnMap, wanted: list[str]) -> None:
    if not isinstance(mapping, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] -- not everybody runs a type checker
        raise FrameError(
            f"columns= is a dict, found {type(mapping).__name__}",
            hint='write columns={"relation column": "frame column"}',
        )
    if unknown := [name for name in mapping if name not in wanted]:
        hint = 'write columns={"relation column": "frame column"}'
        raise FrameError(
            f"columns= maps {_quoted(unknown)}, but the relation's columns are {_quoted(wanted)}",
            hint=hint,
        )


def _missing(
    missing: list[Hashable],
    names: list[Hashable],
    sources: list[Hashable],
    wanted: list[str],
    carrier: Carrier,
) -> FrameError:
    free = [name for name in names if name not in sources]
    meant = {name: suggestion(name, free) for name in missing}
    asked = [
        f'"{name}"' + (f' (did you mean "{meant[name]}"?)' if meant[name] else "")
        for name in missing
    ]
    plural = "s" if len(missing) > 1 else ""
    message = (
        f"{carrier.place.subject} has no column{plural} {', '.join(asked)}; it has "
        f"{_quoted(names) or 'none at all'}"
    )
    pairs = [f'"{wanted[sources.index(name)]}": "{meant[name] or "…"}"' for name in missing]
    hint = f"rename the column{plural}, or load with columns={{{', '.join(pairs)}}}"
    if all(name in sources for name in names):  # nothing is there that could be renamed
        hint = (
            f"a row is whole, so give {_quoted(missing)} too; optional columns, which become NULL, "
            "and those with a default may be left out"
        )
    if set(missing) & set(getattr(carrier, "index_names", ())):  # which a pandas frame has
        hint = "the frame has it as its index, which is not read: pass frame.reset_index()"
    if (
        carrier.place.is_file
        and len(names) == 1
        and (used := next((mark for mark in (";", "\t", "|", ",") if mark in str(names[0])), None))
    ):
        hint = (
            f"the fields seem to be separated by {used!r}: use commas in .csv files, tabs in .tsv "
            f'files, or load by position with facts={{"delimiter": {_in_json(used)}, "headers": '
            '"true", "rfc4180": "true"}'
        )
    return FrameError(message, hint=hint)


def _in_json(mark: str) -> str:
    return '"\\t"' if mark == "\t" else f'"{mark}"'


def _quoted(names: Sequence[object]) -> str:
    return ", ".join(f'"{name}"' for name in names)
