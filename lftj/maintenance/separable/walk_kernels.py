# SPDX-License-Identifier: Apache-2.0
"""Walks over a graph of steps, breadth first, one after the other from the nodes that each part
starts with.

Nodes are numbers from 0. The steps from node y go to targets[starts[y]:starts[y + 1]]. The queue
holds the nodes that the walk has reached, iteration by iteration: the nodes of one iteration lie
together, behind the nodes of all iterations before. `seen` has one byte per node: bits would be
eight times smaller, but a processor is slow to read a word again just after having written it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lftj.scantree.jit import compiled, load, store
from lftj.scantree.word_sort_kernels import begin_runs, move_to_runs

PART, HEAD, TAIL, ROWS, STEPS = range(
    5
)  # the state: part being walked, next in the queue, its end, nodes in `out`, work so far
STATE_WORDS = 5
DONE, PAUSED, FULL = range(3)

# with more than one node in so many reached, all are looked at, else what was reached is sorted
_DENSE = 6
_FEW = 40  # nodes that are sorted by insertion
DIGIT_BITS = 9  # of the numbers that radix sort counts at a time
DIGITS = 1 << DIGIT_BITS


class Graph(NamedTuple):
    """Graph of steps: the position of each node's steps (and one more entry), and their targets."""

    starts: np.ndarray
    targets: np.ndarray


class Parts(NamedTuple):
    """Part p starts with the different nodes seeds[bounds[p]:bounds[p + 1]] and ends, once walked,
    at ends[p] of the output.
    """

    bounds: np.ndarray
    seeds: np.ndarray
    ends: np.ndarray


class Reached(NamedTuple):
    """Nodes that the present walk has reached: a byte per node, all 0 between walks, and the queue.
    `spare` and `places` are for sorting it.
    """

    seen: np.ndarray
    queue: np.ndarray
    spare: np.ndarray
    places: np.ndarray


def no_nodes_reached(nodes: int) -> Reached:
    """Room for walks over so many nodes."""
    return Reached(
        np.zeros(nodes, np.int8),
        np.empty(nodes + 1, np.int64),
        np.empty(nodes, np.int64),
        np.empty(DIGITS, np.int64),
    )


@compiled
def take_dense(seen, out, rows):
    """Write the nodes seen to out[rows:] in ascending order and forget them; `out` has a word to
    spare. O(nodes).
    """
    for node in range(seen.size):
        store(out, rows, node)
        rows += int(seen[node])
        seen[node] = 0


@compiled
def insert_each(queue, count, out, rows):
    """Write the `count` different nodes of the queue to out[rows:] in ascending order. O(count²),
    for few.
    """
    for i in range(count):
        node = load(queue, i)
        at = rows + i
        while at > rows and load(out, at - 1) > node:
            store(out, at, load(out, at - 1))
            at -= 1
        store(out, at, node)


@compiled
def radix_sort(reached, count, out, rows):
    """Write the first `count` nodes of the queue to out[rows:] in ascending order; the queue is
    lost. O(count · digits).
    """
    source, other = reached.queue, reached.spare
    places = reached.places
    shift = 0
    last = False
    while not last:
        last = reached.seen.size <= DIGITS << shift
        places[:] = 0
        for i in range(count):
            digit = (load(source, i) >> shift) & (DIGITS - 1)
            store(places, digit, load(places, digit) + 1)
        begin_runs(places, 0, DIGITS, rows if last else 0)
        move_to_runs(source, count, shift, DIGITS - 1, places, 0, out if last else other)
        source, other = other, source
        shift += DIGIT_BITS


@compiled
def take(reached, count, out, rows):
    """Write the `count` nodes reached to out[rows:] in ascending order, and forget them."""
    seen, queue = reached.seen, reached.queue
    if count * _DENSE > seen.size:
        take_dense(seen, out, rows)
        return
    for i in range(count):
        seen[load(queue, i)] = 0
    if count <= _FEW:
        insert_each(queue, count, out, rows)
    else:
        radix_sort(reached, count, out, rows)


@compiled
def walk(parts, graph, reached, state, out, budget):
    """Walk parts until all are DONE, `budget` steps are made (PAUSED) or `out` has no room for a
    part (FULL); call again to go on.

    What a part reached goes to `out` in ascending order. O(nodes reached + steps from them) a part.
    """
    starts, targets = graph
    seen, queue = reached.seen, reached.queue
    part, head, tail, rows = state[PART], state[HEAD], state[TAIL], state[ROWS]
    steps = 0
    status = DONE
    while part < parts.ends.size:
        if tail == 0:
            for i in range(load(parts.bounds, part), load(parts.bounds, part + 1)):
                node = load(parts.seeds, i)
                store(queue, tail, node)
                seen[node] = 1
                tail += 1
        while head < tail and steps < budget:
            node = load(queue, head)
            head += 1
            low, high = load(starts, node), load(starts, node + 1)
            steps += high - low + 1
            for i in range(low, high):
                # written in any case and kept if new: no branch to guess
                target = load(targets, i)
                store(queue, tail, target)
                tail += 1 - int(seen[target])
                seen[target] = 1
        if head < tail or rows + tail >= out.size:
            status = PAUSED if head < tail else FULL
            break
        take(reached, tail, out, rows)
        rows += tail
        store(parts.ends, part, rows)
        part += 1
        head = 0
        tail = 0
    state[PART], state[HEAD], state[TAIL], state[ROWS] = part, head, tail, rows
    state[STEPS] += steps
    return status


@compiled
def invert(ends, nodes, node_ends, parts):
    """Regroup rows by node: `parts` gets, node by node, the parts that reached it in ascending
    order, those of a node up to its end.

    Part p reached nodes[ends[p - 1]:ends[p]]; `node_ends` has a 0 for every node. O(rows + nodes).
    """
    for i in range(nodes.size):
        node = load(nodes, i)
        store(node_ends, node, load(node_ends, node) + 1)
    total = 0
    for node in range(node_ends.size):
        rows = load(node_ends, node)
        store(node_ends, node, total)
        total += rows
    first = 0
    for part in range(ends.size):
        for i in range(first, load(ends, part)):
            node = load(nodes, i)
            store(parts, load(node_ends, node), part)
            store(node_ends, node, load(node_ends, node) + 1)
        first = load(ends, part)
