# SPDX-License-Identifier: Apache-2.0
"""Programs that mix what the language has, followed through histories and evaluated plainly."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from tests.strategies.mixed_texts import history, program

TRIED = range(40)
"""Programs that are drawn by their numbers; the deep profile draws others."""


def test_oracle_mixed_programs_are_followed() -> None:
    """Three in four are programs at least; the others are refused."""
    refused = sum(not _followed(Random(number)) for number in TRIED)
    assert refused <= len(TRIED) // 4


@settings(max_examples=20)
@given(st.integers(1000, 2**32))
def test_oracle_drawn_programs_are_followed(number: int) -> None:
    """The same of programs that differ from run to run."""
    _followed(Random(number))


def _followed(random: Random) -> bool:
    """Compare a program's views; False where it is refused."""
    text, steps = program(random), history(random)
    try:
        found = lftj.compare(text, steps)
    except lftj.LftjError:
        return False
    assert found is None, f"{text}\n{found}"
    return True
