"""Strongly connected components."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lftj.program.strata import components

graphs = st.dictionaries(
    st.sampled_from("abcdefg"), st.lists(st.sampled_from("abcdefg"), unique=True)
)


def reachable(graph: dict[str, list[str]], start: str) -> set[str]:
    """All nodes on ways of at least one edge from `start`."""
    found: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        if (node := waiting.pop()) not in found:
            found.add(node)
            waiting += graph[node]
    return found


@given(graphs)
def test_members_reach_one_another_and_come_after_what_they_read(drawn: dict[str, list[str]]):
    graph = {
        node: [target for target in targets if target in drawn] for node, targets in drawn.items()
    }
    found = components(graph)
    assert sorted(node for members in found for node in members) == sorted(graph)
    place = {node: number for number, members in enumerate(found) for node in members}
    reach = {node: reachable(graph, node) for node in graph}
    for left in graph:
        assert all(place[target] <= place[left] for target in graph[left])
        for right in graph:
            assert (place[left] == place[right]) == (
                left == right or (right in reach[left] and left in reach[right])
            )


def test_the_order_is_that_of_the_keys():
    graph = {"c": ["a"], "a": ["b"], "b": ["a"], "d": []}
    assert components(graph) == [["a", "b"], ["c"], ["d"]]


def test_chains_of_any_depth():
    depth = 100_000
    graph = {
        f"n{number}": [f"n{number + 1}"] if number < depth else ["n0"]
        for number in range(depth + 1)
    }
    assert len(components(graph)) == 1
    graph[f"n{depth}"] = []
    assert [members[0] for members in components(graph)] == [
        f"n{number}" for number in range(depth, -1, -1)
    ]
