# SPDX-License-Identifier: Apache-2.0
"""Going through the levels of a body so that the one with fewest matches comes next.

Each level is offered with its matches under nothing (`resting`), and again when that which is bound
makes another choice of it. So where to go from one row is found without looking at all levels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from heapq import heappop, heappush
from itertools import islice

from lftj.scantree.frozen import frozen

AHEAD = 64
"""Levels that are gone through, and levels of one atom that are looked at again: each multiplies
the error of those before, and a long body has many atoms to begin with.
"""

Found = tuple[float, float]
"""(leaps, matches) of a level."""


@frozen(slots=True)
class Links:
    """`followers`: by level, those that may become another choice when it is bound. `from_all`: the
    levels that wait for all before them, ascending.
    """

    followers: Sequence[Sequence[int]]
    from_all: Sequence[int]


def cheapest_first(
    bound: set[int],
    resting: Sequence[tuple[float, int]],
    links: Links,
    find: Callable[[int, Set[int], int], Found | None],
) -> Iterator[tuple[int, Found]]:
    """Each next level and what was found of it, up to AHEAD of them; it is bound then.

    `find(level, bound, prefix)` gives None where a level may not come yet; all levels before
    `prefix` are bound. `resting`: (matches, level) for nothing bound, ascending. O(pairs of levels
    with an atom in common · log).
    """
    waiting, latest = list[tuple[float, int]](), dict[int, Found]()
    prefix = behind = at = 0

    def look_at(levels: Iterable[int]) -> None:
        for level in islice(levels, AHEAD):
            found = None if level in bound else find(level, bound, prefix)
            if found is not None and latest.get(level) != found:
                latest[level] = found
                heappush(waiting, (found[1], level))

    newly = sorted(bound)
    for _ in range(AHEAD):
        while prefix in bound:
            prefix += 1
        for level in newly:
            look_at(links.followers[level])
        while behind < len(links.from_all) and links.from_all[behind] <= prefix:
            look_at((links.from_all[behind],))
            behind += 1
        while waiting and (waiting[0][1] in bound or latest[waiting[0][1]][1] != waiting[0][0]):
            heappop(waiting)  # it was looked at again since
        while at < len(resting) and (resting[at][1] in bound or resting[at][1] in latest):
            at += 1
        if at < len(resting) and not (waiting and waiting[0] < resting[at]):
            level = resting[at][1]
            found = find(level, bound, prefix)
        elif waiting:
            level = heappop(waiting)[1]
            found = latest[level]
        else:
            return
        assert found is not None, "a level that may come with nothing bound may always come"
        yield level, found
        bound.add(level)
        newly = [level]
