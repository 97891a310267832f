"""Bits flipped, or words changed, anywhere in the files of a workspace, the write-ahead file
included.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import lftj
from bench.faults import workload
from bench.faults.power import durable_of

CODES = ("E351", "E352", "E353", "E354")


def whole(path: Path, commits: int, *, close: bool = False) -> Path:
    """A workspace with two checkpoints and commits after them, whose last ones are in the
    write-ahead file.
    """
    workspace = lftj.connect(path)
    for number in range(1, commits + 1):
        workload.step(workspace, number)
        if number in (commits // 2, commits - 3):
            durable_of(workspace).checkpoint()
    there = Path(shutil.copytree(path, path.with_suffix(".copy")))
    workspace.close()
    return path if close else there


Change = Callable[[bytes, random.Random], bytes]


def flipped(content: bytes, chance: random.Random) -> bytes:
    """Flip a bit."""
    found = bytearray(content)
    place, bit = chance.randrange(len(content)), chance.randrange(8)
    found[place] ^= 1 << bit
    return bytes(found)


def mutated(content: bytes, chance: random.Random) -> bytes:
    """Change a few bytes, words or pieces, as what a file says of sizes and places would be."""
    found = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        place, other = chance.randrange(len(found)), chance.randrange(len(found))
        size = chance.choice((1, 4, 8))
        begin = place - place % size
        words = (2 ** (8 * size) - 1, 2 ** (5 * size), 0, 100 * size // 4, found[place] ^ 1)
        word = chance.choice(words).to_bytes(8, "little")[:size]
        piece = chance.choice((word, bytes(found[other : other + size])))
        found[begin : begin + len(piece)] = piece
    return bytes(found[: len(content)])


def flips(
    folder: Path, commits: int, number: int, chance: random.Random, change: Change = flipped
) -> Iterator[str | None]:
    """Change so many files, one at a time; yields the code of the error that named the damage, or
    None where all rows were read and right. Raises AssertionError for a wrong row, or a commit that
    is missing without a word.
    """
    known = workload.expected(commits, workload.step)
    sources = [
        whole(folder / "open.lftj", commits),
        whole(folder / "closed.lftj", commits, close=True),
    ]
    for _ in range(number):
        source = chance.choice(sources)
        files = [file for file in source.rglob("*") if file.is_file() and file.stat().st_size]
        chosen = chance.choice(files).relative_to(source)
        there = Path(shutil.copytree(source, folder / "flipped.lftj"))
        (there / "log.sqlite-shm").unlink(missing_ok=True)
        if not (there / chosen).exists():
            chosen = Path("log.sqlite")
        content = (there / chosen).read_bytes()
        changed = change(content, chance)
        (there / chosen).write_bytes(changed)
        try:
            yield read(there, known)
        except AssertionError as reason:
            pairs = enumerate(zip(content, changed, strict=True))
            places = [place for place, (before, now) in pairs if before != now]
            raise AssertionError(f"{chosen}, bytes {places}: {reason}") from reason
        shutil.rmtree(there)


def read(path: Path, known: list[workload.Rows]) -> str | None:
    """Read all rows of a workspace that may be damaged; the code of the error, if there is one."""
    workspace = None
    try:
        workspace = lftj.connect(path)
        found = workload.rows(workspace)
        assert found == known[-1], "commits are missing" if found in known else "a wrong row"
    except lftj.DurableError as error:
        if error.code not in CODES:
            raise AssertionError(f"another error than of damage: {error}") from error
        return error.code
    finally:
        if workspace is not None:
            durable_of(workspace).abandon()
    return None
