"""Versions that base facts came with: those of a log that the test keeps itself."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import lftj

RULES = """
.decl e(x: number, s: symbol) .decl v(x: number, s: symbol) .decl own(x: number, s: symbol)
.decl yes() .decl all(x: number, s: symbol)
v(x, s) :- e(x, s).
own(x, s) :- e(x, s), x > 2.
all(x, s) :- v(x, s), own(x, s), yes().
"""
Kept = dict[tuple[str, tuple[object, ...]], int]
"""The version that each row which is there came with."""


def commit(ws: lftj.Workspace, rng: random.Random, kept: Kept) -> None:
    """Some rows that come and go, and what is there then."""
    came, gone = set(), set()
    for _ in range(rng.randrange(1, 6)):
        row = (rng.randrange(5), rng.choice("abc"))
        relation = rng.choice(("e", "own"))
        (came if rng.random() < 0.6 else gone).add((relation, row))
    if rng.random() < 0.3:
        came.add(("yes", ()))
    with ws.transaction(message=f"commit {len(kept)}") as tx:
        for relation, row in sorted(gone - came):
            tx.delete(relation, [row])
        for relation, row in sorted(came):
            tx.insert(relation, [row])
    for each in gone - came:
        kept.pop(each, None)
    for each in came - kept.keys():
        kept[each] = ws.version


def found(ws: lftj.Workspace | lftj.Snapshot, kept: Kept) -> Kept:
    """The versions that proofs name, of rows that are there; 0 where they name none."""
    versions: Kept = {}
    for relation, row in kept:
        proof = ws.explain(relation, row)
        (number,) = [place for place, step in enumerate(proof.steps) if step.rule is None][-1:]
        origin = proof.origins.get(number)
        assert proof.height == 0
        versions[relation, row] = 0 if origin is None else origin.version
        if origin is not None:
            assert f"since version {origin.version}" in str(proof)
            assert proof.to_dict()["steps"][number]["since"]["message"] == origin.message
    return versions


def begun(ws: lftj.Workspace) -> lftj.Workspace:
    """A workspace with the rules."""
    ws.add_rules(RULES)
    return ws


@pytest.mark.parametrize("seed", range(2))
def test_versions_in_memory_are_those_of_the_history(seed: int) -> None:
    rng, ws = random.Random(seed), begun(lftj.connect(keep="all"))
    kept: Kept = {}
    before: list[tuple[int, Kept]] = []
    for _ in range(25):
        commit(ws, rng, kept)
        before.append((ws.version, dict(kept)))
    assert found(ws, kept) == kept
    for version, known in rng.sample(before, 5):
        assert found(ws.at(version), known) == known
    branch = ws.branch("other")
    commit(branch, rng, kept)
    assert found(branch, kept) == kept


@pytest.mark.parametrize("seed", range(2))
def test_versions_in_files_are_those_of_the_history(seed: int, tmp_path: Path) -> None:
    rng, kept = random.Random(seed), Kept()
    for session in range(3):
        with lftj.connect(tmp_path / "a.lftj", keep="all") as ws:
            if not session:
                begun(ws)
            assert found(ws, kept) == kept
            for _ in range(12):
                commit(ws, rng, kept)
            assert found(ws, kept) == kept
    with lftj.connect(tmp_path / "a.lftj", read_only=True) as reader:
        assert found(reader, kept) == kept


def test_what_came_before_the_oldest_version_is_left_out() -> None:
    ws = begun(lftj.connect(keep=3))
    for number in range(6):
        ws.load("e", [(number, "a")])
    versions = found(ws, {("e", (number, "a")): 0 for number in range(6)})
    assert list(versions.values()) == [0, 0, 0, 0, ws.version - 1, ws.version]
    alone = begun(lftj.connect())
    alone.load("e", [(3, "a")])
    proof = alone.explain("v", (3, "a"))
    assert (proof.origins, str(proof).count("since version")) == ({}, 0)
