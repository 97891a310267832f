# SPDX-License-Identifier: Apache-2.0
"""Branches as the log of a durable workspace knows them, and as commits move them on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace

from lftj.engine.versions.ancestry import MAIN, Ancestry
from lftj.engine.versions.state import State
from lftj.scantree.frozen import frozen
from lftj.storage.durable import log_branches
from lftj.storage.durable.log import Commit
from lftj.storage.durable.log_branches import LAST, MAIN_LINE, Line, on_line


@frozen
class Tip:
    """The last version of a branch: its state, and the program as text. `number` and `line` say
    which commits lead to it.
    """

    state: State
    text: str = ""
    name: str = MAIN
    number: int = 0
    line: Line = MAIN_LINE

    def begin(self, name: str, number: int) -> Tip:
        """The tip of a branch that begins here with the commit of a number."""
        above = tuple((branch, min(last, number)) for branch, last in self.line)
        return replace(self, name=name, number=number, line=((number, LAST), *above))


@frozen
class Kept:
    """All branches after a commit of the log: its number and checksum, tips by branch number, and
    the ancestry.
    """

    tips: Mapping[int, Tip]
    number: int = 0
    sum: int = 0
    ancestry: Ancestry = field(default_factory=Ancestry)

    def after(
        self,
        commit: Commit,
        *,
        tip: Tip | None = None,
        without: int = 0,
        ancestry: Ancestry | None = None,
    ) -> Kept:
        """After one more commit, which moved a `tip`, or ended a branch; its checksum is to be
        set.
        """
        tips = {
            number: each for number, each in self.tips.items() if number == 0 or number != without
        }
        if tip is not None:
            tips[tip.number] = tip
        return Kept(tips, commit.number, 0, self.ancestry if ancestry is None else ancestry)


Replay = Callable[[Tip, Sequence[Commit]], Tip]
"""The tip after commits of its branch, at least one."""


def followed(kept: Kept, commits: Sequence[Commit], replay: Replay) -> Kept:
    """All branches after commits of the log. What a branch commits between two events of its own is
    followed as one change; what only branches commit that end is not.
    """
    following = _Following(kept, _lines_wanted(kept, commits), replay)
    for commit in commits:
        following.take(commit)
    following.catch_up()
    if not commits:
        return kept
    last = commits[-1]
    return Kept(following.tips, last.number, last.sum, following.ancestry)


class _Following:
    """Branches as commits come, which wait until somebody needs the state."""

    def __init__(self, kept: Kept, lines: Iterable[Line], replay: Replay):
        self.tips, self.ancestry = dict(kept.tips), kept.ancestry
        self._lines, self._replay = list(lines), replay
        self._waiting: dict[int, list[Commit]] = {}

    def take(self, commit: Commit) -> None:
        event = json.loads(commit.event) if commit.event is not None else {}
        wanted = any(on_line(commit.branch, commit.number, line) for line in self._lines)
        if (begun := log_branches.begun(event)) is not None:
            if wanted:
                self._begin(commit, *begun)
        elif log_branches.ended(event):
            if commit.branch in self.tips:
                self.ancestry = self.ancestry.dropped(self.tips.pop(commit.branch).name)
        elif wanted:
            self._waiting.setdefault(commit.branch, []).append(commit)
            source = log_branches.merged(event)
            if source is not None and source in self.tips and commit.branch in self.tips:
                target, other = self.tips[commit.branch], self._caught_up(source)
                self.ancestry = self.ancestry.merged(target.name, other.name, other.state)

    def _begin(self, commit: Commit, name: str, parent: int) -> None:
        above = self._caught_up(parent)
        self.tips[commit.number] = above.begin(name, commit.number)
        self.ancestry = self.ancestry.begun(name, above.name, above.state)

    def _caught_up(self, number: int) -> Tip:
        if waiting := self._waiting.pop(number, None):
            self.tips[number] = self._replay(self.tips[number], waiting)
        return self.tips[number]

    def catch_up(self) -> None:
        for number in list(self.tips):
            self._caught_up(number)


def _lines_wanted(kept: Kept, commits: Sequence[Commit]) -> list[Line]:
    """The lines of the branches that are there in the end."""
    lines = {number: tip.line for number, tip in kept.tips.items()}
    for commit in commits:
        if commit.event is None:
            continue
        event = json.loads(commit.event)
        if (begun := log_branches.begun(event)) is not None:
            above = tuple((branch, min(last, commit.number)) for branch, last in lines[begun[1]])
            lines[commit.number] = ((commit.number, LAST), *above)
        elif log_branches.ended(event):
            lines.pop(commit.branch, None)
    return list(lines.values())
