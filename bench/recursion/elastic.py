"""Thirteen commits, small and large, in the way of the elastic engine and of one that always
updates or always bootstraps.
"""

from __future__ import annotations

from pathlib import Path

from bench.figure import Report
from bench.recursion.changes import (
    BOOTSTRAP,
    ELASTIC,
    UPDATE,
    Following,
    require_same_views,
    verify,
)
from bench.recursion.histories import History, histories

TIMES = {"s": 1, "m": 2, "l": 2}
HOPELESS = 2.0  # how much longer than the best so far a strategy may take before it is left there


def _seconds(
    history: History, elastic: float, limit: float = float("inf")
) -> tuple[list[float], list[str], Following | None]:
    """Processor seconds and strategy of each commit, and the workspace; None when they took longer
    than `limit` all together.
    """
    following = Following(history.rules, history.facts, elastic)
    seconds: list[float] = []
    strategies: list[str] = []
    for changes in history.commits:
        seconds.append(following.commit(changes))
        strategies.append(following.strategy())
        if sum(seconds) > limit:
            return seconds, strategies, None
    return seconds, strategies, following


def compare(report: Report, history: History) -> float:
    """The least time of the elastic engine over the better of the two others, once all ended with
    the same rows.
    """
    taken: dict[str, list[float]] = {}
    for _ in range(TIMES[report.size]):
        seconds, strategies, first = _seconds(history, ELASTIC)
        assert first is not None
        _keep_better(taken, "elastic", seconds)
        for name, elastic in (("bootstrap", BOOTSTRAP), ("update", UPDATE)):
            seconds, _, other = _seconds(
                history, elastic, HOPELESS * min(sum(times) for times in taken.values())
            )
            if other is not None:
                require_same_views(f"{history.name}: elastic and always {name}", first, other)
            # one that was left took longer than is noted of it: our ratio is no better than it says
            if other is not None or name not in taken:
                _keep_better(taken, name, seconds)
        verify(history.name, first)
        report.note(history=history.name, strategies=" ".join(strategies))
    totals = {name: sum(times) for name, times in taken.items()}
    ratio = totals["elastic"] / min(
        seconds for name, seconds in totals.items() if name != "elastic"
    )
    report.note(
        history=history.name, ratio=ratio, **{f"{name}_s": total for name, total in totals.items()}
    )
    report.series(
        history.name,
        "epoch",
        {name: [1e3 * each for each in times] for name, times in taken.items()},
        "ms",
    )
    return ratio


def _keep_better(taken: dict[str, list[float]], name: str, seconds: list[float]) -> None:
    if name not in taken or sum(seconds) < sum(taken[name]):
        taken[name] = seconds


def measure(report: Report, data: Path | None) -> None:
    """Record the worst ratio over all histories."""
    for history in histories("s", data):
        for elastic in (ELASTIC, BOOTSTRAP, UPDATE):
            _seconds(history, elastic)
    report.add(
        "elastic_worst", max(compare(report, history) for history in histories(report.size, data))
    )
