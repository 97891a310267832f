"""Frozen dataclasses that are made fast."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, TypeVar, dataclass_transform, overload

_Class = TypeVar("_Class", bound=type)


@overload
def frozen(cls: _Class, /) -> _Class: ...
@overload
def frozen(*, slots: bool = False, eq: bool = True) -> Callable[[_Class], _Class]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: Any = None, /, *, slots: bool = False, eq: bool = True) -> Any:
    """`dataclass(frozen=True)` for classes inside: the type checker refuses to set a field, not the
    object. Compares, hashes, prints, pickles and copies as a dataclass does.

    A dataclass compiles each of six methods from text, which costs 0.7 ms a class and was a quarter
    of the start of a process. This compiles `__init__`; the other methods are shared. Objects are
    made sooner, too. Classes whose objects a user holds stay true frozen dataclasses.
    """
    return (lambda cls: _made(cls, slots, eq)) if cls is None else _made(cls, slots, eq)


def _made(cls: type, slots: bool, eq: bool) -> type:
    made = dataclass(eq=False, repr=False, slots=slots)(cls)
    own, of_class = made.__dict__, fields(made)  # pyright: ignore[reportArgumentType]
    if "__repr__" not in own:
        made.__repr__ = _repr([each.name for each in of_class if each.repr])
    if eq:
        values = _values([each.name for each in of_class if each.compare])
        if "__eq__" not in own:
            made.__eq__ = _eq(values)
        if own.get("__hash__") is None:
            made.__hash__ = lambda self: hash(values(self))
    return made


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _eq(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, object], bool]:
    def equal(self: Any, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    return equal


def _repr(names: list[str]) -> Callable[[Any], str]:
    @recursive_repr("...")
    def shown(self: Any) -> str:
        given = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({given})"

    return shown
