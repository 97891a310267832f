# SPDX-License-Identifier: Apache-2.0
"""Relations and views of a version with their sizes: what a workspace shows of itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from lftj.explain.present.explain import reads_of
from lftj.program import Program, describe
from lftj.proofs import Drawing, Edge, Fold, Line, Table, to_html, to_text

_SHOWN = 200


@dataclass(frozen=True)
class Shown:
    """A relation: its `rows`, None where they are not counted, and its place: the `stratum` that
    derives it, 0 for base facts, and whether that is `recursive`.
    """

    name: str
    columns: tuple[tuple[str, str], ...]
    rows: int | None
    stratum: int
    recursive: bool
    rules: tuple[int, ...]
    reads: tuple[str, ...]

    @property
    def kind(self) -> str:
        """One of "relation", "view" and "recursive view"."""
        return "relation" if not self.rules else "recursive view" if self.recursive else "view"


@dataclass(frozen=True)
class Overview:
    """The relations of one version, and its rules as text."""

    version: int
    relations: tuple[Shown, ...]
    rules: tuple[str, ...]
    program: Program

    def to_dict(self) -> dict[str, Any]:
        """The relations and rules as dictionaries and lists."""
        found = [
            {
                **asdict(each),
                "kind": each.kind,
                "columns": [list(column) for column in each.columns],
                "rules": list(each.rules),
                "reads": list(each.reads),
            }
            for each in self.relations
        ]
        return {"version": self.version, "relations": found, "rules": list(self.rules)}

    def drawing(self) -> Drawing:
        """The relations as a graph, from what is read to what is derived."""
        return views_drawing(self.program, {}, {each.name: each.rows for each in self.relations})

    def _fold(self) -> Fold:
        count = len(self.relations)
        title = (
            f"version {self.version}: {count:,} relation{'s' * (count != 1)}, "
            f"{len(self.rules):,} rule{'s' * (len(self.rules) != 1)}"
        )
        columns = ("relation", "kind", "rows", "stratum", "columns")
        rows = [
            (
                each.name,
                each.kind,
                "" if each.rows is None else f"{each.rows:,}",
                str(each.stratum or ""),
                ", ".join(f"{name}: {type}" for name, type in each.columns),
            )
            for each in self.relations[:_SHOWN]
        ]
        rules = Fold("rules", [Line(rule) for rule in self.rules[:_SHOWN]], open=False)
        return Fold(title, [Table(columns, rows), rules])

    def html(self) -> str:
        """The relations and rules for a notebook."""
        return to_html(self._fold(), "lftj-workspace")

    def __str__(self) -> str:
        return to_text(self._fold())


def overview(version: int, program: Program, rows: Callable[[str], int | None]) -> Overview:
    """The relations of a program; `rows` counts those of one. O(rules)."""
    heads, reads = _by_head(program)
    shown = []
    for name, schema in program.catalog.relations.items():
        stratum = program.order.stratum_of(name)
        columns = tuple((column, str(type)) for column, type in schema.columns)
        shown.append(
            Shown(
                name,
                columns,
                rows(name),
                0 if stratum is None else program.order.place[name] + 1,
                stratum is not None and stratum.recursive,
                tuple(heads.get(name, ())),
                tuple(reads.get(name, ())),
            )
        )
    rules = tuple(str(source.rule) for source in program.sources.values())
    return Overview(version, tuple(shown), rules, program)


def _by_head(program: Program) -> tuple[dict[str, list[int]], dict[str, dict[str, None]]]:
    """The numbers of the rules of each relation, from 1 on as they are listed, and what these
    read.
    """
    heads: dict[str, list[int]] = {}
    reads: dict[str, dict[str, None]] = {}
    for number, source in enumerate(program.sources.values(), 1):
        for head in source.rule.heads:
            heads.setdefault(head.relation, []).append(number)
            found = (*reads_of(source.rule.body), *reads_of(*head.terms))
            reads.setdefault(head.relation, {}).update(dict.fromkeys(found))
    return heads, reads


def views_drawing(
    program: Program, seconds: Mapping[str, float], rows: Mapping[str, int | None] | None = None
) -> Drawing:
    """The relations of a program as a graph, from what is read to what is derived."""
    heads, reads = _by_head(program)
    nodes: dict[str, dict[str, Any]] = {}
    for name, schema in program.catalog.relations.items():
        about: dict[str, Any] = {"label": describe(schema), "filled": name not in heads}
        spent = sum(each for names, each in seconds.items() if name in names.split(", "))
        if name in heads and seconds:
            about |= {"seconds": spent, "label": f"{name}\n{spent * 1e3:,.1f} ms"}
        if rows is not None:
            about |= {"rows": rows[name], "label": _sized(name, rows[name])}
        nodes[name] = {**about, "derived": name in heads}
    edges: list[Edge] = [
        (read, name, {}) for name, found in reads.items() for read in found if read in nodes
    ]
    return Drawing("workspace", nodes, edges)


def _sized(name: str, rows: int | None) -> str:
    return name if rows is None else f"{name}\n{rows:,} rows"
