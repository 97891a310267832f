"""Programs with `min` or `max` in a cycle, and what networkx finds where they are of graphs."""

from __future__ import annotations

import networkx

SHORTEST = """
.decl source(x: int)
.decl edge(x: int, y: int, w: int)
.decl dist(x: int, d: int)
dist(y, min(0)) :- source(y).
dist(y, min(e)) :- dist(x, d), edge(x, y, w), e = d + w.
"""

WIDEST = """
.decl source(x: int)
.decl edge(x: int, y: int, w: int)
.decl wide(w: int, x: int)
wide(max(1000), y) :- source(y).
wide(max(min(c, w)), y) :- wide(c, x), edge(x, y, w).
"""

LABELS = """
.decl edge(x: int, y: int, w: int)
.decl link(x: int, y: int)
.decl label(x: int, l: int)
link(x, y) :- edge(x, y, _) ; edge(y, x, _).
label(x, min(x)) :- link(x, _).
label(y, min(l)) :- label(x, l), link(x, y).
"""

Edges = dict[tuple[int, int], int]


def shortest(edges: Edges) -> set[tuple[int, int]]:
    """(node, distance from node 0)."""
    found = networkx.single_source_dijkstra_path_length(graph(edges), 0)
    return {(node, int(distance)) for node, distance in found.items()}


def widest(edges: Edges) -> set[tuple[int, int]]:
    """(least weight on a path from node 0 where that is greatest, node): the widest path is the one
    along a maximum spanning arborescence, found here by asking each weight whether its heavier
    edges lead there.
    """
    found = {0: 1000}
    for weight in sorted(set(edges.values()), reverse=True):
        heavy = graph({edge: w for edge, w in edges.items() if w >= weight})
        for node in networkx.descendants(heavy, 0):
            found.setdefault(node, weight)
    return {(weight, node) for node, weight in found.items()}


def labels(edges: Edges) -> set[tuple[int, int]]:
    """(node, least node of its component)."""
    parts = networkx.weakly_connected_components(graph(edges))
    ends = {node for edge in edges for node in edge}
    return {(node, min(part)) for part in parts for node in part if node in ends}


def graph(edges: Edges) -> networkx.DiGraph:
    made = networkx.DiGraph()
    made.add_node(0)
    made.add_weighted_edges_from((x, y, w) for (x, y), w in edges.items())
    return made


CASES = {"dist": (SHORTEST, shortest), "wide": (WIDEST, widest), "label": (LABELS, labels)}

OTHERS = {
    "a body with the relation twice": """
        cost(x, min(w)) :- own(x, w).
        cost(z, min(c + d)) :- cost(x, c), cost(y, d), both(x, y, z).""",
    "through another relation of the cycle": """
        cost(x, min(w)) :- own(x, w), !closed(x).
        cost(z, min(c + 1)) :- open(x), cost(x, c), both(x, _, z).
        open(x) :- cost(x, d), d < 9.""",
    "through a relation that has rows of its own": """
        cost(x, min(w)) :- own(x, w).
        cost(z, min(c + 1)) :- closed(x), cost(x, c), both(x, _, z).
        closed(x) :- cost(x, d), both(_, x, _), d < 4.""",
    "values that stop being good enough": """
        cost(x, min(w)) :- own(x, w).
        cost(z, min(2 * c + 1)) :- cost(x, c), both(x, y, z), limit(y, l), c <= l - 1.""",
    "one value for all": """
        best(min(w)) :- own(_, w).
        best(min(max(b / 2, 1))) :- best(b), own(_, w), b < w.
        cost(x, b) :- best(b), own(x, _).""",
    "branches of one rule": """
        cost(x, min(c)) :- ( own(x, c) ; cost(y, d), c = d + 1, ( both(x, y, _) ; both(x, _, y) ) ),
            !closed(x).""",
    "two relations in turn": """
        cost(x, min(w)) :- own(x, w).
        cost(z, min(c)) :- back(c, z).
        back(min(c + w), y) :- cost(x, c), both(x, y, w).""",
    "the other way by subtraction": """
        cost(x, min(w)) :- own(x, w).
        back(max(100 - c), z) :- cost(x, c), both(x, z, _).
        cost(z, min(100 - c)) :- back(c, x), both(x, _, z).""",
    "several rules that are no cycle": """
        cost(x, min(w)) :- own(x, w).
        cost(x, min(l)) :- limit(x, l).
        open(x) :- cost(x, c), c > 3, !closed(x).""",
}

DECLARATIONS = """
.decl own(x: int, w: int)
.decl both(x: int, y: int, z: int)
.decl limit(x: int, l: int)
.decl closed(x: int)
.decl cost(x: int, c: int)
.decl back(c: int, x: int)
.decl open(x: int)
.decl best(b: int)
"""
