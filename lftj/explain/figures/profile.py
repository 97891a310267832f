"""Work of commits: what `ws.profile()` gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

from lftj.engine.versions import Result
from lftj.errors import DeclarationError
from lftj.explain.figures.reasons import reason
from lftj.explain.figures.views import views_drawing
from lftj.explain.plans.analysis import duration
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
    ("outcome", STR), ("rows", INT), ("reason", STR),
)  # fmt: skip

_SHOWN = ("relation", "rule", "strategy", "rows", "head_changes", "steps", "seconds", "reason")
_SHOWN_COMMITS = 20


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
    ):
        """For backends. Rows begin with the version of their commit. `frame`: they as a DataFrame,
        where it is not made of the columns.
        """
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
        """The views as a graph for Graphviz: what each reads, and the seconds that it took."""
        return self._drawing().to_dot()

    def to_networkx(self) -> Any:
        """The relations and views as a `networkx.DiGraph` from what is read to what is derived;
        views have the `seconds` that they took. Needs networkx.
        """
        return self._drawing().to_networkx()

    def _drawing(self) -> Drawing:
        spent: dict[str, float] = {}
        for commit in self._commits():
            for each in commit["rules"]:
                name = each.get("relation", "")
                spent[name] = spent.get(name, 0.0) + each["seconds"]
        return views_drawing(self._program, spent)

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
    """One row per commit and rule, of the `last` commits, the oldest first; a commit without work
    for rules has none.
    """
    commits = last_commits(engine.history, last)
    rows = [_row(version, work) for version, works in commits for work in works]
    rows.sort(key=lambda row: row[0])
    return Profile(COLUMNS, rows, engine.state.version, engine.state.program)


def _row(version: int, work: RuleWork) -> tuple[Any, ...]:
    *counted, moved = astuple(work)
    return version, *counted, reason(work.strategy, work.outcome, moved)
