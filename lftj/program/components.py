"""Strongly connected components by Tarjan's algorithm with a stack of its own, so that depth costs no recursion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping


def components(reads: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The components of the graph `reads`, each after all that it reads. Every node read must be a key. O(nodes + edges).

    Members stand in the order of the mapping's keys; so the result depends on that order only.
    """
    search = _Search(reads)
    for node in reads:
        if node not in search.number:
            search.run(node)
    return search.found


class _Search:
    """`number` is the order of discovery, `low` the least number reachable from below, `path` the nodes not yet in a component."""

    def __init__(self, reads: Mapping[str, Iterable[str]]):
        self.found: list[list[str]] = []
        self.number: dict[str, int] = {}
        self._reads = reads
        self._low: dict[str, int] = {}
        self._path: list[str] = []
        self._on_path: set[str] = set()
        self._place = {node: place for place, node in enumerate(reads)}

    def run(self, start: str) -> None:
        """Find all components reachable from `start`."""
        agenda: list[tuple[str, Iterator[str]]] = [self._enter(start)]
        while agenda:
            node, rest = agenda[-1]
            for target in rest:
                if target not in self.number:
                    agenda.append(self._enter(target))
                    break
                if target in self._on_path:
                    self._low[node] = min(self._low[node], self.number[target])
            else:
                agenda.pop()
                self._leave(node)
                if agenda:
                    above = agenda[-1][0]
                    self._low[above] = min(self._low[above], self._low[node])

    def _enter(self, node: str) -> tuple[str, Iterator[str]]:
        self.number[node] = self._low[node] = len(self.number)
        self._path.append(node)
        self._on_path.add(node)
        return node, iter(self._reads[node])

    def _leave(self, node: str) -> None:
        if self._low[node] != self.number[node]:
            return
        members: list[str] = []
        while not members or members[-1] != node:
            members.append(self._path.pop())
        self._on_path.difference_update(members)
        self.found.append(sorted(members, key=self._place.__getitem__))
