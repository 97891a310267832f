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

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

_COMPARED = 20_000
"""Atoms that the search for foldings of one body compares at most: some ten milliseconds."""


class Said(NamedTuple):
    """An atom: its relation, and a term for each column."""

    relation: str
    terms: tuple[Hashable, ...]


def core(atoms: Iterable[Said], given: Iterable[Said], free: Collection[Hashable]) -> set[Said]:
    """The atoms of a core. `given`: what holds besides, wherever the body does; `free`: terms that
    are variables which only these atoms have.

    O(atoms²) comparisons where each variable that goes has one place to go to.
    """
    search = _Search(set(atoms) - {*given}, [*given], free)
    while (smaller := search.smaller()) is not None:
        search = smaller
    return search.atoms


class _Search:
    """The search for a folding of some atoms. `left`: comparisons that it may make."""

    def __init__(
        self,
        atoms: set[Said],
        given: Sequence[Said],
        free: Collection[Hashable],
        left: int = _COMPARED,
    ):
        self.atoms, self._given, self._free, self._left = atoms, given, free, left
        self._having: dict[Hashable, list[Said]] = {}
        self._of: dict[str, list[Said]] = {}
        for each in sorted(atoms, key=repr):
            self._of.setdefault(each.relation, []).append(each)
            for term in {*each.terms} & {*free}:
                self._having.setdefault(term, []).append(each)
        for each in given:
            self._of.setdefault(each.relation, []).append(each)

    def smaller(self) -> _Search | None:
        """The search in what a folding leaves; None where no variable can go."""
        for variable, having in self._having.items():
            if any(len(self._of[each.relation]) == 1 for each in having):
                continue
            moved = self._moved(variable, {}, having)
            if moved is not None:
                image = {_image(each, moved) for each in self.atoms}
                return _Search(image & self.atoms, self._given, self._free, self._left)
        return None

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
                for atom in self._having[term]
                if atom != each and atom not in rest
            ]
            if (found := self._moved(gone, after, [*rest, *dict.fromkeys(others)])) is not None:
                return found
        return None

    def _ways(
        self, gone: Hashable, moved: Mapping[Hashable, Hashable], atom: Said
    ) -> Iterator[Mapping[Hashable, Hashable]]:
        """Yield what terms become where an atom becomes another one, those that move the fewest
        first.
        """
        found = list[tuple[int, dict[Hashable, Hashable]]]()
        for other in self._of[atom.relation]:
            self._left -= 1
            if self._left < 0:
                return
            further = dict[Hashable, Hashable]()
            for term, now in zip(atom.terms, other.terms, strict=True):
                known = moved.get(term, further.get(term, term if term not in self._free else None))
                if now == gone or (known is not None and known != now):
                    break
                if term not in moved and term in self._free:
                    further[term] = now
            else:
                found.append((sum(term != now for term, now in further.items()), further))
        yield from (further for _, further in sorted(found, key=lambda way: way[0]))


def _image(atom: Said, moved: Mapping[Hashable, Hashable]) -> Said:
    return Said(atom.relation, tuple([moved.get(term, term) for term in atom.terms]))
