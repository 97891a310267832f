# SPDX-License-Identifier: Apache-2.0
"""Payloads that go to one place together, so that what they have in common is sent once.

Tasks of a step differ in the number of their part, and in little else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

_PLAIN = (str, int)
"""Types whose equal values are the same on the other side."""


@dataclass(frozen=True)
class Bundle:
    """Objects of a dataclass: the fields that all of them share, and of the others a value for
    each object. Iterates the objects.
    """

    kind: type
    common: Mapping[str, Any]
    own: Mapping[str, Sequence[Any]]

    def __iter__(self) -> Iterator[Any]:
        for values in zip(*self.own.values(), strict=True):
            yield self.kind(**self.common, **dict(zip(self.own, values, strict=True)))


def bundled(payloads: Sequence[Any]) -> Bundle | list[Any]:
    """The payloads as a bundle, where they are objects of one dataclass; else as they are."""
    kind = type(payloads[0])
    names = _fields(kind)
    if len(payloads) == 1 or not names or any(type(each) is not kind for each in payloads):
        return list(payloads)
    columns = {name: [getattr(each, name) for each in payloads] for name in names}
    own = {name: column for name, column in columns.items() if not _same(column)}
    common = {name: column[0] for name, column in columns.items() if name not in own}
    return Bundle(kind, common, own) if own else list(payloads)


def _fields(kind: type) -> tuple[str, ...]:
    """The names of a dataclass's fields, if they are all there is to its objects."""
    if not is_dataclass(kind) or not all(field.init for field in fields(kind)):
        return ()
    return tuple(field.name for field in fields(kind))


def _same(column: Sequence[Any]) -> bool:
    """Test for one value in all places: the same object, or equal text or whole numbers."""
    first = column[0]
    plain = type(first) in _PLAIN
    return all(
        value is first or (plain and type(value) is type(first) and value == first)
        for value in column
    )
