"""The benchmarks of `bench`, each run once at a small size, for what its commits do and not for how
long they take.

Left out, since they evaluate in other processes, on several threads or no rules: `startup`,
`partition`, `storage`, `load`, and of the others what is in `LEFT_OUT`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import bench.maintenance
import bench.recursion
from bench.bars import BARS
from bench.figure import Report
from tests.record.lines import Commit, Record, Work
from tests.record.observing import observed

TESTS_DATA = Path(__file__).parents[1] / "data"

LEFT_OUT = frozenset(
    {
        "bench.maintenance.pathway",  # an environment of its own, and time to make it
        "bench.maintenance.by_hand",  # the commits of `edits`, beside a peer
        "bench.recursion.rederivation",  # the same
        "bench.recursion.galen",  # a process of its own, for minutes
    }
)
WITH_DATA = {"bench.maintenance.bitcoin", "bench.recursion.lubm"}
SMALLER = dict.fromkeys(
    [
        "bench.maintenance.growth",
        "bench.recursion.chain",
        "bench.recursion.peers",  # DuckDB runs as well
        "bench.triejoin",
    ],
    "s",
)
NO_HURRY = {
    "bench.maintenance.series.PATIENCE": float("inf"),
    "bench.recursion.elastic.HOPELESS": float("inf"),
    "bench.recursion.elastic.TIMES": dict.fromkeys("sml", 1),
}
"""Settings by which benchmarks stop by the clock. None does here, or the record would depend on
it.
"""


@dataclass(frozen=True)
class Bench:
    """A module of `bench` that measures something, and the data that it reads."""

    module: str
    figures: str
    size: str
    data: Path | None = None

    def play(self) -> Record:
        """Run it; a history for each of its workspaces that had rules to keep true, in the order in
        which they were made.
        """
        commits: Record = {}

        def seen(workspace: int, version: int, works: list[Work]) -> None:
            commits.setdefault(f"{self.module} {workspace}", []).append(Commit(version, "", works))

        with pytest.MonkeyPatch.context() as patch, observed(seen):
            for name, value in NO_HURRY.items():
                patch.setattr(name, value)
            measure: Callable[[Report, Path | None], None] = importlib.import_module(
                self.module
            ).measure
            measure(
                Report(self.figures, self.size, BARS[self.figures], only=frozenset()), self.data
            )
        return {
            name: [each for each in history if each.works]
            for name, history in commits.items()
            if any(each.works for each in history)
        }


def benches(data: Path | None) -> Iterator[Bench]:
    """All that need no data, with the small data sets of the tests where they serve; or with `data`
    those that read published data.
    """
    parts: list[Any] = [bench.maintenance, bench.recursion]
    modules = [
        (f"{each.__name__}.{part}", each.__name__.partition(".")[2])
        for each in parts
        for part, _ in each.PARTS
    ]
    modules.append(("bench.triejoin", "triejoin"))
    for module, figures in modules:
        if module not in LEFT_OUT and (module in WITH_DATA) == (data is not None):
            yield Bench(module, figures, SMALLER.get(module, "m"), data)
    if data is not None:
        yield Bench("bench.answers", "answers", "m", data)
        yield Bench("bench.recursion.elastic", "recursion", "m", data)
