# SPDX-License-Identifier: Apache-2.0
"""Dataclasses that are made fast: frozen ones and others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from functools import wraps
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, TypeVar, dataclass_transform, overload

_Class = TypeVar("_Class", bound=type)
_Value = TypeVar("_Value")
_Found = TypeVar("_Found")


@overload
def frozen(cls: _Class, /) -> _Class: ...
@overload
def frozen(
    *, slots: bool = False, eq: bool = True, kw_only: bool = False, guarded: bool = False
) -> Callable[[_Class], _Class]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(
    cls: Any = None,
    /,
    *,
    slots: bool = False,
    eq: bool = True,
    kw_only: bool = False,
    guarded: bool = False,
) -> Any:
    """`dataclass(frozen=True)`, made in a tenth of the time. Compares, hashes, prints, pickles and
    copies as a dataclass does.

    A dataclass compiles each of six methods from text, which costs 0.7 ms a class and was a quarter
    of the start of a process. Here `__init__` is compiled when the first object is made; the other
    methods are shared. It is the type checker that refuses to set a field, not the object; with
    `guarded`, as for classes whose objects a user holds, both do. A guarded class has no slots.
    """

    def made(cls: type) -> type:
        return _made(cls, slots=slots, eq=eq, hashed=eq, kw_only=kw_only, guarded=guarded)

    return made if cls is None else made(cls)


@overload
def record(cls: _Class, /) -> _Class: ...
@overload
def record(*, slots: bool = False, eq: bool = True) -> Callable[[_Class], _Class]: ...
@dataclass_transform(field_specifiers=(field,))
def record(cls: Any = None, /, *, slots: bool = False, eq: bool = True) -> Any:
    """`dataclass` for fields that may be set, made as fast as `frozen`."""

    def made(cls: type) -> type:
        return _made(cls, slots=slots, eq=eq, hashed=False, kw_only=False, guarded=False)

    return made if cls is None else made(cls)


def found_once(find: Callable[[_Value], _Found]) -> Callable[[_Value], _Found]:
    """Decorate a function of one frozen object without slots that every commit asks: what it finds
    is kept with the object.
    """
    name = f"{find.__module__}.{find.__qualname__}"

    @wraps(find)
    def known(value: _Value) -> _Found:
        kept = value.__dict__
        if name not in kept:
            kept[name] = find(value)
        return kept[name]

    return known


def _made(cls: type, *, slots: bool, eq: bool, hashed: bool, kw_only: bool, guarded: bool) -> type:
    made = dataclass(init=False, eq=False, repr=False, slots=slots, kw_only=kw_only)(cls)
    own = made.__dict__
    if "__init__" not in own:
        made.__init__ = _first_init(made)
    if "__repr__" not in own:
        made.__repr__ = _repr
    if eq:
        made._compared = _values([each.name for each in _fields(made) if each.compare])  # pyright: ignore[reportAttributeAccessIssue]
        if "__eq__" not in own:
            made.__eq__ = _equal
        if own.get("__hash__") is None:
            made.__hash__ = _hash if hashed else None  # type: ignore[assignment]
    if guarded:
        made.__setattr__, made.__delattr__ = _refuse_to_set, _refuse_to_delete
    return made


def _fields(cls: Any) -> tuple[Field[Any], ...]:
    return fields(cls)


def _first_init(cls: Any) -> Callable[..., None]:
    """An `__init__` that is compiled for the first object, and then takes this one's place."""

    def __init__(self: object, *values: Any, **named: Any) -> None:
        compiled = cls.__init__ = _compiled_init(cls)
        compiled(self, *values, **named)

    return __init__


def _compiled_init(cls: Any) -> Callable[..., None]:
    """The function whose parameters are the fields. `_of_x` stands for the default of a field `x`,
    or for what makes it.
    """
    known: dict[str, Any] = {"_missing": MISSING, "_set": object.__setattr__}
    positional, named, lines = ["self"], ["*"], ["pass"]
    for each in _fields(cls):
        name, makes = each.name, each.default_factory is not MISSING
        known[f"_of_{name}"] = each.default_factory if makes else each.default
        if each.init:
            default = "=_missing" if makes else "" if each.default is MISSING else f"=_of_{name}"
            (named if each.kw_only else positional).append(name + default)
        elif not makes:
            continue
        value = f"{name} if {name} is not _missing else _of_{name}()" if makes else name
        value = value if each.init else f"_of_{name}()"
        guarded = cls.__setattr__ is _refuse_to_set
        lines.append(f"_set(self, '{name}', {value})" if guarded else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = positional + (named if len(named) > 1 else [])
    exec("\n ".join([f"def __init__({', '.join(parameters)}):", *lines]), known)
    made = known["__init__"]
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    return made


def _refuse_to_set(self: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _values(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    if not names:
        return staticmethod(lambda self: ())
    only = attrgetter(*names)
    return staticmethod(lambda self: (only(self),))


def _equal(self: Any, other: Any) -> bool:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self._compared(self) == self._compared(other)


def _hash(self: Any) -> int:
    return hash(self._compared(self))


@recursive_repr("...")
def _repr(self: Any) -> str:
    shown = (each.name for each in _fields(self) if each.repr)
    given = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
    return f"{self.__class__.__qualname__}({given})"
