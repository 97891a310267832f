# SPDX-License-Identifier: Apache-2.0
"""Cycles among groups that add up from one another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lftj.storage.delta import Columns

Group = tuple[str, tuple[int, ...]]
"""A relation, and the codes of a group."""


def tuples_of(columns: Columns, rows: int) -> list[tuple[int, ...]]:
    if not columns:
        return [()] * rows
    return list(zip(*(column.tolist() for column in columns), strict=True))


def cycle_of(edges: Mapping[Group, set[Group]]) -> list[Group]:
    """A cycle of a graph, each node before one that it reads; empty where there is none."""
    done: set[Group] = set()
    for start in edges:
        path: list[tuple[Group, Iterator[Group]]] = []
        on_path: dict[Group, int] = {}
        ahead: Group | None = start if start not in done else None
        while ahead is not None or path:
            if ahead is not None:
                on_path[ahead] = len(path)
                path.append((ahead, iter(edges.get(ahead, ()))))
            node, rest = path[-1]
            ahead = None
            for target in rest:
                if target in on_path:
                    return [each for each, _ in path[on_path[target] :]]
                if target not in done:
                    ahead = target
                    break
            else:
                path.pop()
                del on_path[node]
                done.add(node)
    return []


def ranked(edges: Mapping[Group, set[Group]]) -> tuple[dict[Group, int], set[Group]]:
    """The levels of the groups that rest on no cycle, each above the groups that it reads, and the
    groups that are left.
    """
    readers: dict[Group, list[Group]] = {}
    for target, sources in edges.items():
        for source in sources:
            readers.setdefault(source, []).append(target)
    missing = {target: len(sources) for target, sources in edges.items()}
    levels = {source: 0 for source in readers if source not in edges}
    ready = list(levels)
    for group in ready:
        for target in readers.get(group, ()):
            levels[target] = max(levels.get(target, 0), levels[group] + 1)
            missing[target] -= 1
            if not missing[target]:
                ready.append(target)
    left = {target for target, number in missing.items() if number}
    return {group: levels[group] for group in ready}, left
