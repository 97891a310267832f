"""Strings in files: whoever opens a chain has the same codes, and reads what it looks for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from lftj.scantree.watched_files import FileDamagedError, Watch
from lftj.storage.durable.stored_strings import Chain, StoredStrings
from lftj.storage.durable.strings_file import NOT_IN_TABLES, files_of
from lftj.types.dictionary import Dictionary


class Process:
    """A dictionary with what it has on disk."""

    def __init__(self, folder: Path, chain: Chain | None = None) -> None:
        self.watch, self.dictionary, self.folder = Watch(), Dictionary(), folder
        self.strings = StoredStrings(self.dictionary, self.watch)
        self.strings.take(folder, chain or [])

    def add(self, texts: list[str]) -> Chain:
        self.dictionary.encode(texts)
        return self.strings.written(self.folder)


def texts(first: int, last: int) -> list[str]:
    return ["", "ein Wort", "ünï"][first:last] + [
        f"text {number}" + "x" * (number % 40) for number in range(max(first, 3), last)
    ]


def same(process: Process, expected: list[str]) -> None:
    dictionary = process.dictionary
    assert len(dictionary) == len(expected)
    assert dictionary.decode(np.arange(len(expected))).to_pylist() == expected
    assert dictionary.encode(expected[::-1]).tolist() == list(range(len(expected)))[::-1]
    assert dictionary.encode(expected[:7]).tolist() == list(range(len(expected)))[:7]
    assert all(dictionary.lookup(text) == code for code, text in enumerate(expected[:50]))
    assert "nobody said it" not in dictionary
    assert dictionary.lookup("\ud800") is None
    process.watch.check(everything=True)
    assert process.watch.files == 0


@pytest.mark.parametrize(
    "steps", [[5], [1], [3000], [10, 2000, 2001, 9000], [1500, 3000, 4500, 6000, 7500]]
)
def test_a_chain_is_the_strings_again(tmp_path: Path, steps: list[int]) -> None:
    one, last, chain = Process(tmp_path), 0, []
    for step in steps:
        chain = one.add(texts(last, step))
        last = step
    assert chain == [(chain[0][0], last)]
    other = Process(tmp_path, chain)
    assert len(other.dictionary._codes) == 0
    same(other, texts(0, last))
    assert other.strings.knows(chain)


def test_each_generation_goes_on_behind_the_last(tmp_path: Path) -> None:
    chain: Chain = []
    sizes = [700, 701, 3000, 3010, 7000, *range(7001, 7020)]
    longest = 0
    for before, size in zip([0, *sizes], sizes, strict=False):
        process = Process(tmp_path, chain)
        same(process, texts(0, before))
        chain = process.add(texts(before, size))
        longest = max(longest, len(chain))
        assert Process(tmp_path, chain).strings.knows(chain)
    assert 10 < longest < len(sizes)
    same(Process(tmp_path, chain), texts(0, sizes[-1]))
    assert files_of(tmp_path, [name for name, _ in chain]) <= {
        file.name for file in tmp_path.iterdir()
    }


def test_two_that_go_on_from_one_do_not_disturb_each_other(tmp_path: Path) -> None:
    first = Process(tmp_path)
    early = first.add(texts(0, 2000))
    branch = Process(tmp_path, early)
    later = first.add(texts(2000, 9000))  # tables of both are put together now
    other = branch.add([f"other {number}" for number in range(3000)])
    assert not branch.strings.knows(later)
    same(Process(tmp_path, later), texts(0, 9000))
    expected = texts(0, 2000) + [f"other {number}" for number in range(3000)]
    opened = Process(tmp_path, other)
    assert opened.dictionary.lookup("text 5000" + "x" * 0) is None
    same(opened, expected)
    same(Process(tmp_path, branch.add(texts(2000, 2100))), expected + texts(2000, 2100))


@pytest.mark.parametrize("own", [0, 2, 700, 5000])
def test_who_has_the_first_strings_goes_on_with_a_chain(tmp_path: Path, own: int) -> None:
    first, other = Process(tmp_path), Process(tmp_path)
    chain = first.add(texts(0, 5000))
    before = other.add(texts(0, own)) if own else []
    shown = other.dictionary.texts()
    assert other.strings.take(tmp_path, chain)
    assert other.strings.knows(chain)
    assert not own or not other.strings.knows(before)
    assert other.dictionary.bytes_in_use == 0
    assert shown.decode(np.arange(own)).to_pylist() == texts(0, own)
    same(other, texts(0, 5000))
    more = [f"more {number}" for number in range(20_000)]
    found = other.dictionary.encode(pa.array(more + texts(0, 5000) + more)).tolist()
    assert found == [*range(5000, 25_000), *range(5000), *range(5000, 25_000)]
    assert first.strings.take(tmp_path, first.strings.chain())
    assert first.dictionary.bytes_in_use == 0
    assert first.add(texts(5000, 5001)) == [*chain, (first.strings.chain()[-1][0], 1)]
    same(first, texts(0, 5001))
    same(Process(tmp_path, other.strings.written(tmp_path)), texts(0, 5000) + more)


@pytest.mark.parametrize("own", [["other"], texts(0, 6000), [*texts(0, 40), "other"]])
def test_who_has_other_strings_stays(tmp_path: Path, own: list[str]) -> None:
    chain, other = Process(tmp_path).add(texts(0, 5000)), Process(tmp_path)
    other.dictionary.encode(own)
    assert not other.strings.take(tmp_path, chain)
    same(other, own)


def test_who_forgot_strings_stays(tmp_path: Path) -> None:
    process = Process(tmp_path)
    chain = process.add(texts(0, 5000))
    process.dictionary.forget(lambda count: np.arange(count) % 5 == 0)
    assert not process.strings.take(tmp_path, chain)
    assert process.strings.knows(chain)


def test_a_file_that_somebody_removed_is_written_again(tmp_path: Path) -> None:
    process = Process(tmp_path)
    chain = process.add(texts(0, 100))
    (tmp_path / f"{chain[0][0]}.ends").unlink()
    with pytest.raises(FileNotFoundError):
        Process(tmp_path, chain)
    same(Process(tmp_path, process.add(["new"])), [*texts(0, 100), "new"])


@pytest.mark.parametrize("suffix", ["ends", "letters", "codes"])
def test_damage_is_told(tmp_path: Path, suffix: str) -> None:
    process = Process(tmp_path)
    chain = process.add(texts(0, 3000))
    (file,) = tmp_path.glob(f"*.{suffix}")
    content = file.read_bytes()
    place = len(content) // 2
    file.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
    with pytest.raises(FileDamagedError, match="not what was written"):
        Process(tmp_path, chain).watch.check(everything=True)
    file.write_bytes(content[:500])
    with pytest.raises(FileDamagedError):
        Process(tmp_path, chain).watch.check(everything=True)
    file.write_bytes(content)
    same(Process(tmp_path, chain), texts(0, 3000))


@pytest.mark.parametrize("code", [0, 100, 2000])
def test_damaged_ends_of_strings_that_are_entered_are_told_before_any_is_read(
    tmp_path: Path, code: int
) -> None:
    """By a damaged one who reads is sent a terabyte on. Of strings that a table has only the last
    one ends where someone looks.
    """
    chain = Process(tmp_path).add(texts(0, 700))
    if code == 2000:
        process = Process(tmp_path, chain)
        process.add(texts(700, 1900))
        chain = process.add(texts(1900, 2000))
    (file,) = (each for each in tmp_path.glob(f"{chain[-1][0]}.ends"))
    content = bytearray(file.read_bytes())
    content[8 * (code + 1) - 2 - (8 * 700 // 16384 * 16384 if code == 2000 else 0)] ^= 1
    file.write_bytes(content)
    with pytest.raises(FileDamagedError, match="not what was written"):
        Process(tmp_path, chain)


def test_what_is_read_does_not_grow_with_the_strings(tmp_path: Path) -> None:
    read = []
    for size in (10_000, 1_000_000):
        folder = tmp_path / f"{size}"
        folder.mkdir()
        every = pa.array(np.arange(size)).cast(pa.large_string())
        process = Process(folder)
        process.dictionary.encode(every.slice(0, size - 500))
        process.strings.written(folder)
        process.dictionary.encode(every)
        cold = Process(folder, process.strings.written(folder))
        assert cold.dictionary._index._count == size
        assert len(cold.dictionary._index._kept) <= NOT_IN_TABLES
        assert cold.dictionary.encode(["77", "new"]).tolist() == [77, size]
        assert cold.dictionary.decode_one(size // 2) == f"{size // 2}"
        cold.watch.check()
        read.append(cold.watch.read)
    assert (
        read[1] < 4_000_000
    )  # of 30 million; the less, the smaller the pieces that the system brings in


IN_LITTLE_SPACE = """
import gc, mmap, resource, sys
from pathlib import Path
from tests.unit.storage.durable.test_stored_strings import Process, same, texts

folder, size = Path(sys.argv[1]), 5000
chain = Process(folder).add(texts(0, size))
same(Process(folder, chain), texts(0, size))  # what it needs is imported and compiled

def mapped():
    return int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE

gc.collect()
before = mapped()
resource.setrlimit(resource.RLIMIT_AS, (before + (300 << 20),) * 2)
opened = [Process(folder, chain) for _ in range(8)]
assert mapped() - before < 150 << 20, mapped() - before
for process in opened:
    assert process.dictionary.lookup("text 77" + "x" * 37) == 77
more = texts(0, 5000) + [f"more {number} " + "y" * 900 for number in range(20_000)]
opened[0].add(more)
same(opened[0], more)
"""


def test_strings_take_addresses_as_they_need_them(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IN_LITTLE_SPACE, tmp_path], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
