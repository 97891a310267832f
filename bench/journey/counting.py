"""Counts of what Python runs: functions, files, crossings, depth, calls and bytecodes.

Only code of the package counts, but for `lftj/scantree/jit`: how a library is written, and whether
a kernel was compiled ahead or by Numba, changes no number. A comprehension is part of its function,
as Python 3.12 has it. A generator is called once for each value that it gives.
"""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FIGURES = ("functions", "files", "crossings", "depth", "calls", "bytecodes")
"""Names of all figures. Only the last one depends on the version of Python."""

_OURS = f"{ROOT / 'lftj'}/"
_CALLS_OF_KERNELS = f"{ROOT / 'lftj' / 'scantree' / 'jit'}/"
_INSIDE = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})


class Room(NamedTuple):
    """The part of a journey in one package: what runs there, and how often it is entered."""

    functions: int
    files: int
    entered: int
    calls: int
    bytecodes: int


@dataclass(frozen=True)
class Counts:
    """The figures of a journey by name, and its rooms by package."""

    figures: dict[str, int]
    rooms: dict[str, Room]


class _Function(NamedTuple):
    """A function: equal code may stand in two files, so a code object does not tell."""

    file: str
    line: int
    name: str


class _Place(NamedTuple):
    """A frame on the way: the nearest file of ours, from here upwards, and how deep it is."""

    file: str
    depth: int


class _Tracer:
    """A function for `sys.settrace` that counts."""

    def __init__(self) -> None:
        self.calls: Counter[_Function] = Counter()
        self.bytecodes: Counter[str] = Counter()
        self.entered: Counter[str] = Counter()
        self.crossings = self.depth = 0
        self._places = [_Place("", 0)]

    def __call__(self, frame: FrameType, event: str, argument: object) -> Any:
        """Begin a frame."""
        place, code = self._places[-1], frame.f_code
        ours = _counts(code.co_filename)
        if ours and code.co_name not in _INSIDE:
            self._enter(code, place)
            place = _Place(code.co_filename, place.depth + 1)
            self.depth = max(self.depth, place.depth)
        self._places.append(place)
        frame.f_trace_lines, frame.f_trace_opcodes = False, ours
        return self._inside

    def _enter(self, code: CodeType, caller: _Place) -> None:
        self.calls[_Function(code.co_filename, code.co_firstlineno, code.co_qualname)] += 1
        if caller.file and caller.file != code.co_filename:
            self.crossings += 1
        if _package(caller.file) != (room := _package(code.co_filename)):
            self.entered[room] += 1

    def _inside(self, frame: FrameType, event: str, argument: object) -> Any:
        if event == "opcode":
            self.bytecodes[frame.f_code.co_filename] += 1
        elif event == "return":
            self._places.pop()
        return self._inside

    def counts(self) -> Counts:
        """Give the figures counted so far."""
        figures = (
            len(self.calls),
            len({each.file for each in self.calls}),
            self.crossings,
            self.depth,
            self.calls.total(),
            self.bytecodes.total(),
        )
        rooms = sorted({_package(each.file) for each in self.calls})
        return Counts(
            dict(zip(FIGURES, figures, strict=True)), {room: self._room(room) for room in rooms}
        )

    def _room(self, room: str) -> Room:
        functions = [each for each in self.calls if _package(each.file) == room]
        return Room(
            len(functions),
            len({each.file for each in functions}),
            self.entered[room],
            sum(self.calls[each] for each in functions),
            sum(many for file, many in self.bytecodes.items() if _package(file) == room),
        )


def _counts(file: str) -> bool:
    return file.startswith(_OURS) and not file.startswith(_CALLS_OF_KERNELS)


def _package(file: str) -> str:
    return str(Path(file).parent.relative_to(ROOT)) if file else ""


def counted(work: Callable[[], object]) -> Counts:
    """Do some work on this thread, and count. The collector of cycles rests: when it runs depends
    on what ran before.
    """
    tracer, before = _Tracer(), sys.gettrace()
    gc.collect()
    gc.disable()
    sys.settrace(tracer)
    try:
        work()
    finally:
        sys.settrace(before)
        gc.enable()
    return tracer.counts()
