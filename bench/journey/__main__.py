"""`python -m bench.journey`: count all journeys in this process, and print the record.

`python -m bench journey` is the command; it starts this one, so that no number depends on what ran
before.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.journey.counting import Counts, counted
from bench.journey.record import text_of
from bench.journey.travels import TRAVELS, Travel


def travel(journey: Travel) -> Counts:
    """The counts of a journey, the second time: the first one fills the caches of the process."""
    _once(journey)
    return _once(journey)


def _once(journey: Travel) -> Counts:
    with tempfile.TemporaryDirectory() as folder:
        steps = journey(Path(folder))
        next(steps)
        found = counted(lambda: next(steps))
        for _ in steps:
            pass
    return found


if __name__ == "__main__":
    print(text_of({name: travel(journey) for name, journey in TRAVELS.items()}), end="")
