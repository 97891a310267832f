# SPDX-License-Identifier: Apache-2.0
"""Strata after rules came or went, from those before: only where the order has to change is it
found anew.

A rule whose head already stands behind all that it reads changes its own stratum. One that reads
what stands behind its head has the strata from the one to the other put in order again, cycles and
all; a relation that nobody reads yet goes to the end. So what a rule costs does not depend on how
many others there are.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Sequence

from lftj.errors import LftjError, ProgramErrors
from lftj.program.normal_form import FunctorRule, NormalRule, Stratum
from lftj.program.strata import strata_of
from lftj.program.stratification import Piece, Stratification

AnyRule = NormalRule | FunctorRule


def restratify(
    before: Stratification,
    rules: Sequence[AnyRule],
    removed: Collection[AnyRule] = (),
    choosing: Collection[str] = (),
    dropped: Collection[str] = (),
) -> Stratification:
    """Strata with more rules, or without the `removed` ones. Raises as `strata_of` does.

    `choosing`: those relations, among the new ones and those whose rules change, that have a
    stratum without rules too; `dropped`: relations without rules that have none any more. Strata
    that come out as they were stay the same objects.
    """
    placed = [name for name in dropped if name in before.place]
    change = _Change(before, rules, removed, choosing, placed)
    pieces: list[Piece] = []
    errors: list[LftjError] = []
    for start, end in change.windows():
        try:
            pieces.append((start, end, change.strata(start, end)))
        except ProgramErrors as problems:
            errors += problems.errors
    if errors:
        raise ProgramErrors(errors)
    return before.replaced(pieces) if pieces else before


class _Change:
    """Rules that come and go. Of the relations without a stratum those are `between` which one with
    a stratum reads, directly or not.
    """

    def __init__(
        self,
        before: Stratification,
        rules: Sequence[AnyRule],
        removed: Collection[AnyRule],
        choosing: Collection[str],
        dropped: Collection[str],
    ):
        self._before = before
        self._choosing = choosing
        self._dropped = dropped
        self._gone = {id(rule) for rule in removed}
        self._rules: dict[str, list[AnyRule]] = {rule.relation: [] for rule in removed} | {
            name: [] for name in (*choosing, *dropped)
        }
        for rule in rules:
            self._rules.setdefault(rule.relation, []).append(rule)
        self._placed = [name for name in self._rules if name in before.place]
        self._new = {name: None for name in self._rules if name not in before.place}
        self._end = len(before.strata)
        self._first = self._end
        self._between = self._find_between()

    def _reads(self, name: str) -> Iterable[str]:
        """Relations that the new rules of a relation read."""
        return (read for rule in self._rules[name] for read in rule.reads)

    def _find_between(self) -> dict[str, None]:
        """Find such relations; `_first` becomes the first place of a stratum that reads one."""
        found: dict[str, None] = {}
        for name in self._placed:
            if new := [read for read in self._reads(name) if read in self._new]:
                self._first = min(self._first, self._before.place[name])
                found |= dict.fromkeys(new)
        for name in self._new:
            if name in self._before.readers:
                self._first = min(self._first, *self._before.reading(name))
                found[name] = None
        waiting = list(found)
        while waiting:
            more = [
                read
                for read in self._reads(waiting.pop())
                if read in self._new and read not in found
            ]
            found |= dict.fromkeys(more)
            waiting += more
        return found

    def windows(self) -> list[tuple[int, int]]:
        """Windows in which strata have to be put in order: start and end; ascending and apart. One
        may be empty: strata come there.
        """
        place = self._before.place
        wanted: list[tuple[int, int]] = []
        for name in self._placed:
            last = max((place.get(read, -1) for read in self._reads(name)), default=-1)
            wanted.append((place[name], max(place[name], last) + 1))
        if self._between:
            last = max(
                (place.get(read, -1) for name in self._between for read in self._reads(name)),
                default=-1,
            )
            wanted.append((self._first, max(self._first, last + 1)))
        if len(self._between) < len(self._new):
            wanted.append((self._end, self._end))
        found: list[tuple[int, int]] = []
        for start, end in sorted(wanted):
            if found and start <= found[-1][1]:
                found[-1] = found[-1][0], max(end, found[-1][1])
            else:
                found.append((start, end))
        return found

    def strata(self, start: int, end: int) -> tuple[Stratum, ...]:
        """Strata that now stand in a window. Raises ProgramErrors."""
        old = self._before.strata[start:end]
        rules = [rule for stratum in old for rule in stratum.rules if id(rule) not in self._gone]
        alone = (name for stratum in old if not stratum.rules for name in stratum.relations)
        choosing = [name for name in alone if name not in self._dropped]
        for name, new in self._rules.items():
            if self._belongs(name, start, end):
                rules += new
                choosing += [name] if name in self._choosing else []
        before = {stratum.relations: stratum for stratum in old}
        return tuple(
            _same_object(before.get(stratum.relations), stratum)
            for stratum in strata_of(rules, choosing)
        )

    def _belongs(self, name: str, start: int, end: int) -> bool:
        if name in self._between:
            return start <= self._first <= end
        return end == self._end if name in self._new else start <= self._before.place[name] < end


def _same_object(old: Stratum | None, new: Stratum) -> Stratum:
    """The old stratum where the new one has the same rules, so that what is known about
    it is kept.
    """
    same = (
        old is not None
        and len(old.rules) == len(new.rules)
        and all(map(operator.is_, old.rules, new.rules))
    )
    return old if old is not None and same else new
