# SPDX-License-Identifier: Apache-2.0
"""Plan of a rule or query with what its levels cost: what `ws.explain_plan` gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lftj.engine.versions import Result
from lftj.proofs import Drawing, Fold, Line, Table, to_html, to_text
from lftj.types import FLOAT, INT, STR

if TYPE_CHECKING:
    import pandas

COLUMNS = (
    ("relation", STR),
    ("level", INT),
    ("variable", STR),
    ("atoms", STR),
    ("estimated", FLOAT),
    ("actual", INT),
    ("seeks", INT),
    ("seconds", FLOAT),
    ("bytes", INT),
)


@dataclass(frozen=True)
class LevelCost:
    """One level of a plan. `estimated` and `actual`: bindings of the levels up to this one; `seeks`
    (kernel steps) and `seconds`: of this level alone; `bytes`: of the key orders that it is the
    first to read. What was not measured is None.
    """

    level: int
    variable: str
    atoms: tuple[str, ...]
    estimated: float
    actual: int | None = None
    seeks: int | None = None
    seconds: float | None = None
    bytes: int = 0


@dataclass(frozen=True)
class BodyCost:
    """One conjunctive rule of a plan: `relation`, which it derives, its variable order, the steps
    that were expected, and its levels. `notes`: how it is kept up to date. Of one evaluation of it
    `assignments`, `seeks` and `seconds`: these are fewer than those of its levels together where
    the last ones are done at once.
    """

    relation: str
    order: tuple[str, ...]
    estimated_cost: float
    levels: tuple[LevelCost, ...]
    notes: tuple[str, ...] = ()
    assignments: int | None = None
    seeks: int | None = None
    seconds: float | None = None

    @property
    def bytes(self) -> int:
        """Bytes of the key orders that are read."""
        return sum(level.bytes for level in self.levels)


@dataclass(frozen=True)
class PlanAnalysis:
    """Plans of a rule or query, each level with its estimated and, where it was measured, actual
    cost. `print()` it, or take `to_dict()`, `result()` or `df()`: one row per level.

    `seconds` are those of one evaluation from nothing, without `compile_seconds`, those of kernels
    that were compiled meanwhile, or read from the cache. `parts`: over how many parts figures are
    added up, 0 in one process.
    """

    title: str
    version: int
    analyzed: bool
    bodies: tuple[BodyCost, ...]
    compile_seconds: float = 0.0
    parts: int = 0

    @property
    def seconds(self) -> float | None:
        """Time of one evaluation of all bodies."""
        return _sum(body.seconds for body in self.bodies)

    @property
    def seeks(self) -> int | None:
        """Kernel steps of one evaluation of all bodies."""
        return _sum(body.seeks for body in self.bodies)

    def to_dict(self) -> dict[str, Any]:
        """The plans as dictionaries and lists."""
        bodies = [
            {
                **asdict(body),
                "order": list(body.order),
                "notes": list(body.notes),
                "levels": [{**asdict(each), "atoms": list(each.atoms)} for each in body.levels],
                "bytes": body.bytes,
            }
            for body in self.bodies
        ]
        return {
            "title": self.title,
            "version": self.version,
            "analyzed": self.analyzed,
            "seconds": self.seconds,
            "seeks": self.seeks,
            "compile_seconds": self.compile_seconds,
            "parts": self.parts,
            "bodies": bodies,
        }

    def result(self) -> Result:
        """The levels as a table; −1 where nothing was measured."""
        rows = [
            (
                body.relation,
                each.level,
                each.variable,
                ", ".join(each.atoms),
                each.estimated,
                -1 if each.actual is None else each.actual,
                -1 if each.seeks is None else each.seeks,
                -1.0 if each.seconds is None else each.seconds,
                each.bytes,
            )
            for body in self.bodies
            for each in body.levels
        ]
        return Result.of_rows(COLUMNS, rows, version=self.version, name="plan")

    def df(self) -> pandas.DataFrame:
        """The levels as a pandas DataFrame."""
        return self.result().df()

    def to_dot(self) -> str:
        """The levels as a graph for Graphviz, each behind the one before it."""
        return self._drawing().to_dot()

    def to_networkx(self) -> Any:
        """The levels as a `networkx.DiGraph` of (body, level) pairs. Needs networkx."""
        return self._drawing().to_networkx()

    def _drawing(self) -> Drawing:
        nodes: dict[tuple[int, int], dict[str, Any]] = {}
        edges: list[tuple[tuple[int, int], tuple[int, int], dict[str, Any]]] = []
        for number, body in enumerate(self.bodies):
            for each in body.levels:
                label = f"{each.variable}: {_bindings(each)}"
                nodes[number, each.level] = {**asdict(each), "label": label}
                if each.level:
                    edges.append(((number, each.level - 1), (number, each.level), {}))
        return Drawing("plan", nodes, edges)

    # ── showing ───────────────────────────────────────────────────────────────────────────────────
    def _fold(self) -> Fold:
        return Fold(self.title, [self._body(body) for body in self.bodies])

    def _body(self, body: BodyCost) -> Fold:
        order = ", ".join(body.order) or "none"
        head = f"{body.relation}: order {order}; estimated cost {body.estimated_cost:,.0f}"
        if body.assignments is not None and body.seeks is not None:
            taken = duration(body.seconds or 0.0)
            head += f", took {body.seeks:,} seeks, {taken}; {body.assignments:,} assignments"
        columns = ["level", "bindings", *(["seeks", "time"] if self.analyzed else []), "memory", ""]
        rows = [[*_cells(each, self.analyzed)] for each in body.levels]
        notes: list[Line] = [Line(note) for note in body.notes]
        return Fold(head, [*([Table(columns, rows)] if rows else []), *notes])

    def _repr_html_(self) -> str:
        return to_html(self._fold(), "lftj-plan")

    def __str__(self) -> str:
        return to_text(self._fold())

    __repr__ = __str__


def _cells(each: LevelCost, analyzed: bool) -> Iterator[str]:
    yield f"{each.level} {each.variable}"
    yield _bindings(each)
    if analyzed:
        yield "" if each.seeks is None else f"{each.seeks:,}"
        yield "" if each.seconds is None else duration(each.seconds)
    yield size(each.bytes) if each.bytes else ""
    yield " ∩ ".join(each.atoms)


def _bindings(each: LevelCost) -> str:
    about = f"about {each.estimated:,.0f}"
    return about if each.actual is None else f"{about}, found {each.actual:,}"


def duration(seconds: float) -> str:
    """Seconds in a unit that suits them."""
    if seconds >= 1:
        return f"{seconds:,.1f} s"
    return f"{seconds * 1e3:.1f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} µs"


def size(count: float) -> str:
    """Bytes in a unit that suits them."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:,.0f} {unit}" if unit == "B" else f"{count:,.1f} {unit}"
        count /= 1024
    return f"{count:,.1f} GiB"


def _sum(figures: Any) -> Any:
    known: Sequence[Any] = [each for each in figures if each is not None]
    return sum(known) if known else None
