# SPDX-License-Identifier: Apache-2.0
"""Parts of a run that are logged, and the buffer that the kernel logs into (`trace_kernels`)
[LFTJ-IVM 4.1].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import NamedTuple

import numpy as np

from lftj.join.kernels import layout_kernels as at
from lftj.join.plan.plan import RulePlan
from lftj.program.normal_form import Ref
from lftj.scantree.frozen import frozen

EXACT = at.EXACT
"""Every operation leaves its interval; those that touch are joined."""
HULL = at.HULL
"""One interval per context, from the first value to the last."""

Sink = Callable[[np.ndarray], None]
"""Takes records as an array (3 + levels) × n: channel, low, high, bindings of the levels before the
channel's; the rest of a column is not specified. −2⁶³ and 2⁶³−1 stand for −∞ and +∞. The array is
overwritten by the next.
"""


@frozen
class Logged:
    """Selection of the logged positions: key columns of atoms as (atom, column) → mode, and negated
    atoms as probe → mode; only levels from `log_from` on.
    """

    atoms: Mapping[tuple[int, int], int] = field(default_factory=dict)
    probes: Mapping[int, int] = field(default_factory=dict)
    log_from: int = 0


NOTHING = Logged()
_NO_RECORDS = np.zeros((at.LOG_CONTEXT, 0), np.int64)
_NO_ROOM = np.zeros(1, np.int64)  # where no channel is, nothing is written


class Channel(NamedTuple):
    """Subject of a record: column `column` of the key order of an atom (`kind` "atom"), or of a
    negated one ("probe"). column `column` of the key order of an atom (`kind` "atom"), or of a
    negated one ("probe").

    Of a negated atom it is the last column that the channel's level binds, or −1 if all its
    arguments are constants. `level`: how many bindings a record carries.
    """

    kind: str
    atom: int
    column: int
    mode: int
    level: int


def number_channels(
    plan: RulePlan, parts: list[list[tuple[int, int]]], logged: Logged
) -> list[list[Channel]]:
    """Per level its channels, those of its parts, given as (atom, column), before those of its
    probes.
    """
    channels: list[list[Channel]] = []
    for number, level in enumerate(plan.levels):
        here = [
            Channel("atom", *part, logged.atoms[part], number)
            for part in parts[number]
            if part in logged.atoms
        ]
        for probe in level.probes:
            if probe in logged.probes:
                arguments = enumerate(plan.probes[probe].args)
                column = max(
                    (
                        c
                        for c, a in arguments
                        if isinstance(a, Ref) and a.variable == level.variable
                    ),
                    default=-1,
                )
                here.append(Channel("probe", probe, column, logged.probes[probe], number))
        channels.append(here)
    return channels


class LogBuffer:
    """Room for the records of one run at a time."""

    def __init__(self, levels: int, channels: int, records: int):
        room = max(records, at.LOG_RESERVE * (channels + 1))
        self.columns = (
            np.empty((at.LOG_CONTEXT + levels, room), np.int64) if channels else _NO_RECORDS
        )

    @property
    def words(self) -> np.ndarray:
        """The buffer as the kernel takes it."""
        return self.columns.reshape(-1) if self.columns.size else _NO_ROOM

    def attach(self, state: np.ndarray) -> None:
        """Let a fresh state log into this buffer."""
        state[at.LOG_CAPACITY] = self.columns.shape[1]

    def hand_over(self, state: np.ndarray, sink: Sink | None) -> None:
        """Give the records so far to the sink, if there is one, and make room."""
        rows = int(state[at.LOG_ROWS])
        if rows:
            if sink:
                sink(self.columns[:, :rows])
            state[at.LOG_ROWS] = 0
