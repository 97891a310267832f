"""Manifests are written as what they add to those before, and read as they were."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.distributed.files import manifest_records
from lftj.distributed.files.entry import Entry, Piece
from lftj.distributed.files.epochs import epoch_file, epochs
from lftj.distributed.files.manifest import Manifest
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


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("few", [1, 3, 16])
def test_any_manifest_of_the_last_five_is_read_as_it_was_written(
    seed: int, few: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manifest_records, "_FEW", few)
    chance = random.Random(seed)
    made = [Manifest.opened(tmp_path, 4)]
    for _ in range(120):
        made.append(after(made[-1], chance).following(made[-1]))
        made[-1].store(tmp_path, made[-2])
        assert Manifest.load(tmp_path) == made[-1]
        known = chance.choice(made)
        for each in made[-5:]:
            assert Manifest.of(tmp_path, each.epoch) == each
            assert Manifest.of(tmp_path, each.epoch, known) == each
        there = sorted(epochs(tmp_path))
        assert there == list(range(there[0], made[-1].epoch + 1))
        assert len(there) < 2 * max(few, manifest_records._FEW) + 130
    assert Manifest.of(tmp_path, 0) is None


def sizes(path: Path) -> dict[int, int]:
    return {epoch: epoch_file(path, epoch).stat().st_size for epoch in epochs(path)}


def test_what_a_commit_writes_follows_what_it_changes(tmp_path: Path) -> None:
    executor = InlineExecutor(tmp_path, 4)
    workspace = opened(executor, RULES["triangles"], graph())
    written = dict[int, int]()
    for number in range(150):
        change(workspace, (number, 100 + number), (100 + number, number), (1, number))
        written |= sizes(tmp_path)
    last = [size for epoch, size in written.items() if epoch > max(written) - 100]
    first = [size for epoch, size in written.items() if epoch <= 40]
    assert sum(last) / len(last) < 2 * sum(first) / len(first)
    whole = len(Manifest.load(tmp_path)._written())  # type: ignore[union-attr]
    assert sum(last) / len(last) < whole / 10
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
    monkeypatch.setattr(manifest_records, "_FEW", 1)
    for _ in range(6):
        made.append(commit(made[-1], chance).following(made[-1]))
        made[-1].store(tmp_path, made[-2])
    assert Manifest.of(tmp_path, 10) is None
    assert Manifest.load(tmp_path) == made[-1]
