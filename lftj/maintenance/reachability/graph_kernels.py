# SPDX-License-Identifier: Apache-2.0
"""Searches of a graph of steps before and after a change, and the repair of the rows that rest on
it.

The steps from node y are targets[starts[y]:starts[y + 1]], each with `flags`: bit 0 for a step that
there was before, bit 1 for one that there is now. A search takes the steps that have all bits
`wanted`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lftj.scantree.jit import compiled, load, store

BEFORE, NOW, BOTH = 1, 2, 3
PART, LOST, WON, STEPS = range(4)  # the state of a repair: next part, rows found, steps
STATE_WORDS = 4
_PRESENT, _WAS, _STAYS = 1, 2, 3  # of a node in a part: bits, and both of them


class Steps(NamedTuple):
    """Steps by the node they leave, or backward by the node they lead to."""

    starts: np.ndarray
    targets: np.ndarray
    flags: np.ndarray


class Search(NamedTuple):
    """Nodes that a search has reached: a byte per node, and a queue with room for all of them."""

    seen: np.ndarray
    queue: np.ndarray


class Rows(NamedTuple):
    """Part p has the nodes nodes[lows[p]:highs[p]]."""

    lows: np.ndarray
    highs: np.ndarray
    nodes: np.ndarray


class Doubt(NamedTuple):
    """The nodes whose rows may come or go: listed, and a byte per node."""

    nodes: np.ndarray
    marks: np.ndarray


class Found(NamedTuple):
    """Rows as columns of part and node."""

    parts: np.ndarray
    nodes: np.ndarray


@compiled
def reach(graph, wanted, search, tail, goal, without):
    """Search from the `tail` nodes in the queue, which are seen, until `goal` is (none: -1).

    Nodes with a mark in `without` are left out. Gives the nodes reached and the steps made.
    """
    starts, targets, flags = graph
    seen, queue = search
    head = 0
    steps = 0
    while head < tail and (goal < 0 or seen[goal] == 0):
        node = load(queue, head)
        head += 1
        low, high = load(starts, node), load(starts, node + 1)
        steps += high - low + 1
        for i in range(low, high):
            target = load(targets, i)
            if flags[i] & wanted == wanted and seen[target] == 0 and without[target] == 0:
                seen[target] = 1
                store(queue, tail, target)
                tail += 1
    return tail, steps


@compiled
def components(graph, wanted, found, roots, stack, path, places):
    """Number the strongly connected components of a graph into `found`, which is 0 everywhere
    [Pearce 2016]. The others are room for a word per node.

    O(nodes + steps).
    """
    starts, targets, flags = graph
    nodes = starts.size - 1
    index, component, held = 1, nodes, 0
    for start in range(nodes):
        if load(found, start) != 0:
            continue
        depth = 0
        store(path, 0, start)
        store(places, start, load(starts, start))
        store(found, start, index)
        store(roots, start, 1)
        index += 1
        while depth >= 0:
            node = load(path, depth)
            place = load(places, node)
            if place < load(starts, node + 1):
                store(places, node, place + 1)
                target = load(targets, place)
                if flags[place] & wanted != wanted:
                    continue
                if load(found, target) == 0:
                    depth += 1
                    store(path, depth, target)
                    store(places, target, load(starts, target))
                    store(found, target, index)
                    store(roots, target, 1)
                    index += 1
                elif load(found, target) < load(found, node):
                    store(found, node, load(found, target))
                    store(roots, node, 0)
                continue
            depth -= 1
            if depth >= 0 and load(found, node) < load(found, load(path, depth)):
                store(found, load(path, depth), load(found, node))
                store(roots, load(path, depth), 0)
            if load(roots, node) == 0:
                store(stack, held, node)
                held += 1
                continue
            index -= 1
            while held > 0 and load(found, node) <= load(found, load(stack, held - 1)):
                held -= 1
                store(found, load(stack, held), component)
                index -= 1
            store(found, node, component)
            component -= 1


@compiled
def repair(rows, seeds, doubt, ahead, back, search, state, lost, won):
    """Find which nodes in doubt each part loses and wins; how far it came is in the state.

    `rows`: nodes that the part had, at least those in doubt and those from which a step leads to
    one; `seeds`: nodes in doubt that it begins with now. Nodes that are not in doubt stay as they
    are. Where no node is listed in doubt, all that the part has follows from its seeds. Stops
    before a part for which there is no room. O(nodes of the part + steps that touch a node in
    doubt) a part.
    """
    seen, queue = search
    marks = doubt.marks
    part, losses, wins, steps = state[PART], state[LOST], state[WON], state[STEPS]
    while part < rows.lows.size:
        low, high = load(rows.lows, part), load(rows.highs, part)
        if losses + high - low > lost.parts.size or wins + marks.size > won.parts.size:
            break
        steps += high - low + doubt.nodes.size
        for i in range(low, high):
            node = load(rows.nodes, i)
            seen[node] = _WAS if marks[node] else _STAYS
        tail = 0
        for i in range(load(seeds.lows, part), load(seeds.highs, part)):
            node = load(seeds.nodes, i)
            if marks[node] and not seen[node] & _PRESENT:
                seen[node] |= _PRESENT
                store(queue, tail, node)
                tail += 1
        for i in range(doubt.nodes.size):
            node = load(doubt.nodes, i)
            if seen[node] & _PRESENT:
                continue
            for j in range(load(back.starts, node), load(back.starts, node + 1)):
                steps += 1
                origin = load(back.targets, j)
                if back.flags[j] & NOW and not marks[origin] and seen[origin] & _PRESENT:
                    seen[node] |= _PRESENT
                    store(queue, tail, node)
                    tail += 1
                    break
        head = 0
        while head < tail:
            node = load(queue, head)
            head += 1
            for j in range(load(ahead.starts, node), load(ahead.starts, node + 1)):
                steps += 1
                target = load(ahead.targets, j)
                if ahead.flags[j] & NOW and marks[target] and not seen[target] & _PRESENT:
                    seen[target] |= _PRESENT
                    store(queue, tail, target)
                    tail += 1
        for i in range(low, high):
            node = load(rows.nodes, i)
            if seen[node] == _WAS:
                store(lost.parts, losses, part)
                store(lost.nodes, losses, node)
                losses += 1
        for i in range(tail):
            node = load(queue, i)
            if seen[node] == _PRESENT:
                store(won.parts, wins, part)
                store(won.nodes, wins, node)
                wins += 1
            seen[node] = 0
        for i in range(low, high):
            seen[load(rows.nodes, i)] = 0
        part += 1
    state[PART], state[LOST], state[WON], state[STEPS] = part, losses, wins, steps
