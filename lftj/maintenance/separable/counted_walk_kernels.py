# SPDX-License-Identifier: Apache-2.0
"""Walks over a graph of steps that count [Elastic, Algorithm 2, part by part]: `walk_kernels`, with
iteration and proofs of every node reached.

A node's iteration is that of the node before it plus one, and its proofs are the weights of all
steps to it from nodes of the iteration before. The queue holds nodes iteration by iteration, so a
node's proofs are complete before it is left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lftj.maintenance.separable.walk_kernels import (
    DONE,
    FULL,
    HEAD,
    PART,
    PAUSED,
    ROWS,
    STEPS,
    TAIL,
    take,
)
from lftj.scantree.jit import compiled, load, store


class Weights(NamedTuple):
    """Number of proofs of each seed of `Parts`, and number of instantiations behind each target of
    the graph.
    """

    seeds: np.ndarray
    targets: np.ndarray


class Marks(NamedTuple):
    """Iteration and proofs of the nodes that the present walk has reached; what stands elsewhere
    means nothing.
    """

    iterations: np.ndarray
    proofs: np.ndarray


class Counted(NamedTuple):
    """The output: nodes, in ascending order within a part, with their iterations and proofs. One
    word to spare.
    """

    nodes: np.ndarray
    iterations: np.ndarray
    proofs: np.ndarray


@compiled
def sow(parts, part, weights, reached, marks):
    """Begin a part with its seeds, in iteration 0: the end of the queue."""
    tail = 0
    for i in range(load(parts.bounds, part), load(parts.bounds, part + 1)):
        node = load(parts.seeds, i)
        store(reached.queue, tail, node)
        reached.seen[node] = 1
        store(marks.iterations, node, 0)
        store(marks.proofs, node, load(weights.seeds, i))
        tail += 1
    return tail


@compiled
def leave(graph, node, weights, reached, marks, tail):
    """Follow all steps from a node: the end of the queue."""
    after = load(marks.iterations, node) + 1
    for i in range(load(graph.starts, node), load(graph.starts, node + 1)):
        target = load(graph.targets, i)
        if reached.seen[target] == 0:
            reached.seen[target] = 1
            store(reached.queue, tail, target)
            store(marks.iterations, target, after)
            store(marks.proofs, target, load(weights.targets, i))
            tail += 1
        elif load(marks.iterations, target) == after:
            store(marks.proofs, target, load(marks.proofs, target) + load(weights.targets, i))
    return tail


@compiled
def counted_walk(parts, graph, weights, reached, marks, state, out, budget):
    """Walk parts until all are DONE, `budget` steps are made (PAUSED) or `out` has no room for a
    part (FULL); call again to go on.
    """
    starts = graph.starts
    part, head, tail, rows = state[PART], state[HEAD], state[TAIL], state[ROWS]
    steps = 0
    status = DONE
    while part < parts.ends.size:
        if tail == 0:
            tail = sow(parts, part, weights, reached, marks)
        while head < tail and steps < budget:
            node = load(reached.queue, head)
            head += 1
            steps += load(starts, node + 1) - load(starts, node) + 1
            tail = leave(graph, node, weights, reached, marks, tail)
        if head < tail or rows + tail >= out.nodes.size:
            status = PAUSED if head < tail else FULL
            break
        take(reached, tail, out.nodes, rows)
        for i in range(rows, rows + tail):
            node = load(out.nodes, i)
            store(out.iterations, i, load(marks.iterations, node))
            store(out.proofs, i, load(marks.proofs, node))
        rows += tail
        store(parts.ends, part, rows)
        part += 1
        head = 0
        tail = 0
    state[PART], state[HEAD], state[TAIL], state[ROWS] = part, head, tail, rows
    state[STEPS] += steps
    return status
