# SPDX-License-Identifier: Apache-2.0
"""Work of commits: what `ws.profile()` gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

from lftj.engine.versions import Result
from lftj.errors import DeclarationError
from lftj.explain.figures.reasons import reason
from lftj.explain.figures.views import views_drawing
from lftj.explain.plans import Node, Nodes, duration
from lftj.maintenance.inputs import RuleWork
from lftj.program import Program
from lftj.proofs import Drawing, Fold, Table, to_html, to_text
from lftj.types import FLOAT, INT, STR, Type

if TYPE_CHECKING:
    import pandas

    from lftj.engine.live import Engine

Commit = TypeVar("Commit")

COLUMNS = (
    ("version", INT), ("relation", STR), ("rule", STR), ("strategy", STR), ("surgeries", INT),
    ("stabs", INT), ("regions", INT),
    ("steps", INT), ("assignments", INT), ("head_changes", INT), ("bytes", INT), ("seconds", FLOAT),
    ("cpu_seconds", FLOAT), ("parts", INT), ("largest_part", INT), ("compile_seconds", FLOAT),
    ("outcome", STR), ("rows", INT), ("reason", STR), ("node", STR),
)  # fmt: skip

_SHOWN = (
    "node",
    "relation",
    "rule",
    "strategy",
    "rows",
    "head_changes",
    "steps",
    "seconds",
    "reason",
)
_SHOWN_COMMITS = 20
_LARGEST = ("rows", "largest_part")
"""Figures of a node that are not added up."""


class Profile:
    """Costs of the last commits, the oldest first: `print()` it for a tree of commits and rules,
    or take `to_dict()`; neither needs pandas. It reads as its DataFrame too:
    `ws.profile()["seconds"].sum()`.
    """

    def __init__(
        self,
        columns: Sequence[tuple[str, Type]],
        rows: Sequence[Sequence[Any]],
        version: int,
        program: Program,
        frame: Callable[[], pandas.DataFrame] | None = None,
        nodes: Nodes | None = None,
    ):
        """For backends. Rows begin with the version of their commit. `frame`: they as a DataFrame,
        where it is not made of the columns. `nodes`: the graph of views, where it is known.
        """
        self._nodes = nodes
        self._columns, self._rows, self._frame = tuple(columns), list(rows), frame
        self._version, self._program = version, program

    def to_dict(self, *args: Any, **options: Any) -> Any:
        """The commits as dictionaries and lists, each with the `seconds` its views took,
        `compile_seconds`, and its rows in `rules`. With arguments: those of `DataFrame.to_dict`.
        """
        if args or options:
            return self.df().to_dict(*args, **options)
        return {"version": self._version, "commits": [dict(each) for each in self._commits()]}

    def result(self) -> Result:
        """The rows as a table."""
        return Result.of_rows(self._columns, self._rows, version=self._version, name="profile")

    def df(self) -> pandas.DataFrame:
        """The rows as a pandas DataFrame."""
        return self._made

    @cached_property
    def _made(self) -> pandas.DataFrame:
        if self._frame is not None:
            return self._frame()
        return self.result().df().sort_values("version", kind="stable", ignore_index=True)

    def to_dot(self) -> str:
        """The graph of views for Graphviz: what each node reads, and the seconds that it took."""
        return self._drawing().to_dot()

    def to_networkx(self) -> Any:
        """The graph of views as a `networkx.DiGraph` from what is read to what is derived; nodes
        that did work have the `seconds` that it took. Over parts, relations and views. Needs
        networkx.
        """
        return self._drawing().to_networkx()

    def _drawing(self) -> Drawing:
        spent: dict[str, float] = {}
        by = "relation" if self._nodes is None else "node"
        for commit in self._commits():
            for each in commit["rules"]:
                name = each.get(by, "")
                spent[name] = spent.get(name, 0.0) + each["seconds"]
        if self._nodes is None:
            return views_drawing(self._program, spent)
        return self._nodes.drawing(spent)

    def _commits(self) -> Iterator[dict[str, Any]]:
        names = [name for name, _ in self._columns]
        for version, rows in groupby(self._rows, key=lambda row: row[0]):
            rules = [dict(zip(names, row, strict=True)) for row in rows]
            yield {
                "version": version,
                "seconds": sum(each["seconds"] for each in rules),
                "compile_seconds": sum(each["compile_seconds"] for each in rules),
                "rules": rules,
            }

    # ── as a DataFrame ────────────────────────────────────────────────────────────────────────────
    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.df(), name)

    def __getitem__(self, key: Any) -> Any:
        return self.df()[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.df())

    def __len__(self) -> int:
        return len(self._rows)

    # ── showing ───────────────────────────────────────────────────────────────────────────────────
    def _fold(self) -> Fold:
        commits = list(self._commits())
        shown = commits[-_SHOWN_COMMITS:]
        earlier = f", the last {len(shown)} shown" if len(shown) < len(commits) else ""
        title = f"{len(commits):,} commit{'s' * (len(commits) != 1)}{earlier}"
        return Fold(title, [self._commit(each, each is commits[-1]) for each in shown])

    def _commit(self, commit: Mapping[str, Any], last: bool) -> Fold:
        compiled = commit["compile_seconds"]
        apart = f", and {duration(compiled)} compiling" if compiled else ""
        rows = sorted(commit["rules"], key=lambda each: -each["seconds"])
        known = [name for name, _ in self._columns]
        columns = [name for name in _SHOWN if name in known]
        if "rule" not in known:
            columns = [name for name in known if name != "version"]
        cells = [[_cell(name, each[name]) for name in columns] for each in rows]
        title = f"version {commit['version']}: {duration(commit['seconds'])} in views{apart}"
        return Fold(title, [Table(columns, cells)], open=last)

    def _repr_html_(self) -> str:
        return to_html(self._fold(), "lftj-profile")

    def __str__(self) -> str:
        return to_text(self._fold())

    __repr__ = __str__


def _cell(name: str, value: Any) -> str:
    if isinstance(value, float):
        return duration(value) if name.endswith("seconds") else f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def last_commits(commits: Iterable[Commit], last: int | None) -> list[Commit]:
    """The last so many of these, all where there are fewer or `last` is None. Raises
    DeclarationError (E160) for what is no such number.
    """
    known = list(commits)
    if last is None:
        return known
    if isinstance(last, bool) or not isinstance(last, int) or last < 0:
        raise DeclarationError(
            f"`last` is a number of commits, found {last!r}",
            hint="leave it out for all: `ws.profile()`",
        )
    return known[max(0, len(known) - last) :]


def profile_report(engine: Engine, last: int | None) -> Profile:
    """One row per commit and node of the graph of views, of the `last` commits, the oldest first; a
    commit without work for rules has none.
    """
    commits, nodes = last_commits(engine.history, last), Nodes(engine.state)
    rows = [
        _row(version, node, works)
        for version, found in commits
        for node, works in _by_node(found, nodes.by_work)
    ]
    rows.sort(key=lambda row: row[0])
    return Profile(COLUMNS, rows, engine.state.version, engine.state.program, nodes=nodes)


def _by_node(
    works: Iterable[RuleWork], nodes: Mapping[tuple[str, str], Node]
) -> Iterator[tuple[str, list[RuleWork]]]:
    """The works of a commit with the names of their nodes, as far as these are still there; those
    of one group together, as it is brought up to date once for all its rules.
    """
    groups: dict[str, list[RuleWork]] = {}
    for work in works:
        node = nodes.get((str(work.relation), work.rule))
        if node is None or node.kind != "group":
            yield "" if node is None else node.name, [work]
        elif node.name in groups:
            groups[node.name].append(work)
        else:
            groups[node.name] = [work]
    yield from groups.items()


def _row(version: int, node: str, works: Sequence[RuleWork]) -> tuple[Any, ...]:
    """The row of the works of one node: figures are added up, the words are those of the first,
    which brought the node up to date. `works`: one at least.
    """
    first = works[0]
    counted = {
        name: sum(getattr(work, name) for work in works)
        for name, type in COLUMNS
        if type is not STR and name != "version"
    }
    counted |= {name: max(getattr(work, name) for work in works) for name in _LARGEST}
    words = {
        "version": version,
        "relation": ", ".join(dict.fromkeys(str(work.relation) for work in works)),
        "rule": ", ".join(dict.fromkeys(work.rule for work in works)),
        "strategy": first.strategy,
        "outcome": first.outcome,
        "reason": reason(first.strategy, first.outcome, first.moved),
        "node": node,
    }
    found = counted | words
    return tuple(found[name] for name, _ in COLUMNS)
