"""The recorded figures of all journeys, and what changed since."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from bench.journey.counting import FIGURES, Counts, Room

FILE = Path(__file__).parent / "figures.json"
Record = Mapping[str, Counts]
VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
"""The version of Python whose bytecodes are counted here."""


class Difference(NamedTuple):
    """A figure of a journey that changed; 0 stands for a journey that is in one of two records."""

    journey: str
    figure: str
    was: int
    found: int
    rooms: str = ""

    @property
    def rose(self) -> bool:
        """True where the figure is higher than recorded; a new journey has not risen."""
        return 0 < self.was < self.found

    def __str__(self) -> str:
        what = "rose" if self.rose else "fell" if self.was else "is new"
        text = f"{self.journey}: {self.figure} {self.was:,} → {self.found:,} ({what})"
        return f"{text}, {self.rooms}" if self.rooms else text


def text_of(record: Record, python: str = VERSION) -> str:
    """The record as text, a line for each room."""
    journeys = []
    for name, counts in record.items():
        rooms = ",\n".join(
            f"    {json.dumps(room)}: {json.dumps(list(numbers))}"
            for room, numbers in counts.rooms.items()
        )
        journeys.append(
            f'{json.dumps(name)}: {{\n  "figures": {json.dumps(counts.figures)},\n'
            f'  "rooms": {{\n{rooms}\n  }}\n}}'
        )
    return f'{{"python": {json.dumps(python)},\n' + ",\n".join(journeys) + "\n}\n"


def record_of(text: str) -> tuple[dict[str, Counts], str]:
    """A record from its text, and the version of Python whose bytecodes were counted."""
    read = json.loads(text)
    python = read.pop("python")
    found = {
        name: Counts(
            each["figures"], {room: Room(*numbers) for room, numbers in each["rooms"].items()}
        )
        for name, each in read.items()
    }
    return found, python


def recorded() -> tuple[dict[str, Counts], str]:
    """The record, and its version of Python."""
    return record_of(FILE.read_text("utf-8"))


def differences(was: Record, found: Record, same_python: bool = True) -> Iterator[Difference]:
    """All figures that differ, bytecodes by more than one in two hundred: where other processes
    want the cores, some twenty more or fewer run. Bytecodes of two versions of Python are not
    compared.
    """
    for name in dict.fromkeys([*was, *found]):
        before, after = was.get(name), found.get(name)
        for figure in FIGURES:
            old = before.figures[figure] if before else 0
            new = after.figures[figure] if after else 0
            least = old // 200 if figure == "bytecodes" else 0
            if abs(new - old) > least and (same_python or figure != "bytecodes"):
                rooms = _moved(before, after, figure) if before and after else ""
                yield Difference(name, figure, old, new, rooms)


def _moved(before: Counts, after: Counts, figure: str) -> str:
    """The rooms in which a figure changed, the largest change first."""
    if figure not in Room._fields:
        return ""
    none = Room(0, 0, 0, 0, 0)
    by_room = {
        room: getattr(after.rooms.get(room, none), figure)
        - getattr(before.rooms.get(room, none), figure)
        for room in {**before.rooms, **after.rooms}
    }
    changed = sorted((room for room in by_room if by_room[room]), key=lambda r: -abs(by_room[r]))
    return ", ".join(f"{room} {by_room[room]:+,}" for room in changed)
