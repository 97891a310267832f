"""The picture of the demo: what two views said on each evening, one line per New York airport.

matplotlib is imported when the picture is drawn, not before, and draws into a file without a
display.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lftj.demo.desk import DayFigure

COLOURS = {"EWR": "#1b6ca8", "JFK": "#c8553d", "LGA": "#3f7d20"}
NAME = "lftj-demo.png"


def draw(figures: Sequence[DayFigure], folder: Path) -> Path:
    """Save `lftj-demo.png` in `folder` (made if need be) and return its path."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.dates import DateFormatter
    from matplotlib.figure import Figure

    canvas = FigureCanvasAgg(Figure(figsize=(9, 6), layout="constrained"))
    above, below = canvas.figure.subplots(2, 1, sharex=True)
    for origin in sorted({figure.origin for figure in figures}):
        rows = [figure for figure in figures if figure.origin == origin]
        days = [row.day for row in rows]
        colour = COLOURS.get(origin)
        above.plot(
            days,
            [row.airports for row in rows],
            color=colour,
            marker="o",
            markersize=3,
            label=f"{origin}, with connections",
        )
        above.plot(
            days,
            [row.airports - row.connections for row in rows],
            color=colour,
            linestyle=":",
            label=f"{origin}, direct only",
        )
        below.plot(
            days,
            [row.mean_delay for row in rows],
            color=colour,
            marker="o",
            markersize=3,
            label=origin,
        )
    above.set(title="Airports that can be reached the same day", ylabel="airports")
    below.set(title="Mean arrival delay, as known in the evening", ylabel="minutes")
    for axes in (above, below):
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    shown = sorted({figure.day for figure in figures})
    below.set_xticks(shown[:: len(shown) // 10 + 1])
    below.xaxis.set_major_formatter(DateFormatter("%d %b"))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / NAME
    canvas.figure.savefig(path, dpi=120)
    return path
