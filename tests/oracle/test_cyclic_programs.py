# SPDX-License-Identifier: Apache-2.0
"""Random programs with heads of all kinds in cycles, in histories of rows and rules: all relations
have the rows that the reference derives, after each commit.
"""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

import lftj
from tests.depth import enough
from tests.oracle.living import Living
from tests.strategies.cyclic_programs import life

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of odd aggregates

FOUND = (74, 1748)
"""Lives that met sums without groups which rise in their order, and a count that is a constant next
to an atom that no variable links to it.
"""


def settings(number: int) -> dict[str, Any]:
    """The options by which a workspace of a number is opened."""
    random = Random(number)
    return {
        "executor": lftj.ThreadExecutor(threads=random.choice([1, 1, 2])),
        "elastic": random.choice([0.2, 0.2, 0, math.inf]),
        "trace_budget": random.choice([0, 1 << 24, 1 << 24]),
    }


def lived(
    number: int, size: int = 6, typed: bool = False, folder: Path | None = None
) -> Counter[str]:
    """Live a life to its end; what was refused. `folder`: in files, in branches, opened again."""
    drawn = life(number, size, typed)
    path = [] if folder is None else [folder / "w.lftj"]
    living = Living(drawn, lambda: lftj.connect(*path, **settings(number)))

    def between(place: int) -> None:
        if folder is not None and place % 3 == 1:
            living.reopen()
        if folder is not None and place % 4 == 2:
            living.enter(f"b{place}")

    return living.to_its_end(drawn.steps, between)


@pytest.mark.parametrize("number", [*range(enough(6, 600)), *FOUND])
def test_oracle_heads_of_all_kinds_in_cycles(number: int) -> None:
    lived(number)


@pytest.mark.parametrize("number", range(1000, enough(1004, 1400)))
def test_oracle_columns_of_all_types_in_files_and_branches(tmp_path: Path, number: int) -> None:
    lived(number, typed=True, folder=tmp_path)


@pytest.mark.parametrize("number", range(2000, enough(2001, 2200)))
def test_oracle_more_rows_in_cycles(number: int) -> None:
    lived(number, size=14, typed=number % 2 == 1)
