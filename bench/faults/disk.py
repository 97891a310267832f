"""A disk that loses power: calls as they were recorded, and the files as they may be after a cut
at any of them.

The model is strict. A file has what was in it at its last sync; of each later write all, nothing
or some sectors of 512 bytes are there, in any order. A name leads to a file since the folder was
synced; later renames and removals happened or not. SQLite syncs the folder of a write-ahead file
with its first sync.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from bench.faults.hooks import Call, Watcher

SECTOR = 512
WAYS = ("none", "all", "some", "torn")


class Step(NamedTuple):
    """A recorded change: `file` is a number that renames leave alone; 0 in steps of folders."""

    kind: str
    file: int = 0
    place: int = 0
    content: bytes = b""
    name: str = ""
    other: str = ""


class Recorder(Watcher):
    """Steps below one folder, in order. `acknowledge` notes a commit that returned."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.steps: list[Step] = []
        self._files: dict[str, int] = {}
        self._contents: dict[int, bytearray] = {}
        self._new: set[int] = set()

    def acknowledge(self, version: int) -> None:
        """Note that a commit of this version returned."""
        self.steps.append(Step("acknowledge", place=version))

    def before(self, call: Call) -> None:
        """Have what a buffer wrote of a file before it gets another name."""
        if call.kind == "rename" and self._ours(call.name):
            self._catch_up(call.name)

    def after(self, call: Call) -> None:
        """Note a call."""
        if not self._ours(call.name) or call.name.endswith("-shm"):
            return
        name = os.path.relpath(call.name, self.folder)
        if call.kind == "sync" and os.path.isdir(call.name):
            self.steps.append(Step("sync folder", name=name))
        elif call.kind == "open":
            self._opened(name, truncate=bool(call.place))
        elif call.kind == "rename":
            self._rename(name, os.path.relpath(call.other, self.folder))
        elif call.kind == "unlink":
            self._files.pop(name, None)
            self.steps.append(Step("unlink", name=name))
        elif call.kind in ("write", "truncate"):
            self._change(Step(call.kind, self._files[name], call.place, call.content))
        elif call.kind == "sync":
            self._sync(name, call)

    def _ours(self, name: str) -> bool:
        return Path(name).is_relative_to(self.folder)

    def _opened(self, name: str, *, truncate: bool) -> None:
        if name not in self._files:
            self._files[name] = number = len(self._contents) + 1
            self._contents[number] = bytearray()
            self._new.add(number)
            self.steps.append(Step("link", number, name=name))
        elif truncate:
            self._change(Step("truncate", self._files[name]))

    def _rename(self, name: str, other: str) -> None:
        number = self._files.pop(name)
        self._files[other] = number
        self.steps.append(Step("rename", number, name=name, other=other))

    def _sync(self, name: str, call: Call) -> None:
        number = self._files[name]
        self._catch_up(call.name)
        self.steps.append(Step("sync", number))
        if call.by_sqlite and number in self._new and not name.endswith(".sqlite"):
            self.steps.append(Step("sync folder", name=os.path.dirname(name) or "."))
        self._new.discard(number)

    def _catch_up(self, path: str) -> None:
        number = self._files[os.path.relpath(path, self.folder)]
        content = Path(path).read_bytes()
        if content != self._contents[number]:
            self._change(Step("truncate", number))
            self._change(Step("write", number, 0, content))

    def _change(self, step: Step) -> None:
        change(self._contents[step.file], step)
        self.steps.append(step)


def change(content: bytearray, step: Step) -> None:
    """Have a file's content change by a write or a truncation."""
    size = step.place if step.kind == "truncate" else step.place + len(step.content)
    if size > len(content):
        content.extend(bytes(size - len(content)))
    if step.kind == "truncate":
        del content[size:]
    else:
        content[step.place : size] = step.content


@dataclass
class Disk:
    """The synced part of what a recorder noted, and steps that wait for a sync."""

    files: dict[int, bytearray] = field(default_factory=dict)
    waiting: dict[int, list[Step]] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    renamings: list[Step] = field(default_factory=list)
    acknowledged: int = 0

    def go_on(self, step: Step) -> None:
        """Take one more step."""
        if step.kind == "acknowledge":
            self.acknowledged = step.place
        elif step.kind == "sync folder":
            here = [each for each in self.renamings if _folder(each) == step.name]
            self.renamings = [each for each in self.renamings if _folder(each) != step.name]
            for each in here:
                rename(self.names, each)
        elif step.kind == "sync":
            for each in self.waiting.pop(step.file, []):
                change(self.files.setdefault(step.file, bytearray()), each)
        elif step.kind in ("write", "truncate"):
            self.waiting.setdefault(step.file, []).append(step)
        else:
            self.renamings.append(step)

    def cut(self, there: Path, chance: random.Random) -> None:
        """Make files in an empty folder as they may be after a power cut now."""
        names = dict(self.names)
        way = chance.choice(WAYS)
        for step in self.renamings:
            if way == "all" or (way != "none" and chance.random() < 0.5):
                rename(names, step)
        (there / "pages").mkdir(parents=True)
        for name, number in names.items():
            content = bytearray(self.files.get(number, b""))
            for step in self.waiting.get(number, []):
                for piece in left(step, way, chance):
                    change(content, piece)
            (there / name).write_bytes(content)


def _folder(step: Step) -> str:
    return os.path.dirname(step.name) or "."


def rename(names: dict[str, int], step: Step) -> None:
    """Have names change by a step of a folder."""
    if step.kind == "link":
        names[step.name] = step.file
    elif step.kind == "unlink":
        names.pop(step.name, None)
    else:
        if names.get(step.name) == step.file:
            del names[step.name]
        names[step.other] = step.file


def left(step: Step, way: str, chance: random.Random) -> Iterator[Step]:
    """Pieces of one change that nobody synced."""
    if way == "torn" and step.kind == "write":
        first, last = step.place, step.place + len(step.content)
        starts = [first, *range(first - first % SECTOR + SECTOR, last, SECTOR)]
        for start, stop in zip(starts, [*starts[1:], last], strict=True):
            if chance.random() < 0.5:
                yield step._replace(place=start, content=step.content[start - first : stop - first])
    elif way == "all" or (way != "none" and chance.random() < 0.5):
        yield step
