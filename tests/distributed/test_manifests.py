"""Manifests are written as what they add to those before, and read as they were."""

from __future__ import annotations

import itertools
import os
import random
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.distributed.files import manifest, manifest_files, runs
from lftj.distributed.files.entry import Entry, Piece
from lftj.distributed.files.epochs import epoch_file, epochs
from lftj.distributed.files.manifest import Manifest
from lftj.distributed.objects import file_store
from tests.distributed.inline import InlineExecutor
from tests.distributed.stored import RULES, change, graph, opened


def entry(version: int, chance: random.Random) -> Entry:
    parts = tuple((part, chance.randrange(1, 9)) for part in sorted(chance.sample(range(4), 2)))
    return Entry(version, (Piece(f"{version}-{chance.random()}.arrow", 0, parts, (1, 2)),), 77)


def commit(before: Manifest, chance: random.Random) -> Manifest:
    """Some entries, counts, batches, and relations that are new."""
    version, token = before.version + 1, f"{chance.random()}"
    log, counts = dict(before.log), dict(before.counts)
    for name in chance.sample(["e", "f", "v", "w"], chance.randrange(3)):
        log[name] = (*log.get(name, ()), entry(version, chance))
        counts[name] = chance.randrange(100)
    batches = {**before.batches, "stream": version} if chance.random() < 0.2 else before.batches
    done = {1: (), 2: ()} if chance.random() < 0.1 else {chance.randrange(1, 4): (0, 2)}
    return replace(
        before,
        version=version,
        token=token,
        log=log,
        counts=counts,
        batches=batches,
        tokens={**before.tokens, version: token},
        steps={**before.steps, version: done},
    )


def compacted(before: Manifest, chance: random.Random) -> Manifest:
    """One entry in the place of most, and commits that nobody goes back to forgotten."""
    cut = before.version - chance.randrange(3)
    log = {
        name: (entry(cut, chance), *(each for each in entries if each.version > cut))
        for name, entries in before.log.items()
    }
    tokens = {version: token for version, token in before.tokens.items() if version >= cut}
    steps = {version: done for version, done in before.steps.items() if version in tokens}
    return replace(before, log=log, tokens=tokens, steps=steps)


def after(before: Manifest, chance: random.Random) -> Manifest:
    match chance.randrange(30):
        case 0:
            return compacted(before, chance)
        case 1:
            return replace(commit(before, chance), program={"rules": [chance.random()]})
        case 2:
            return replace(before, counts={**before.counts, "e": 5})
        case 3:
            return replace(before, log={"e": before.log.get("e", ())}, counts={"e": 1})
        case 4:
            return before
        case _:
            return commit(before, chance)


