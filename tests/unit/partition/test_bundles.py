"""Bundles: what payloads have in common is sent once, and each comes out as it went in."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from lftj.partition.bundles import Bundle, bundled


@dataclass(frozen=True)
class Work:
    path: str
    part: int
    ran: int | None
    limits: tuple[Any, ...]
    flag: bool = False


@dataclass
class Counted:
    part: int
    seen: int = field(default=0, init=False)


LIMITS = (None, 2.5)


def works(count: int) -> list[Work]:
    return [Work("/a/long/path" * 9, n, None if n == 2 else 1, LIMITS) for n in range(count)]


def sent(payloads: list[Any]) -> Any:
    return pickle.loads(pickle.dumps(bundled(payloads)))


@pytest.mark.parametrize(
    "payloads",
    [
        works(1),
        works(5),
        [*works(2), Counted(1)],
        [Counted(1), Counted(2)],
        [1, "1", None],
        [Work("p", True, 1, LIMITS), Work("p", 1, 1, LIMITS)],
        [Work("p", 0, 1, (0.0,)), Work("p", 0, 1, (-0.0,))],
        works(1) * 3,
    ],
)
def test_payloads_come_out_as_they_went_in(payloads: list[Any]) -> None:
    found = list(sent(payloads))
    assert found == payloads
    assert repr(found) == repr(payloads)  # True is not 1, and 0.0 not -0.0


def test_values_that_cannot_be_compared_are_sent_each() -> None:
    arrays = [Work("p", n, 1, (np.arange(n + 2),)) for n in range(3)]
    found = list(sent(arrays))
    assert [work.limits[0].tolist() for work in found] == [[0, 1], [0, 1, 2], [0, 1, 2, 3]]


def test_bytes_grow_by_what_differs() -> None:
    assert isinstance(bundled(works(5)), Bundle)
    few, many = (len(pickle.dumps(bundled(works(count)))) for count in (8, 96))
    assert many - few < 6 * (96 - 8)
