# SPDX-License-Identifier: Apache-2.0
"""The picture of the demo: what each day's commit took beside deriving all views anew, and what two
views said in the evening. It is SVG, which any browser shows, written without a library for charts.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from lftj.demo.desk import DayCost, DayFigure

NAME = "lftj-demo.svg"
COLOURS = {"EWR": "#1b6ca8", "JFK": "#c8553d", "LGA": "#3f7d20"}
ANEW, COMMIT = "#8a8a8a", "#c8553d"
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 900, 220, 70, 250, 46, 26
_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#222}.title{font-size:15px;font-weight:600}"
    ".axis{fill:#666}.grid{stroke:#ddd}polyline{fill:none;stroke-width:2}"
    ".dotted{stroke-dasharray:2 4}"
)

Days = Mapping[datetime.date, float]


class Line(NamedTuple):
    """Values by day, and how they are drawn."""

    label: str
    colour: str
    values: Days
    dotted: bool = False


class Panel(NamedTuple):
    """A chart: lines over days."""

    title: str
    unit: str
    lines: Sequence[Line]


def draw(figures: Sequence[DayFigure], costs: Sequence[DayCost], folder: Path) -> Path:
    """Save `lftj-demo.svg` in `folder` (made if need be) and return its path."""
    panels = [_costs(costs), _reachable(figures), _delays(figures)]
    days = sorted({day for panel in panels for line in panel.lines for day in line.values})
    drawn = "\n".join(
        f'<g transform="translate(0 {_HEIGHT * place})">\n{_drawn(panel, days)}\n</g>'
        for place, panel in enumerate(panels)
    )
    height = _HEIGHT * len(panels) + 10
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / NAME
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" role="img">\n<title>{panels[0].title}</title>\n'
        f'<style>{_STYLE}</style>\n<rect width="100%" height="100%" fill="#fff"/>\n'
        f"{drawn}\n</svg>\n",
        encoding="utf-8",
    )
    return path


# ── what is drawn ─────────────────────────────────────────────────────────────────────────────────
def _costs(costs: Sequence[DayCost]) -> Panel:
    commits = {cost.day: 1e3 * cost.commit for cost in costs}
    anew = {cost.day: 1e3 * cost.anew for cost in costs}
    lines = [
        Line("all views derived anew", ANEW, anew),
        Line("the day's commit", COMMIT, commits),
    ]
    return Panel("What each day took: its commit, or deriving all views anew", "ms", lines)


def _reachable(figures: Sequence[DayFigure]) -> Panel:
    lines: list[Line] = []
    for origin, rows in _by_origin(figures).items():
        colour = COLOURS.get(origin, ANEW)
        all_airports = {row.day: float(row.airports) for row in rows}
        direct = {row.day: float(row.airports - row.connections) for row in rows}
        lines.append(Line(f"{origin}, with connections", colour, all_airports))
        lines.append(Line(f"{origin}, direct only", colour, direct, dotted=True))
    return Panel("Airports that can be reached the same day", "airports", lines)


def _delays(figures: Sequence[DayFigure]) -> Panel:
    lines = [
        Line(origin, COLOURS.get(origin, ANEW), {row.day: row.mean_delay for row in rows})
        for origin, rows in _by_origin(figures).items()
    ]
    return Panel("Mean arrival delay, as known in the evening", "minutes", lines)


def _by_origin(figures: Sequence[DayFigure]) -> dict[str, list[DayFigure]]:
    return {
        origin: [figure for figure in figures if figure.origin == origin]
        for origin in sorted({figure.origin for figure in figures})
    }


# ── drawing ───────────────────────────────────────────────────────────────────────────────────────
class _Scale(NamedTuple):
    """Places of days and values in a panel."""

    days: Sequence[datetime.date]
    low: float
    high: float

    def x(self, day: datetime.date) -> float:
        """Pixels from the left."""
        steps = max(len(self.days) - 1, 1)
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * self.days.index(day) / steps

    def y(self, value: float) -> float:
        """Pixels from the top."""
        share = (value - self.low) / (self.high - self.low)
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * share


def _drawn(panel: Panel, days: Sequence[datetime.date]) -> str:
    ticks = _ticks([value for line in panel.lines for value in line.values.values()])
    scale = _Scale(days, ticks[0], ticks[-1])
    return "\n".join(
        [
            f'<text class="title" x="{_LEFT}" y="24">{escape(panel.title)}</text>',
            *_axes(scale, ticks, panel.unit),
            *(part for line in panel.lines for part in _curve(line, scale)),
            *_legend(panel.lines),
        ]
    )


def _ticks(values: Sequence[float]) -> list[float]:
    """Some five round numbers around the values and zero."""
    low, high = min([0.0, *values]), max([0.0, *values]) or 1.0
    rough = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = power * next(each for each in (1, 2, 5, 10) if each * power >= rough)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [step * number for number in range(first, last + 1)]


def _axes(scale: _Scale, ticks: Sequence[float], unit: str) -> Iterator[str]:
    right = _WIDTH - _RIGHT
    for tick in ticks:
        y = scale.y(tick)
        yield f'<line class="grid" x1="{_LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield _text(_LEFT - 8, y + 4, f"{tick:,g}", "end")
    yield _text(_LEFT - 8, _TOP - 8, unit, "end")
    for day in scale.days[:: len(scale.days) // 8 + 1]:
        yield _text(scale.x(day), _HEIGHT - _BOTTOM + 18, f"{day:%d %b}", "middle")


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text class="axis" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'


def _curve(line: Line, scale: _Scale) -> Iterator[str]:
    points = [(scale.x(day), scale.y(value)) for day, value in sorted(line.values.items())]
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    look = ' class="dotted"' if line.dotted else ""
    yield f'<polyline{look} stroke="{line.colour}" points="{joined}"/>'
    if not line.dotted:
        for x, y in points:
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{line.colour}"/>'


def _legend(lines: Sequence[Line]) -> Iterator[str]:
    x = _WIDTH - _RIGHT + 20
    for place, line in enumerate(lines):
        y = _TOP + 8 + 22 * place
        look = ' class="dotted"' if line.dotted else ""
        yield (
            f'<polyline{look} stroke="{line.colour}" points="{x},{y} {x + 26},{y}"/>'
            f'<text x="{x + 34}" y="{y + 4}">{escape(line.label)}</text>'
        )
