"""All histories up to a length, walked in one workspace: each step inserts a row that is not there
or deletes one that is.

From the end of a history the walk goes back to where the next one branches off, by taking up the
committed state of that moment.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.strategies.schemas import Row

Toggle = tuple[str, Row]
State = frozenset[Toggle]
Numbers = tuple[int, ...]


def renamings(values: Sequence[int]) -> list[dict[Any, Any]]:
    """All ways to rename the values among themselves."""
    return [dict(zip(values, renamed, strict=True)) for renamed in itertools.permutations(values)]


@dataclass
class Walk:
    """A workspace and what is done after each commit: `check(transaction, rows before, rows now)`.

    Of histories that one of the renamings `alike` turns into each other only the first is walked:
    programs that only ask whether values are equal cannot tell them apart.
    """

    workspace: Any
    toggles: Sequence[Toggle]
    check: Callable[[Any, State, State], None]
    alike: Sequence[dict[Any, Any]] = ()
    commits: int = 0

    def __post_init__(self) -> None:
        place = {toggle: number for number, toggle in enumerate(self.toggles)}
        self._renamed = [
            [place[name, tuple(new[value] for value in row)] for name, row in self.toggles]
            for new in self.alike
        ]

    def all(self, length: int, state: State = frozenset(), history: Numbers = ()) -> None:
        """Walk all histories that begin with `history`, which led to the rows `state`, and go on to
        `length` steps.
        """
        engine = self.workspace._backend
        committed = engine.state
        for number, toggle in enumerate(self.toggles) if len(history) < length else ():
            longer = (*history, number)
            if any(tuple(numbers[step] for step in longer) < longer for numbers in self._renamed):
                continue
            after = self._commit(toggle, state)
            self.all(length, after, longer)
            engine.state = committed

    def _commit(self, toggle: Toggle, state: State) -> State:
        name, row = toggle
        with self.workspace.transaction() as transaction:
            (transaction.delete if toggle in state else transaction.insert)(name, [row])
        after = state ^ {toggle}
        self.check(transaction, state, after)
        self.commits += 1
        return after
