"""A frozen class behaves as a frozen dataclass does, but that only the type checker refuses to set
its fields where it is not guarded.
"""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pytest

from lftj.scantree.frozen import frozen, record


@frozen
class Point:
    x: int
    y: float = 0.0
    note: str = field(default="", compare=False, repr=False)
    inner: tuple[Any, ...] = ()

    @cached_property
    def total(self) -> float:
        return self.x + self.y


@frozen(slots=True)
class Slotted:
    x: int
    items: list[int] = field(default_factory=list[int])


@frozen
class Nothing:
    pass


@frozen
class One:
    value: float


@frozen(eq=False)
class Itself:
    x: int


@frozen
class Further(Point):
    z: int = 7


@frozen
class Own:
    x: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Own)

    def __hash__(self) -> int:
        return 5

    def __repr__(self) -> str:
        return "own"


@dataclass(frozen=True)
class _Point:
    x: int
    y: float = 0.0
    note: str = field(default="", compare=False, repr=False)
    inner: tuple[Any, ...] = ()


CASES = [(1,), (1, 0.5), (2, 0.5, "told"), (1, 0.5, "other", (1, 2))]


@pytest.mark.parametrize("first", CASES)
@pytest.mark.parametrize("second", CASES)
def test_it_compares_and_hashes_as_a_dataclass(first: Any, second: Any) -> None:
    equal = _Point(*first) == _Point(*second)
    assert (Point(*first) == Point(*second)) is equal
    assert (hash(Point(*first)) == hash(Point(*second))) is equal


def test_it_prints_as_a_dataclass() -> None:
    assert repr(Point(1, 2.0, "hidden")) == "Point(x=1, y=2.0, inner=())"
    assert repr(Slotted(1, [2])) == "Slotted(x=1, items=[2])"
    assert repr(Nothing()) == "Nothing()"
    assert repr(Further(1)) == "Further(x=1, y=0.0, inner=(), z=7)"
    round_and_round: list[Any] = []
    holder = Slotted(1, round_and_round)
    round_and_round.append(holder)
    assert repr(holder) == "Slotted(x=1, items=[...])"


def test_objects_of_other_classes_are_not_equal() -> None:
    assert Point(1) != Further(1)
    assert Point(1) != (1, 0.0, ())
    assert Nothing() == Nothing()
    assert Itself(1) != Itself(1)
    assert len({Itself(1), Itself(1)}) == 2


def test_a_value_equals_itself_though_it_is_no_number() -> None:
    assert One(math.nan) == One(math.nan)
    assert hash(One(1.0)) == hash(One(1))


def test_own_methods_stay() -> None:
    assert (Own(1) == Own(2), hash(Own(1)), repr(Own(1))) == (True, 5, "own")


@pytest.mark.parametrize("value", [Point(1, 2.0), Slotted(1, [2]), Nothing(), Further(1)])
def test_it_is_copied_pickled_and_replaced(value: Any) -> None:
    assert pickle.loads(pickle.dumps(value)) == value
    assert copy.deepcopy(value) == value
    assert copy.copy(value) == value
    assert dataclasses.replace(value) == value


def test_fields_are_those_of_a_dataclass() -> None:
    assert [each.name for each in dataclasses.fields(Point)] == ["x", "y", "note", "inner"]
    assert dataclasses.replace(Point(1), x=3) == Point(3)
    assert dataclasses.astuple(Point(1, 2.0, "a")) == (1, 2.0, "a", ())
    match Point(4, 5.0):
        case Point(x, y):
            assert (x, y) == (4, 5.0)
    assert Point(1, 2.0).total == 3.0
    assert not hasattr(Slotted(1), "__dict__")
    assert Slotted(1).items is not Slotted(1).items


@frozen(guarded=True, kw_only=True)
class Guarded:
    x: int = 1
    made: list[int] = field(default_factory=list[int])
    counted: int = field(default=0, init=False, compare=False)
    later: list[int] = field(default_factory=list[int], init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "x", abs(self.x))


@record
class Open:
    x: int
    inner: list[int] = field(default_factory=list[int])


def test_a_guarded_class_refuses_as_a_dataclass_does() -> None:
    guarded: Any = Guarded(x=-3)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        guarded.x = 4
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'x'"):
        del guarded.x
    assert repr(guarded) == "Guarded(x=3, made=[], counted=0)"
    assert dataclasses.replace(guarded, x=5) == Guarded(x=5)
    assert pickle.loads(pickle.dumps(guarded)) == guarded == copy.deepcopy(guarded)
    assert guarded.later is not Guarded().later
    with pytest.raises(TypeError, match="positional"):
        Guarded(3)  # type: ignore[misc]


def test_fields_of_a_record_are_set() -> None:
    value = Open(1)
    value.x = 2
    assert value == Open(2, [])
    assert repr(value) == "Open(x=2, inner=[])"
    with pytest.raises(TypeError, match="unhashable"):
        hash(value)


def test_a_class_of_its_own_may_call_it() -> None:
    class Base:
        x: int

    class Above(frozen(Base)):
        def __init__(self) -> None:
            super().__init__(4)  # type: ignore[call-arg]

    assert (Above().x, Above().x) == (4, 4)


@pytest.mark.parametrize("further", [{}, {"x": 1, "unknown": 2}])
def test_a_wrong_call_is_told_by_the_names_of_the_fields(further: dict[str, int]) -> None:
    for _ in range(2):  # the first object's `__init__` is another one
        with pytest.raises(TypeError, match=r"Open\.__init__\(\) .*(missing .*'x'|'unknown')"):
            Open(**further)
