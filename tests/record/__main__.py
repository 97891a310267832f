"""`python -m tests.record check|write [--part histories|bench|data] [--data PATH]`: hold what the
engine chooses against the record of it.

`check` runs the histories, or the benchmarks, and says where strategy, kernel steps or rows of a
rule are not what was recorded, by history, commit and rule. `write` records what there is now, and
says the same about the record before. `draw` draws new histories from the tests of `tests/oracle`
(see `drawing`); after it comes `write`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from bench.files import DataMissing
from tests.record import lines
from tests.record.lines import Record

DRAWN = lines.HERE / "drawn.jsonl.xz"
PARTS = ("histories", "bench", "data")
SHOWN = 40


def recorded(part: str) -> Record:
    """The record of a part."""
    path = lines.HERE / f"{part}.txt.xz"
    return lines.record_of(lines.read(path)) if path.exists() else {}


def drawn(every: int = 1) -> Record:
    """Play every `every`-th of the histories, small and larger ones, and record them."""
    from tests.record.made import made
    from tests.record.taped import Taped

    listed = [*map(Taped.of_line, lines.read(DRAWN).splitlines()), *made()]
    return {each.name: each.play() for each in listed[::every]}


def _benched(data: Path | None) -> Record:
    from tests.record.benches import benches

    found: Record = {}
    for each in benches(data):
        print(each.module, file=sys.stderr, flush=True)
        found |= each.play()
    return found


def _found(part: str, data: Path | None) -> Record:
    return drawn() if part == "histories" else _benched(data if part == "data" else None)


def report(was: Record, found: Record, most: int = SHOWN) -> Iterator[str]:
    """The first differences, how many there are, and how often each strategy was taken before and
    now; nothing where there is none.
    """
    listed = list(lines.differences(was, found))
    yield from listed[:most]
    if listed:
        histories = {line.partition(", commit ")[0].partition(": ")[0] for line in listed}
        yield f"{len(listed)} differences in {len(histories)} of {len(found)} histories" + (
            f", the first {most} shown" * (len(listed) > most)
        )
        before, after = lines.totals(was), lines.totals(found)
        for strategy in sorted(before.keys() | after.keys()):
            one, other = before.get(strategy, (0, 0)), after.get(strategy, (0, 0))
            if one != other:
                was, now = (f"{times:,} times, {steps:,} steps" for times, steps in (one, other))
                yield f"  {strategy}: {was} → {now}"


def main(words: list[str] | None = None) -> int:
    """The exit code: 1 when a check finds a difference."""
    parser = argparse.ArgumentParser(
        prog="tests.record",
        description="Strategy, kernel steps and rows of every rule at every commit.",
    )
    parser.add_argument("command", choices=("check", "write", "draw"))
    parser.add_argument(
        "--part",
        choices=PARTS,
        help="this part only; without, all, `data` only where --data is given",
    )
    parser.add_argument(
        "--data", type=Path, metavar="PATH", help="folder with the data sets of bench/README.md"
    )
    arguments = parser.parse_args(words)
    if arguments.command == "draw":
        from tests.record.drawing import draw

        lines.write(DRAWN, "".join(f"{each.line}\n" for each in draw()))
        return 0
    if arguments.part == "data" and arguments.data is None:
        parser.error("--part data needs --data PATH")
    parts = (
        [arguments.part]
        if arguments.part
        else [part for part in PARTS if part != "data" or arguments.data is not None]
    )
    differ = False
    for part in parts:
        try:
            was, found = recorded(part), _found(part, arguments.data)
        except DataMissing as reason:
            parser.error(str(reason))
        told = list(report(was, found)) if was else ["nothing was recorded before"]
        print(
            "\n".join(
                [
                    f"{part}: {len(found):,} histories, {sum(map(len, found.values())):,} commits",
                    *(told or ["no difference"]),
                ]
            )
        )
        differ |= bool(told)
        if arguments.command == "write":
            lines.write(lines.HERE / f"{part}.txt.xz", lines.text_of(found))
    return int(differ and arguments.command == "check")


if __name__ == "__main__":
    sys.exit(main())
