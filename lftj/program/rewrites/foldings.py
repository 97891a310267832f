# SPDX-License-Identifier: Apache-2.0
"""Atoms that a body implies by others of it: what is left is its core [Chandra and Merlin 1977].

    v(x, z) :- e(x, y), e(y, z), e(x, u), e(u, z), e(x, w).     becomes     v(x, z) :- e(x, y),
    e(y, z).

A *folding* maps variables that nothing else reads to other terms, such that each atom becomes one
that is there. Every assignment of what is left is then one of the whole body, with the values of
the terms, so the head has the same rows. Variables may have to move together, as those of an arm of
a tree that another arm covers. Whether there is a folding takes exponential time at worst, so the
search ends after some thousand rows were compared, and leaves what it found until then.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

_COMPARED = 8_000
"""Atoms that the search for foldings of one body compares at most: some ten milliseconds."""


class Said(NamedTuple):
    """An atom: its relation, and a term for each column."""

    relation: str
    terms: tuple[Hashable, ...]


def core(atoms: Iterable[Said], given: Iterable[Said], free: Iterable[Hashable]) -> set[Said]:
    """The atoms of a core. `given`: what holds besides, wherever the body does; `free`: terms that
    are variables which only these atoms have.

    O(atoms) comparisons where variables move alone, to the first place that they try.
    """
    search = _Search(dict.fromkeys(atoms), dict.fromkeys(given), frozenset(free))
    for alone in (True, False):
        search.begin(alone)
        for variable in [*search.having]:
            search.without(variable)
    return search.atoms


class _Search:
    """Atoms, of which foldings leave fewer. `having`: those that have a variable that may move."""

    def __init__(self, atoms: Iterable[Said], given: Collection[Said], free: frozenset[Hashable]):
        self.atoms = {each for each in atoms if each not in given}
        self.having: dict[Hashable, dict[Said, None]] = {}
        self._free, self._left = free, _COMPARED
        self._may: dict[Hashable, set[Hashable]] = {}
        self._alone = False
        self._of: dict[str, dict[Said, None]] = {}
        self._at: dict[tuple[str, int, Hashable], dict[Said, None]] = {}
        for each in (*atoms, *given):
            self._of.setdefault(each.relation, {})[each] = None
            for place, term in enumerate(each.terms):
                self._at.setdefault((each.relation, place, term), {})[each] = None
        for each in atoms:
            for term in each.terms if each in self.atoms else ():
                if term in free:
                    self.having.setdefault(term, {})[each] = None

    def begin(self, alone: bool) -> None:
        """Begin a search for foldings, of variables that move alone or together. What each may
        become at most is found first: a term in its place of an atom of which the other terms are
        what they may be [Mackworth, Consistency in Networks of Relations, 1977].
        """
        self._alone = alone
        waiting = deque[Said]()
        if not alone:
            waiting += dict.fromkeys(each for atoms in self.having.values() for each in atoms)
        while waiting:
            each = waiting.popleft()
            found: dict[Hashable, set[Hashable]] = {}
            for other in self._like(each):
                pairs = [*zip(each.terms, other.terms, strict=True)]
                if all(term == now or self._may_be(term, now) for term, now in pairs):
                    for term, now in pairs:
                        found.setdefault(term, set()).add(now)
            for term, terms in found.items():
                if term in self._free and terms != self._may.get(term):
                    self._may[term] = terms
                    waiting += [atom for atom in self.having[term] if atom != each]

    def _may_be(self, term: Hashable, now: Hashable) -> bool:
        return term in self._free and (term not in self._may or now in self._may[term])

    def _stays(self, term: Hashable, gone: Hashable) -> bool:
        """Tell whether a term becomes no other one."""
        return (
            term not in self._free
            or self._may.get(term) == {term}
            or (self._alone and term != gone)
        )

    def _like(self, atom: Said, gone: Hashable = None) -> Iterator[Said]:
        """Yield the atoms that one may become, by one of its terms that stays."""
        found: Mapping[Said, None] = self._of[atom.relation]
        for place, term in enumerate(atom.terms):
            at = self._at[atom.relation, place, term]
            if len(at) < len(found) and self._stays(term, gone):
                found = at
        for each in found:
            self._left -= 1
            if self._left < 0:
                return
            yield each

    def without(self, variable: Hashable) -> None:
        """Leave out what has a variable, if a folding maps it to another term.

        If none does now, none does when other atoms have gone: after the foldings that took them,
        it would be one.
        """
        having = [*self.having[variable]]
        if not having or self._may.get(variable) == {variable}:
            return
        moved = self._moved(variable, {}, having)
        if moved is None:
            return
        changed = {each for term, now in moved.items() if term != now for each in self.having[term]}
        image = {_image(each, moved) for each in changed}
        for each in changed - image:
            self.atoms.remove(each)
            del self._of[each.relation][each]
            for place, term in enumerate(each.terms):
                del self._at[each.relation, place, term][each]
                if term in self._free:
                    self.having[term].pop(each, None)

    def _moved(
        self, gone: Hashable, moved: Mapping[Hashable, Hashable], waiting: Sequence[Said]
    ) -> Mapping[Hashable, Hashable] | None:
        """The terms of a folding in which nothing becomes the variable that is `gone`; None where
        there is none. `moved`: terms that are decided, `waiting`: atoms that have a moved one.
        """
        if not waiting:
            return moved
        each, *rest = waiting
        for further in self._ways(gone, moved, each):
            after = {**moved, **further}
            others = [
                atom
                for term, now in further.items()
                if term != now
                for atom in self.having[term]
                if atom != each and atom not in rest
            ]
            if (found := self._moved(gone, after, [*rest, *dict.fromkeys(others)])) is not None:
                return found
        return None

    def _ways(
        self, gone: Hashable, moved: Mapping[Hashable, Hashable], atom: Said
    ) -> Iterator[Mapping[Hashable, Hashable]]:
        """Yield what terms become where an atom becomes another one, those that move one at most
        first.
        """
        later = list[tuple[int, dict[Hashable, Hashable]]]()
        for other in self._like(atom, gone):
            further = dict[Hashable, Hashable]()
            for term, now in zip(atom.terms, other.terms, strict=True):
                stays = term if self._stays(term, gone) else None
                known = moved.get(term, further.get(term, stays))
                if now == gone or (known is not None and known != now):
                    break
                if term != now and not self._may_be(term, now):
                    break
                if term not in moved and term in self._free:
                    further[term] = now
            else:
                moving = sum(term != now for term, now in further.items())
                if moving <= 1:
                    yield further
                else:
                    later.append((moving, further))
        yield from (further for _, further in sorted(later, key=lambda way: way[0]))


def _image(atom: Said, moved: Mapping[Hashable, Hashable]) -> Said:
    return Said(atom.relation, tuple([moved.get(term, term) for term in atom.terms]))
