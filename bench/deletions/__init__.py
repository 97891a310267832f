"""Cost of changes below recursion: hot facts that go and come back, against evaluating
anew and against each strategy by itself, commit by commit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bench.deletions.ways import OURS, Way, pages, ways
from bench.deletions.workloads import Workload, workloads
from bench.figure import Report, require_equal
from bench.recursion.changes import Change, Following, verify

TIMES = {"s": {1: 1, 10: 1}, "m": {1: 6, 10: 3, 100: 2}, "l": {1: 10, 10: 4, 100: 2, 1000: 1}}
"""Times that facts of each number go and come back, by size."""
LONG = 20.0
"""Seconds of evaluations after which facts of one number go and come back no more."""
SLACK = 0.002  # seconds that any commit may take beside the best way
HOPELESS = 8.0  # times the least time, and a second, after which a way is left out


@dataclass
class Taken:
    """One commit: our seconds, those of the best other way, and the rows that changed."""

    ours: float
    best: float
    changed: int
    deletes: bool

    @property
    def regret(self) -> float:
        """Our seconds over those of the best way, but for the slack that any commit has."""
        return max(0.0, self.ours - SLACK) / self.best


@dataclass
class Measured:
    """All commits of a workload. `evaluated`: seconds of the first evaluation, of `rows` rows."""

    evaluated: float
    rows: int
    commits: list[Taken] = field(default_factory=list)

    @property
    def empty(self) -> list[float]:
        """Deletions that change no row, over the first evaluation: where a change meets no row, the
        way that starts over evaluates nothing either.
        """
        some = [each for each in self.commits if each.deletes and not each.changed]
        return [each.ours / self.evaluated for each in some]

    @property
    def by_row(self) -> float:
        """Seconds for each row that deletions changed, over those of the first evaluation."""
        some = [each for each in self.commits if each.deletes and each.changed]
        rows = sum(each.changed for each in some)
        return sum(each.ours for each in some) / max(1, rows) / (self.evaluated / self.rows)


def _changes(workload: Workload, size: str, evaluated: float) -> Iterator[Change]:
    """Hot facts that go, and come back in the next commit; fewer where an evaluation is long."""
    random, hot = np.random.default_rng(1), workload.hot()
    most = max(1, int(LONG / evaluated))
    for many, times in TIMES[size].items():
        for _ in range(min(times, most) if many <= len(hot) else 0):
            rows = hot[random.choice(len(hot), many, replace=False)]
            yield Change(workload.relation, rows[:0], rows)
            yield Change(workload.relation, rows, rows[:0])


def _views(following: Following) -> dict[str, int]:
    return {name: len(following.workspace[name]) for name in sorted(following.workspace.relations)}


def _changed(way: Way) -> int:
    profile = way.following.workspace.profile(last=1)
    return int(sum(profile["head_changes"]))


def compare(report: Report, workload: Workload) -> Measured:
    """All commits in all ways, once all were seen to end with the same rows."""
    left = ways(workload)
    ours = left[0]
    rows = sum(_views(ours.following).values())
    measured = Measured(ours.following.evaluated, rows)
    for change in _changes(workload, report.size, ours.following.evaluated):
        taken = {way.name: way.commit(change) for way in left}
        best = min((name for name in taken if name != OURS), key=lambda name: taken[name])
        changed = _changed(ours)
        measured.commits.append(Taken(taken[OURS], taken[best], changed, len(change.deleted) > 0))
        report.note(
            workload=workload.name,
            out=len(change.deleted),
            back=len(change.inserted),
            rows=changed,
            best=best,
            strategy=_strategies(ours),
            **{f"{name}_ms": 1e3 * seconds for name, seconds in taken.items()},
        )
        for way in left[1:]:
            require_equal(
                f"{workload.name}, {way.name}", _views(way.following), _views(ours.following)
            )
        least = min(way.seconds for way in left)
        left = [way for way in left if way in left[:2] or way.seconds < 1 + HOPELESS * least]
    verify(workload.name, ours.following)
    return measured


def _strategies(way: Way) -> str:
    profile = way.following.workspace.profile(last=1)
    return " ".join(
        f"{strategy}/{outcome}"
        for strategy, outcome, rule in zip(
            profile["strategy"], profile["outcome"], profile["rule"], strict=True
        )
        if not rule
    )


def state_after(workload: Workload, size: str) -> float:
    """Pages in use after all changes, over those of a workspace that took the last two alone."""
    after = Following(workload.rules, workload.facts)
    changes = list(_changes(workload, size, after.evaluated))
    for change in changes:
        after.commit([change])
    fresh = Following(workload.rules, workload.facts)
    for change in changes[-2:]:
        fresh.commit([change])
    require_equal(f"{workload.name}, afterwards", _views(after), _views(fresh))
    return pages(after) / pages(fresh)


def measure(report: Report, data: Path | None) -> None:
    """Fill the report of `deletions`. What is measured for each workload is noted beside it."""
    for workload in workloads("s", data):  # kernels and their loading
        compare(Report("deletions", "s", report.bars), workload)
    found: list[Measured] = []
    memory: list[float] = []
    for workload in workloads(report.size, data):
        found.append(compare(report, workload))
        memory.append(state_after(workload, report.size))
        regrets = [each.regret for each in found[-1].commits]
        report.note(
            workload=workload.name,
            regret_p50=float(np.median(regrets)),
            regret_max=max(regrets),
            delete_per_row=found[-1].by_row,
            state_after=memory[-1],
        )
    regrets = [each.regret for some in found for each in some.commits]
    empty = [ratio for some in found for ratio in some.empty] or [0.0]
    for name, share in (("regret_p50", 50), ("regret_p95", 95), ("regret_max", 100)):
        report.add(name, float(np.percentile(regrets, share)))
    report.add("empty_change", float(np.median(empty)))
    report.add("empty_change_worst", max(empty))
    report.add("delete_per_row", float(np.median([some.by_row for some in found])))
    report.add("state_after", max(memory))
