# SPDX-License-Identifier: Apache-2.0
"""A graph to be drawn: for Graphviz as text, for networkx as a `DiGraph`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lftj.errors import MissingDependencyError

Edge = tuple[Any, Any, Mapping[str, Any]]


@dataclass(frozen=True)
class Drawing:
    """Hashable nodes with their attributes, and edges from node to node. A node shows its
    `label`; one that is `filled` stands out, as base facts do.
    """

    name: str
    nodes: Mapping[Any, Mapping[str, Any]]
    edges: Sequence[Edge]

    def to_dot(self) -> str:
        """The graph in the language of Graphviz."""
        number = {node: place for place, node in enumerate(self.nodes)}
        lines = [f"digraph {self.name} {{", "  node [shape=box];"]
        for node, about in self.nodes.items():
            filled = ", style=filled" if about.get("filled") else ""
            lines.append(f'  s{number[node]} [label="{_quoted(str(about["label"]))}"{filled}];')
        for above, below, about in self.edges:
            label = f' [label="{_quoted(str(about["label"]))}"]' if "label" in about else ""
            lines.append(f"  s{number[above]} -> s{number[below]}{label};")
        return "\n".join([*lines, "}"]) + "\n"

    def to_networkx(self) -> Any:
        """The graph as a `networkx.DiGraph` with the attributes of nodes and edges. Raises
        MissingDependencyError (E250) without networkx.
        """
        try:
            import networkx
        except ImportError:
            raise MissingDependencyError.of("networkx") from None

        graph = networkx.DiGraph()
        hidden = ("label", "filled")
        for node, about in self.nodes.items():
            graph.add_node(node, **{key: each for key, each in about.items() if key not in hidden})
        for above, below, about in self.edges:
            graph.add_edge(above, below, **about)
        return graph


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
