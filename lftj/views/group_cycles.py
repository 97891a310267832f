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
