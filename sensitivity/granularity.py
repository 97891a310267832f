# SPDX-License-Identifier: Apache-2.0
"""Granularity: the share of a trace that an index keeps. Any superset of what a run depended on is
sound; a coarser one is smaller and hits more often.

| granularity    | intervals per context | context kept     | region of a surgery (α, v)       |
|----------------|-----------------------|------------------|----------------------------------|
| `EXACT`        | all                   | (α, γ)           | the point (α, γ, v)              |
| `hull(m)`      | at most m             | (α, γ)           | the same, more of them in vain   |
| `projected(p)` | one                   | (α, γ₁ … γₚ)     | the box α, γ₁ … γₚ, v            |
| `NONE`         | none at all           |                  | the box α, v: a delta query      |

"""

from __future__ import annotations

from lftj.scantree.frozen import frozen


@frozen(slots=True)
class Granularity:
    """Granularity that keeps at most `intervals` per context (None: all) and the first `context`
    levels of γ (None: all). Use `EXACT`, `hull` … to make one.
    """

    intervals: int | None
    context: int | None

    @property
    def exact(self) -> bool:
        """True when a trace needs one interval for each operation, not one for each context."""
        return self.intervals is None or self.intervals > 1

    @property
    def kept(self) -> bool:
        """True when there is an index at all."""
        return self.intervals != 0

    def kept_levels(self, gamma: tuple[int, ...]) -> tuple[int, ...]:
        """The levels of γ that this granularity keeps."""
        return gamma if self.context is None else gamma[: self.context]

    def at_most(self, finer: Granularity) -> bool:
        """Test whether this granularity can be made from `finer`."""
        return not self.kept or (
            finer.kept
            and _bounded(self.intervals, finer.intervals)
            and _bounded(self.context, finer.context)
        )

    def __str__(self) -> str:
        if not self.kept:
            return "none"
        if self.context is not None:
            return f"projected({self.context})"
        return "exact" if self.intervals is None else f"hull({self.intervals})"


def _bounded(number: int | None, limit: int | None) -> bool:
    return limit is None or (number is not None and number <= limit)


EXACT = Granularity(None, None)
NONE = Granularity(0, 0)


def hull(intervals: int = 1) -> Granularity:
    """Granularity of at most so many intervals per context, those with the smallest gaps between
    them merged. ValueError below 1.
    """
    if intervals < 1:
        raise ValueError(f"a hull keeps at least one interval per context, not {intervals}")
    return Granularity(intervals, None)


def projected(context: int) -> Granularity:
    """One interval per context, which is cut to the first `context` levels of γ. ValueError below
    0.
    """
    if context < 0:
        raise ValueError(f"a context cannot keep {context} levels")
    return Granularity(1, context)
