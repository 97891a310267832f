# SPDX-License-Identifier: Apache-2.0
"""Random programs with heads of all kinds in cycles over parts: all relations have the rows that
the reference derives, after each commit, whatever happens to workers and files.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

import lftj
from tests.depth import enough
from tests.distributed.inline import InlineExecutor
from tests.oracle.living import Living
from tests.strategies.cyclic_programs import life

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of odd aggregates


def lived_in_parts(
    folder: Path, number: int, size: int = 6, typed: bool = False, most: int = 14
) -> Counter[str]:
    """Live a life to its end over parts in a folder, at most so many steps of it; what was
    refused.
    """
    drawn, random = life(number, size, typed), Random(number)
    elastic = random.choice([0.2, 0.2, 0])
    parts, workers = random.choice([1, 2, 3, 5]), random.choice([1, 2])
    seats: list[Any] = [InlineExecutor(folder, parts, workers)]
    living = Living(drawn, lambda: lftj.connect(executor=seats[-1], elastic=elastic), True)

    def between(place: int) -> None:
        _between(living, random.choice(["", "", "", "forget", "reopen", "compact", "cut"]))
        seats.append(living.workspace._backend.executor)

    return living.to_its_end(drawn.steps[:most], between)


def _between(living: Living, what: str) -> None:
    """Do something between two steps that changes no row."""
    backend = living.workspace._backend
    match what:
        case "forget":
            backend.executor.forget()
        case "compact":
            living.workspace.compact()
        case "cut":
            living.workspace.repartition(backend.executor.partitions % 4 + 1)
        case "reopen":
            living.reopen()
        case _:
            pass


@pytest.mark.parametrize("number", range(enough(3, 300)))
def test_oracle_heads_of_all_kinds_in_cycles_over_parts(tmp_path: Path, number: int) -> None:
    lived_in_parts(tmp_path, number, typed=number % 2 == 1, most=enough(3, 14))
