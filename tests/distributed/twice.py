"""An executor that runs every task twice, as Spark may: what a second attempt does must change
nothing for whoever took the first.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from lftj.distributed.work import worker
from lftj.errors import LftjError
from tests.distributed.inline import InlineExecutor

WAYS = ("first", "last", "late")
"""Choices between two attempts: the result of the first to end, or of the last; `late`: the other
attempt goes on while commits follow.
"""


class TwiceExecutor(InlineExecutor):
    """Every task runs in two of three memories, whose codes of strings differ; both attempts end.
    `way`: one of WAYS, or `any` of them.

    `refused` counts the late attempts that were told that a commit is over.
    """

    def __init__(
        self,
        path: Path,
        partitions: int = 3,
        way: str = "any",
        seed: int = 0,
        words: Sequence[str] = (),
    ):
        super().__init__(path, partitions, workers=3)
        self.way, self.chance, self.refused = way, random.Random(seed), 0
        self._late: list[tuple[int, Callable[[Any], Any], Any]] = []
        for number in range(3):
            worker.forget()
            strings = sorted(words, reverse=number % 2 == 1)
            worker._worker.host.dictionary.encode(strings[number:])
            self._memories[number] = worker._worker

    def map(
        self,
        task: Callable[[Any], Any],
        payloads: Iterable[Any],
        places: Sequence[int] | None = None,
        *,
        seconds: float | None = None,
    ) -> list[Any]:
        """Every task twice, the payloads in any order."""
        given = list(payloads)
        found: dict[int, Any] = {}
        for number in self.chance.sample(range(len(given)), len(given)):
            found[number] = self._both(task, given[number])
        return [found[number] for number in range(len(given))]

    def _both(self, task: Callable[[Any], Any], payload: Any) -> Any:
        one, other = self.chance.sample(range(3), 2)
        way = self.chance.choice(WAYS) if self.way == "any" else self.way
        if way == "late":
            self._late.append((other, task, payload))
            return self._in(one, task, payload)
        results = [self._in(memory, task, payload) for memory in (one, other)]
        return results[way == "last"]

    def _in(self, memory: int, task: Callable[[Any], Any], payload: Any) -> Any:
        self._turn = memory - 1
        return self._run(task, payload)

    def go_on(self, share: float = 1.0) -> None:
        """Let this share of the late attempts end, the first ones first. What they find is
        nobody's, and errors are.
        """
        count = round(share * len(self._late))
        ending, self._late = self._late[:count], self._late[count:]
        for memory, task, payload in ending:
            with suppress(LftjError, OSError):
                self.refused += type(self._in(memory, task, payload)).__name__ == "Failure"
