# SPDX-License-Identifier: Apache-2.0
"""Ranks of the nodes of a graph."""

from __future__ import annotations

import numpy as np

from lftj.scantree.jit import compiled


@compiled
def rank_nodes(sources, targets, ranks):
    """Give each node its rank, above those that edges come from; those on cycles, and behind them,
    share the last one. How many are neither. `ranks` are zeros at first. O(nodes + edges).
    """
    nodes, edges = ranks.shape[0], sources.shape[0]
    missing, starts = np.zeros(nodes, np.int64), np.zeros(nodes + 1, np.int64)
    for edge in range(edges):
        missing[targets[edge]] += 1
        starts[sources[edge] + 1] += 1
    readers, ends = np.empty(edges, np.int64), np.zeros(nodes, np.int64)
    for node in range(nodes):
        ends[node] = starts[node]
        starts[node + 1] += starts[node]
    for edge in range(edges):
        readers[ends[sources[edge]]] = targets[edge]
        ends[sources[edge]] += 1
    ready, done, found, highest = np.empty(nodes, np.int64), 0, 0, 0
    for node in range(nodes):
        if missing[node] == 0:
            ready[found] = node
            found += 1
    while done < found:
        node = ready[done]
        done += 1
        highest = max(highest, ranks[node])
        for place in range(starts[node], starts[node + 1]):
            reader = readers[place]
            ranks[reader] = max(ranks[reader], ranks[node] + 1)
            missing[reader] -= 1
            if missing[reader] == 0:
                ready[found] = reader
                found += 1
    for node in range(nodes):
        if missing[node] > 0:
            ranks[node] = highest + 1
    return found
