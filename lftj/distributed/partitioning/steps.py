# SPDX-License-Identifier: Apache-2.0
"""The steps of a commit: a stage is one step, or, where its stratum is derived in supersteps,
several. Parts do a step at the same time.
"""

from __future__ import annotations

from enum import Enum

from lftj.scantree import frozen


class Move(Enum):
    """Move of a part in a step."""

    WHOLE = "whole"
    """The stage, which needs nobody."""
    BEGIN = "begin"
    """The first superstep: what follows in this part from what changed below; of what was lost
    there, what may be lost here.
    """
    OVERDELETE = "overdelete"
    """A superstep of what may be lost: what follows from what other parts may have lost."""
    REDERIVE = "rederive"
    """After these, the first superstep of what comes back: what of that has a derivation in what is
    left.
    """
    RETURN = "return"
    """A superstep of what comes back: what follows from what other parts found to have a
    derivation.
    """
    RESUME = "resume"
    """After these, the first superstep of what is found: the rest is gone, and what changed below
    may have added something. Where relations keep the best value of each group, right after
    `OVERDELETE`: what may be lost is gone, and its groups are offered again what is left.
    """
    ANEW = "anew"
    """The first superstep where too much was lost, or nothing is there yet: everything from
    nothing, in all parts.
    """
    SUPERSTEP = "round"
    """A superstep: what follows from what other parts found in the superstep before."""
    TELL = "tell"
    """The end of supersteps: write what changed."""


@frozen(slots=True)
class Step:
    """A move in a stage. `most`: rows that a part may over-delete."""

    stage: int
    move: Move = Move.WHOLE
    most: int = 0

    @property
    def opens(self) -> bool:
        """True when rows that other stages sent come in with it."""
        return self.move in (Move.WHOLE, Move.BEGIN, Move.ANEW)

    @property
    def closes(self) -> bool:
        """True when the stage's changes are written after it."""
        return self.move in (Move.WHOLE, Move.TELL)
