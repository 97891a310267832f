"""Made graphs: the same seed gives the same edges, for ever. Every generator returns two int64
columns, sorted and distinct.
"""

from __future__ import annotations

import heapq

import numpy as np

Edges = tuple[np.ndarray, np.ndarray]


def _sorted_edges(packed: np.ndarray) -> Edges:
    """Edges from distinct, sorted codes `source << 32 | target`."""
    return packed >> 32, packed & 0xFFFFFFFF


def _distinct(packed: np.ndarray) -> np.ndarray:
    ordered = np.sort(packed)
    keep = np.ones(len(ordered), dtype=bool)
    keep[1:] = ordered[1:] != ordered[:-1]
    return ordered[keep]


def rmat(edges: int, scale: int, seed: int = 1, *, oriented: bool = True) -> Edges:
    """A power-law graph on 2^scale nodes [Chakrabarti 2004, a=.57 b=.19 c=.19].

    Edges point from the smaller to the larger node, or as drawn when not `oriented`: then there are
    cycles. 1,000,000 edges at scale 16 with seed 1 hold 16,981,332 triangles. Fewer edges come out
    when the graph has no room for them.
    """
    a, b, c = 0.57, 0.19, 0.19
    random = np.random.default_rng(seed)
    draws = int(edges * 1.35)
    source = np.zeros(draws, np.int64)
    target = np.zeros(draws, np.int64)
    for _ in range(scale):
        draw = random.random(draws)
        source = (source << 1) | (draw > a + b)
        target = (target << 1) | (((draw > a) & (draw <= a + b)) | (draw > a + b + c))
    low, high = (
        (np.minimum(source, target), np.maximum(source, target)) if oriented else (source, target)
    )
    loopless = low != high
    packed = _distinct(low[loopless] << 32 | high[loopless])
    random.shuffle(packed)
    return _sorted_edges(np.sort(packed[:edges]))


def random_graph(nodes: int, probability: float, seed: int = 1) -> Edges:
    """Every ordered pair of different nodes is an edge with the given probability. RAND1K is 1,000
    nodes at 0.01.
    """
    present = np.random.default_rng(seed).random((nodes, nodes)) < probability
    np.fill_diagonal(present, False)
    source, target = np.nonzero(present)
    return source.astype(np.int64), target.astype(np.int64)


def _random_tree(nodes: int, random: np.random.Generator) -> list[tuple[int, int]]:
    """A uniformly random labelled tree, decoded from its Prüfer code."""
    code = random.integers(0, nodes, nodes - 2).tolist()
    degree = np.bincount(code, minlength=nodes) + 1
    leaves = np.flatnonzero(degree == 1).tolist()
    heapq.heapify(leaves)
    pairs = []
    for node in code:
        pairs.append((heapq.heappop(leaves), node))
        degree[node] -= 1
        if degree[node] == 1:
            heapq.heappush(leaves, node)
    pairs.append((heapq.heappop(leaves), heapq.heappop(leaves)))
    return pairs


def _rooted(pairs: list[tuple[int, int]], nodes: int, root: int) -> list[tuple[int, int]]:
    """The same tree with every edge pointing away from `root`."""
    neighbours: list[list[int]] = [[] for _ in range(nodes)]
    for one, other in pairs:
        neighbours[one].append(other)
        neighbours[other].append(one)
    edges, reached, stack = [], {root}, [root]
    while stack:
        parent = stack.pop()
        for child in neighbours[parent]:
            if child not in reached:
                reached.add(child)
                edges.append((parent, child))
                stack.append(child)
    return edges


def random_forest(edges: int, tree_edges: int = 4000, seed: int = 1) -> Edges:
    """Uniformly random rooted labelled trees of `tree_edges` edges each, edges pointing to the
    leaves, labels shuffled over the forest.
    """
    random = np.random.default_rng(seed)
    trees, size = edges // tree_edges, tree_edges + 1
    label = random.permutation(trees * size)
    pairs = []
    for tree in range(trees):
        rooted = _rooted(_random_tree(size, random), size, int(random.integers(size)))
        pairs.append(np.array(rooted, np.int64) + tree * size)
    source, target = label[np.concatenate(pairs)].T.astype(np.int64)
    return _sorted_edges(np.sort(source << 32 | target))


def skewed(n: int) -> Edges:
    """{(0,i), (i,0), (i,i+1) | 1 ≤ i ≤ n}: quadratic for every plan that joins two edges first,
    linear for a worst-case optimal join.
    """
    i = np.arange(1, n + 1, dtype=np.int64)
    zero = np.zeros(n, np.int64)
    packed = np.concatenate([zero << 32 | i, i << 32 | zero, i << 32 | (i + 1)])
    return _sorted_edges(_distinct(packed))
