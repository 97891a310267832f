# SPDX-License-Identifier: Apache-2.0
"""Layout of the graph of strata: relations in columns from base facts to the last views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SHOWN = 150
"""Relations that are drawn."""
_LETTER, _LONGEST, _HEIGHT, _GAP, _BETWEEN = 7.5, 28, 40, 14, 70


def layout(relations: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Places of relations and lines between them, for SVG: `width`, `height`, `nodes` with x, y, w
    and h, and `edges` as paths. The first SHOWN relations, and of those in one stratum all stand in
    one column.
    """
    shown = {each["name"]: each for each in relations[:SHOWN]}
    columns = _columns(shown)
    nodes: dict[str, dict[str, Any]] = {}
    x = 4.0
    height = max((len(names) for names in columns), default=0) * (_HEIGHT + _GAP)
    for names in columns:
        width = max(_width(shown[name]) for name in names)
        y = (height - len(names) * (_HEIGHT + _GAP)) / 2 + _GAP / 2
        for name in _ordered(names, shown, nodes):
            nodes[name] = _node(shown[name], x, y, width)
            y += _HEIGHT + _GAP
        x += width + _BETWEEN
    edges = [
        _path(nodes[read], nodes[name])
        for name, each in shown.items()
        for read in each["reads"]
        if read in nodes and read != name
    ]
    return {
        "width": round(max(0.0, x - _BETWEEN) + 4),
        "height": round(height),
        "nodes": list(nodes.values()),
        "edges": edges,
        "left_out": len(relations) - len(shown),
    }


def with_shared(
    relations: Sequence[Mapping[str, Any]], shared: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """The relations with the nodes that several of them share drawn between: a relation reads these
    in place of what these read.
    """
    found = {each["name"]: dict(each) for each in relations}
    between: list[Mapping[str, Any]] = []
    for node in shared:
        readers = [found[name] for name in node["relations"] if name in found]
        if not readers:
            continue
        for each in readers:
            left = [name for name in each["reads"] if name not in node["reads"]]
            each["reads"] = (*left, node["name"])
        stratum = min((each["stratum"] for each in readers), default=1) - 0.5
        about = {"kind": node["kind"], "rows": None, "rules": node["rules"], "shared": True}
        between.append({"name": node["name"], "stratum": stratum, "reads": node["reads"]} | about)
    return sorted([*found.values(), *between], key=lambda each: each["stratum"])


def _columns(shown: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """Names by their distance from base facts: each stratum reads columns before its own."""
    strata: dict[Any, list[str]] = {}
    for name, each in shown.items():
        strata.setdefault(each["stratum"] or name, []).append(name)
    column: dict[str, int] = {}
    for _, names in sorted(strata.items(), key=lambda pair: shown[pair[1][0]]["stratum"]):
        before = [read for name in names for read in shown[name]["reads"] if read not in names]
        base = not shown[names[0]]["rules"]
        own = 0 if base else 1 + max((column.get(read, 0) for read in before), default=0)
        column |= dict.fromkeys(names, own)
    for name, each in shown.items():
        readers = [column[other] for other, about in shown.items() if name in about["reads"]]
        if not each["rules"] and readers:
            column[name] = max(0, min(readers) - 1)  # next to whoever reads it first
    found: dict[int, list[str]] = {}
    for name, own in column.items():
        found.setdefault(own, []).append(name)
    return [found[own] for own in sorted(found)]


def _ordered(
    names: Sequence[str], shown: Mapping[str, Mapping[str, Any]], nodes: Mapping[str, Any]
) -> list[str]:
    """The relations of a column, each near to what it reads."""

    def middle(name: str) -> float:
        places = [nodes[read]["y"] for read in shown[name]["reads"] if read in nodes]
        return sum(places) / len(places) if places else 0.0

    return sorted(names, key=middle)


def _label(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"


def _width(relation: Mapping[str, Any]) -> float:
    return max(76.0, 20 + _LETTER * len(_label(relation["name"])))


def _node(relation: Mapping[str, Any], x: float, y: float, width: float) -> dict[str, Any]:
    recursive = " ↻" if relation["kind"] == "recursive view" else ""
    count = relation["rows"]
    rows = "" if count is None else f"{count:,} row{'s' * (count != 1)}"
    return {
        "name": relation["name"],
        "label": f"{_label(relation['name'])}{recursive}",
        "rows": rows,
        "base": not relation["rules"],
        "shared": relation.get("shared", False),
        "x": round(x, 1),
        "y": round(y, 1),
        "w": round(width, 1),
        "h": _HEIGHT,
    }


def _path(start: Mapping[str, Any], end: Mapping[str, Any]) -> str:
    """A curve from the right of one relation to the left of another; inside a column, at its
    right.
    """
    x, y = start["x"] + start["w"], start["y"] + _HEIGHT / 2
    to_y = end["y"] + _HEIGHT / 2
    if start["x"] == end["x"]:
        return f"M{x:.0f},{y:.0f} C{x + 40:.0f},{y:.0f} {x + 40:.0f},{to_y:.0f} {x:.0f},{to_y:.0f}"
    to_x, bend = end["x"] - 2, _BETWEEN / 2
    return (
        f"M{x:.0f},{y:.0f} C{x + bend:.0f},{y:.0f} {to_x - bend:.0f},{to_y:.0f} "
        f"{to_x:.0f},{to_y:.0f}"
    )
