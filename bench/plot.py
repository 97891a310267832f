"""A picture of what a run measured step by step: one panel for each history, a line for
each side.
"""

from __future__ import annotations

import math
from pathlib import Path

from bench.figure import Report

_COLUMNS = 3
_PANEL = (4.2, 3.0)  # inches
_STYLES = ("-o", "--s", ":^", "-.d")


def draw(report: Report, path: Path) -> None:
    """Write the curves of a report to `path`, whose suffix says in which format. ValueError when
    the run recorded none.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if not report.curves:
        raise ValueError(f"`bench {report.name}` recorded no curves to draw")
    columns = min(_COLUMNS, len(report.curves))
    rows = math.ceil(len(report.curves) / columns)
    figure = Figure(figsize=(_PANEL[0] * columns, _PANEL[1] * rows), layout="constrained")
    FigureCanvasAgg(figure)
    for place, curves in enumerate(report.curves):
        panel = figure.add_subplot(rows, columns, place + 1)
        for (name, values), style in zip(
            curves.lines.items(), _STYLES * len(curves.lines), strict=False
        ):
            panel.plot(range(1, len(values) + 1), values, style, markersize=3, label=name)
        panel.set(title=curves.title, xlabel=curves.along, ylabel=curves.unit, yscale="log")
        panel.legend(fontsize="small")
    figure.savefig(path, dpi=110)
