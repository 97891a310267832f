"""Disks that refuse: each write and each sync in turn fails, for want of room or for good."""

from __future__ import annotations

import errno
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import lftj
from bench.faults import workload
from bench.faults.hooks import Call, Watcher, watched
from bench.faults.power import durable_of

KINDS = ("write", "sync", "truncate", "open", "rename", "mkdir")


class Refusing(Watcher):
    """Refuses the call of one number, counted from 0, and with `for_good` all after it. `refused`:
    the first call that was.
    """

    def __init__(self, folder: Path, number: int, error: int, *, for_good: bool):
        self._folder, self._number, self.error = folder, number, error
        self._for_good = for_good
        self.calls = 0
        self.refused: Call | None = None

    @property
    def had_no_room(self) -> bool:
        """True where a write was refused, and the disk has room again."""
        call, once = self.refused, not self._for_good
        return call is not None and once and call.kind != "sync" and self.error == errno.ENOSPC

    def before(self, call: Call) -> None:
        """Count a call, and perhaps refuse it."""
        below = Path(call.name).is_relative_to(self._folder)
        if call.kind not in KINDS or not below or call.name.endswith("-shm"):
            return
        number, self.calls = self.calls, self.calls + 1
        if number == self._number or (self._for_good and number > self._number):
            self.refused = self.refused or call
            raise OSError(self.error, os.strerror(self.error))


def history(
    path: Path, known: list[workload.Rows], commits: int, watcher: Refusing
) -> tuple[int, list[str]]:
    """Commit as far as the disk lets, with checkpoints: the commits that were acknowledged, and the
    codes of errors.
    """
    codes: list[str] = []
    acknowledged = 0
    with watched(watcher):
        try:
            workspace = lftj.connect(path)
        except lftj.DurableError as error:
            return 0, [str(error.code)]
        for number in range(1, commits + 1):
            if acknowledged < number - 1:
                break  # commits build on those before
            try:
                workload.step(workspace, number)
                assert "E355" not in codes, "a commit after the workspace refused them"
                acknowledged = number
            except lftj.DurableError as error:
                codes.append(str(error.code))
                try:
                    workload.step(workspace, number)
                    assert "E355" not in codes, "a commit after the workspace refused them"
                    acknowledged = number
                except lftj.DurableError as again:
                    if watcher.had_no_room:
                        raise AssertionError("a disk that has room again") from again
            assert workload.rows(workspace) == known[acknowledged]
            if number % 3 == 0:
                durable_of(workspace).checkpoint()
        _refuses_after_a_failed_sync(workspace, watcher, acknowledged)
        workspace.close()
    return acknowledged, codes


def _refuses_after_a_failed_sync(
    workspace: lftj.Workspace, watcher: Refusing, acknowledged: int
) -> None:
    call = watcher.refused
    if call is None or call.kind != "sync" or not acknowledged:
        return
    if watcher.error == errno.ENOSPC and not call.by_sqlite:
        return  # a checkpoint's: what was not synced is written again, all of it
    try:
        workspace.load("edge", [("never", "seen")])
    except lftj.DurableError as error:
        if error.code in ("E354", "E355"):
            return
    raise AssertionError(f"a commit after a sync that failed: {call.kind} {call.name}")


def refusals(folder: Path, commits: int, most: int, chance: random.Random) -> Iterator[Call]:
    """Have each call fail in turn, `most` of all combinations at most; yields the call that failed.
    Raises AssertionError where a row is wrong or lost.
    """
    known = workload.expected(commits + 1, workload.step)
    counted = Refusing(folder, -1, 0, for_good=False)
    history(folder / "counted.lftj", known, commits, counted)
    cases = [
        (number, error, for_good)
        for number in range(counted.calls)
        for error in (errno.ENOSPC, errno.EIO)
        for for_good in (False, True)
    ]
    for number, error, for_good in sorted(chance.sample(cases, min(most, len(cases)))):
        path = folder / "refused.lftj"
        watcher = Refusing(path, number, error, for_good=for_good)
        what = f"call {number}, {errno.errorcode[error]}, for good: {for_good}"
        try:
            acknowledged, codes = history(path, known, commits, watcher)
            if path.exists():
                _whole(path, acknowledged, known, bool(codes))
        except (AssertionError, lftj.LftjError, OSError) as reason:
            raise AssertionError(f"{what}, {watcher.refused and watcher.refused[:2]}") from reason
        shutil.rmtree(path, ignore_errors=True)
        if watcher.refused is not None:
            yield watcher.refused


def _whole(path: Path, acknowledged: int, known: list[workload.Rows], unsure: bool) -> None:
    with lftj.connect(path) as left:
        kept = workload.committed(left, known)
        assert acknowledged <= kept <= acknowledged + unsure, (kept, acknowledged)
        if kept + 1 < len(known):
            workload.step(left, kept + 1)
            assert workload.committed(left, known) == kept + 1
