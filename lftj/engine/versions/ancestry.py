# SPDX-License-Identifier: Apache-2.0
"""The ancestry of branches: which one began where, and what was merged; as a value.

Two branches are compared by what each changed since a version that is part of both. After a merge
that is the version that was merged. Before, it is the one at which one branch left the other, or
both left the branch that both come from. The earlier of two such versions is taken: then a change
may be seen in both, which is a conflict, but none is missed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace

from lftj.engine.versions.state import State
from lftj.scantree.frozen import frozen
from lftj.storage.database import Database
from lftj.storage.relation import RelationVersion

MAIN = "main"
"""The branch that every workspace has."""


@frozen
class Ancestry:
    """`parents` of all branches but main, the state of the parent from which each began (`forks`),
    and for two branches, by their sorted names, the state of the one that was last merged into the
    other (`merges`).
    """

    parents: Mapping[str, str] = field(default_factory=dict)
    forks: Mapping[str, State] = field(default_factory=dict)
    merges: Mapping[tuple[str, str], State] = field(default_factory=dict)

    def begun(self, name: str, parent: str, state: State) -> Ancestry:
        """The ancestry with a new branch."""
        return replace(
            self,
            parents={**self.parents, name: parent},
            forks={**self.forks, name: base_rows(state)},
        )

    def dropped(self, name: str) -> Ancestry:
        """The ancestry without a branch. Those that began from it come from where it came from."""
        parent, fork = self.parents[name], self.forks[name]
        children = [each for each, its in self.parents.items() if its == name]
        parents = {**self.parents, **dict.fromkeys(children, parent)}
        forks = {**self.forks, **dict.fromkeys(children, fork)}
        del parents[name], forks[name]
        merges = {pair: each for pair, each in self.merges.items() if name not in pair}
        return Ancestry(parents, forks, merges)

    def merged(self, target: str, source: str, state: State) -> Ancestry:
        """The ancestry with a merge of the branch `source`, which had this state."""
        merges = {**self.merges, _pair(target, source): base_rows(state)}
        return replace(self, merges=merges)

    def common(self, one: str, other: str) -> State:
        """The last known state that is part of two branches."""
        if (found := self.merges.get(_pair(one, other))) is not None:
            return found
        above, others = list(self._line(one)), list(self._line(other))
        shared = next(each for each in above if each in others)
        left = [*above[: above.index(shared)][-1:], *others[: others.index(shared)][-1:]]
        return min((self.forks[each] for each in left), key=lambda state: state.version)

    def _line(self, name: str) -> Iterator[str]:
        """A branch, the one that it began from, and so on to main."""
        yield name
        while name != MAIN:
            name = self.parents[name]
            yield name

    def states(self) -> Iterator[State]:
        """All states that are kept to compare with."""
        yield from self.forks.values()
        yield from self.merges.values()


def _pair(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one < other else (other, one)


def base_rows(state: State) -> State:
    """A state of which rows that are not derived are kept, under the names of their relations, and
    the program; nothing else. O(relations).
    """
    program = state.program
    relations: dict[str, RelationVersion] = {}
    for name in program.catalog.relations:
        base = state.base(name)
        if base is not state.database[name] or not program.derives(name):
            relations[name] = base
    return State(program, Database(relations, state.version), state.views, state.aggregates)
