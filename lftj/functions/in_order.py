# SPDX-License-Identifier: Apache-2.0
"""Records of what aggregates read of the rows of a group in their order."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum, auto
from fractions import Fraction

from lftj.scantree.frozen import frozen


class Place(Enum):
    """Places that are read: the first row or the last, all different ones, one that has a share of
    the rows before it, or what lies between two.
    """

    FIRST = auto()
    LAST = auto()
    DIFFERENT = auto()
    AT = auto()
    BETWEEN = auto()


@frozen(slots=True)
class InOrder:
    """The reading of an aggregate. `share`: of the rows, where that is no argument."""

    place: Place
    share: Fraction | None = None

    @property
    def at_half(self) -> InOrder:
        """The same in the middle."""
        return replace(self, share=Fraction(1, 2))

    @property
    def by_share(self) -> bool:
        """Test for what lies at a share of the rows."""
        return self.place in (Place.AT, Place.BETWEEN)


FIRST, LAST, DIFFERENT, AT, BETWEEN = [InOrder(place) for place in Place]


def share_of(written: object) -> Fraction:
    """A share as it is written: 0.1 is a tenth, not the float next to it."""
    return Fraction(repr(written))
