"""A figure with its bar, and the report of one run."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal

Sense = Literal["at most", "at least", "exactly"]
Kind = Literal["gate", "inform"]


@dataclass(frozen=True, slots=True)
class Bar:
    """The target of a figure. A `gate` holds at the full size; an `inform` is printed beside its
    reference value, if it has one.
    """

    sense: Sense
    limit: float | None
    kind: Kind = "gate"
    unit: str = "×"

    def met(self, value: float) -> bool:
        """Compare `value` with the bar; a bar without a limit is always met."""
        if self.limit is None:
            return True
        if self.sense == "exactly":
            return value == self.limit
        return value <= self.limit if self.sense == "at most" else value >= self.limit

    def __str__(self) -> str:
        if self.limit is None:
            return "–"
        sign = {"at most": "≤", "at least": "≥", "exactly": "="}[self.sense]
        return f"{sign} {self.limit:,g}" if self.limit < 1e6 else f"{sign} {self.limit:,.0f}"


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of a run and the bar it is held against."""

    name: str
    value: float
    bar: Bar

    def verdict(self, full_size: bool) -> str:
        """One word for the table: bars are for the full size, so smaller runs only show
        the number.
        """
        if self.bar.limit is None or (not full_size and self.bar.sense != "exactly"):
            return ""
        return "met" if self.bar.met(self.value) else "missed"


class ResultsDiffer(AssertionError):
    """Two sides of a comparison gave different results: there is nothing to measure."""


def require_equal(what: str, ours: Any, theirs: Any) -> None:
    """Stop the run unless both sides found the same; called before any figure is recorded."""
    if ours != theirs:
        raise ResultsDiffer(f"{what}: we found {ours}, the peer {theirs}")


@dataclass(frozen=True, slots=True)
class Curves:
    """Several lines over the same steps, for a picture."""

    title: str
    along: str
    unit: str
    lines: dict[str, list[float]]


@dataclass(slots=True)
class Report:
    """Figures and detail of one benchmark run."""

    name: str
    size: str
    bars: dict[str, Bar]
    figures: list[Figure] = field(default_factory=list)
    detail: list[dict[str, Any]] = field(default_factory=list)
    curves: list[Curves] = field(default_factory=list)
    only: frozenset[str] = frozenset()
    """The figures that are asked for; empty: all of them."""

    def wants(self, *names: str) -> bool:
        """Test for a figure that was asked for: a benchmark need not do the work of the others."""
        return not self.only or not self.only.isdisjoint(names)

    def add(self, name: str, value: float, bar: Bar | None = None) -> None:
        """Record a figure, unless others are asked for; its bar is the one of this name in the
        table unless given.
        """
        figure = Figure(name, value, bar or self.bars[name])
        if self.wants(name):
            self.figures.append(figure)

    def note(self, **entry: Any) -> None:
        """Record how a figure came about: sizes, seconds of both sides, counts."""
        self.detail.append(entry)

    def series(self, title: str, along: str, lines: dict[str, list[float]], unit: str) -> None:
        """Record lines that `--plot` draws into one picture."""
        self.curves.append(Curves(title, along, unit, lines))

    @property
    def full_size(self) -> bool:
        """True when the bars apply to this run."""
        return self.size == "l"

    def missed(self) -> list[Figure]:
        """The gates that this run did not reach."""
        return [
            figure
            for figure in self.figures
            if figure.bar.kind == "gate" and figure.verdict(self.full_size) == "missed"
        ]

    def as_json(self) -> str:
        """`{"name": …, "figures": {figure: number}, "detail": […]}`."""
        figures = {figure.name: figure.value for figure in self.figures}
        curves = [
            {"curves": each.title, "along": each.along, "unit": each.unit, **each.lines}
            for each in self.curves
        ]
        return json.dumps(
            {
                "name": self.name,
                "figures": figures,
                "detail": [{"size": self.size}, *self.detail, *curves],
            },
            indent=2,
        )
