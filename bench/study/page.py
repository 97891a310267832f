"""The tables and the picture of `docs/study.md`, from what `--json` wrote.

`python -m bench.study.page study.json docs/study.svg` prints the tables and draws the picture.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

Entry = Mapping[str, Any]
_COLUMNS = ("by", "first", "batches in", "batches out", "both", "peak")


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _number(entry: Entry, name: str) -> str:
    return f"{entry[name]:.3g}" if name in entry else "–"


def tables(detail: Sequence[Entry]) -> str:
    """A table for each workload and share, in seconds and megabytes, and one of the indexes."""
    pieces: list[str] = []
    runs = [entry for entry in detail if entry.get("table") == "evaluators"]
    for (workload, share), group in groupby(runs, lambda each: (each["workload"], each["share"])):
        names = ("load_s", "added_s", "removed_s", "update_s", "peak_mb")
        rows = [[run["by"], *(_number(run, name) for name in names)] for run in group]
        pieces += [f"### {workload}, {share} % first", _table(_COLUMNS, rows)]
    indexes = [entry for entry in detail if entry.get("table") == "indexes"]
    names = ("build_us", "seek_us", "insert_us", "erase_us", "bytes_per_row")
    rows = [[entry["index"], *(_number(entry, name) for name in names)] for entry in indexes]
    heads = ("index", "build", "seek", "insert", "erase", "bytes")
    return "\n\n".join([*pieces, "### Index structures", _table(heads, rows)])


def draw(detail: Sequence[Entry], target: Path) -> None:
    """Draw how long the batches take by each way, over doing it by the engine."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    runs = [each for each in detail if each.get("table") == "evaluators" and "update_s" in each]
    at = {(each["workload"], each["share"], each["by"]): each["update_s"] for each in runs}
    places = sorted({key[:2] for key in at}, key=lambda key: (key[1], key[0]))
    ways = [way for way in dict.fromkeys(each["by"] for each in runs) if way != "engine"]
    figure = Figure(figsize=(9, 5.5), layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.subplots()
    for way, mark in zip(ways, "osD^vPX*h", strict=False):
        found = [(n, place) for n, place in enumerate(places) if (*place, way) in at]
        ratios = [at[*place, way] / at[*place, "engine"] for _, place in found]
        axes.plot([n for n, _ in found], ratios, mark, label=way)
    axes.axhline(1, color="grey", linewidth=0.8)
    axes.set_yscale("log")
    axes.set_ylabel("time of the batches, over the engine's")
    labels = [f"{workload}\n{share} %" for workload, share in places]
    axes.set_xticks(range(len(places)), labels, rotation=60, ha="right", fontsize=8)
    axes.legend(fontsize=8, ncols=2)
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    found = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["detail"]
    draw(found, Path(sys.argv[2]))
    print(tables(found))