@pytest.fixture
def small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of two additions, and merges of two runs."""
    few(monkeypatch, 2, 2)


def few(monkeypatch: pytest.MonkeyPatch, sums: int, merges: int) -> None:
    for module in (manifest, manifest_files, runs):
        monkeypatch.setattr(module, "SUMMED", sums)
    monkeypatch.setattr(runs, "_MERGED", merges)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("sums", "merges"), [(1, 2), (3, 2), (5, 3), (16, 8)])
def test_any_manifest_of_the_last_five_is_read_as_it_was_written(
    seed: int, sums: int, merges: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few(monkeypatch, sums, merges)
    chance = random.Random(seed)
    made = [Manifest.opened(tmp_path, 4)]
    for _ in range(120):
        made.append(after(made[-1], chance).following(made[-1]))
        made[-1].store(tmp_path, made[-2])
        found = Manifest.load(tmp_path)
        assert found is not None
        assert found == made[-1]
        assert (found.roots, found.runs) == (made[-1].roots, made[-1].runs)
        if chance.random() < 0.2:
            made[-1] = found  # as by a driver that has just opened the path
        known = chance.choice(made[-20:] + made)
        for each in made[-5:]:
            assert Manifest.of(tmp_path, each.epoch) == each
            assert Manifest.of(tmp_path, each.epoch, known) == each
        there = sorted(epochs(tmp_path))
        assert there == list(range(there[0], made[-1].epoch + 1))
        assert len(there) <= 5 + 2 * sums
        # only what the manifests that are kept are read from
        roots = {root: made[root].runs for root in made[-1].roots}
        kept = {run.name for named in roots.values() for run in named}
        assert logged(tmp_path) >= kept
        assert made[-1].epoch not in roots or logged(tmp_path) == kept
    assert Manifest.of(tmp_path, 0) is None


def logged(path: Path) -> set[str]:
    return {file.name.removesuffix(".json.zst") for file in (path / "log").iterdir()}


def written_by(made: list[Manifest], chance: random.Random, path: Path, count: int) -> list[int]:
    """Make commits; the bytes that each wrote."""
    found = list[int]()
    for _ in range(count):
        made.append(commit(made[-1], chance).following(made[-1]))
        made[-1].store(path, made[-2])
        names = {run.name for run in made[-1].runs}.difference(run.name for run in made[-2].runs)
        files = [epoch_file(path, made[-1].epoch), *(path / "log" / f"{n}.json.zst" for n in names)]
        found.append(sum(file.stat().st_size for file in files))
    return found


def test_bytes_of_a_commit_stay_the_same_over_a_thousand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance, made = random.Random(58), [Manifest.opened(tmp_path, 4)]
    size = written_by(made, chance, tmp_path, 1000)
    hundreds = [sum(size[first : first + 100]) / 100 for first in range(0, 1000, 100)]
    assert max(hundreds) <= 1.4 * min(hundreds)
    entries = sum(map(len, made[-1].log.values()))
    assert entries > 900
    assert max(size) < len(made[-1]._written()) / 10
    # who opens the path reads few files, whatever came before
    asked = list[str]()
    read, get_all = file_store._FolderStore.read, file_store._FolderStore.get_all

    def reading(self: Any, file: Path) -> bytes:
        asked.append(file.name)
        return read(self, file)

    def reading_all(self: Any, files: list[Path]) -> list[bytes]:
        asked.extend(file.name for file in files)
        return get_all(self, files)

    monkeypatch.setattr(file_store._FolderStore, "read", reading)
    monkeypatch.setattr(file_store._FolderStore, "get_all", reading_all)
    assert Manifest.load(tmp_path) == made[-1]
    assert len(asked) <= runs.SUMMED + 3 * runs._MERGED
    asked.clear()
    assert Manifest.of(tmp_path, made[-1].epoch, made[-3]) == made[-1]
    assert len(asked) <= 4


MOMENTS = ("replace", "link", "unlink", "fsync")


@pytest.mark.usefixtures("small_runs")
@pytest.mark.parametrize("compacts", [False, True])
def test_a_driver_that_dies_between_any_two_writes_leaves_old_or_new(
    compacts: bool, tmp_path: Path
) -> None:
    """Killed before its first, second … call of the system, until it is through."""
    chance, made = random.Random(3), [Manifest.opened(tmp_path, 4)]
    written_by(made, chance, tmp_path, 13)
    outcomes = set[bool]()
    for _ in range(4):
        before = made[-1]
        new = compacted(before, chance) if compacts else commit(before, chance)
        for step in itertools.count(1):
            after = new.following(before)
            died = killed_at(step, partial(after.store, tmp_path, before))
            found = Manifest.load(tmp_path)
            assert found is not None
            assert found in (before, after), step
            assert Manifest.of(tmp_path, before.epoch) == before
            outcomes.add(found == after)
            if found == after:
                made.append(found)
                written_by(made, chance, tmp_path, 5)
                if not died:
                    break
                before, new = made[-1], commit(made[-1], chance)
        assert Manifest.load(tmp_path) == made[-1]
    assert outcomes == {True, False}
    for half in runs.half_runs(tmp_path):
        half.unlink()
    while made[-1].epoch != made[-1].roots[-1]:
        written_by(made, chance, tmp_path, 1)
    assert logged(tmp_path) == {name for root in made[-1].roots for name in named(tmp_path, root)}


def named(path: Path, root: int) -> list[str]:
    found = Manifest.of(path, root)
    assert found is not None
    return [run.name for run in found.runs]


def killed_at(step: int, act: Any) -> bool:
    """Do something in a child that dies before it changes the disk for that time; whether it
    did.
    """
    if (child := os.fork()) == 0:
        calls = itertools.count(1)

        def counted(function: Any) -> Any:
            def call(*args: Any, **options: Any) -> Any:
                if next(calls) == step:
                    os._exit(9)
                return function(*args, **options)

            return call

        try:
            for name in MOMENTS:
                setattr(os, name, counted(getattr(os, name)))
            act()
            os._exit(0)
        finally:  # a child never goes on as a copy of the tests
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9)
    return code == 9


def sizes(path: Path) -> dict[str, int]:
    files = [*path.glob("manifest-*"), *path.glob("log/*")]
    return {file.name: file.stat().st_size for file in files}


def test_what_a_commit_writes_follows_what_it_changes(tmp_path: Path) -> None:
    executor = InlineExecutor(tmp_path, 4)
    workspace = opened(executor, RULES["triangles"], graph())
    written, by_commit = sizes(tmp_path), list[int]()
    for number in range(150):
        change(workspace, (number, 100 + number), (100 + number, number), (1, number))
        new = {name: size for name, size in sizes(tmp_path).items() if name not in written}
        by_commit.append(sum(new.values()))
        written |= new
    assert sum(by_commit[-100:]) / 100 < 1.5 * sum(by_commit[:40]) / 40
    whole = len(Manifest.load(tmp_path)._written())  # type: ignore[union-attr]
    assert sum(by_commit[-100:]) / 100 < whole / 10
    version = workspace.version
    workspace.close()
    over: Any = executor
    with lftj.connect(executor=over) as again:
        assert again.version == version
        assert again.verify() == []


def chained(path: Path) -> list[Manifest]:
    chance, made = random.Random(1), [Manifest.opened(path, 4)]
    for _ in range(12):
        made.append(commit(made[-1], chance).following(made[-1]))
        made[-1].store(path, made[-2])
    return made


def gone(file: Path) -> None:
    file.unlink()


def changed(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b'"version": 7', b'"version": 8'))


def another(file: Path) -> None:
    """One that is whole in itself, of another history."""
    found = Manifest.of(file.parent, 7)
    assert found is not None
    file.unlink()
    replace(found, mark="other", follows="").store(file.parent)


@pytest.mark.parametrize("harm", [gone, changed, another])
def test_one_that_others_build_on_and_that_is_harmed_is_named(harm: Any, tmp_path: Path) -> None:
    made = chained(tmp_path)
    harm(epoch_file(tmp_path, 7))
    for _ in range(2):
        with pytest.raises(lftj.DistributedError, match=r"manifest-7\.json is damaged") as caught:
            Manifest.load(tmp_path)
        assert caught.value.code == "E403"
    assert Manifest.of(tmp_path, made[-1].epoch, made[8]) == made[-1]  # who has read it goes on
    assert Manifest.of(tmp_path, 6) == made[6]


def test_one_of_long_ago_whose_beginning_has_gone_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = chained(tmp_path)
    chance = random.Random(2)
    few(monkeypatch, 1, 8)
    for _ in range(6):
        made.append(commit(made[-1], chance).following(made[-1]))
        made[-1].store(tmp_path, made[-2])
    assert Manifest.of(tmp_path, 10) is None
    assert Manifest.load(tmp_path) == made[-1]
