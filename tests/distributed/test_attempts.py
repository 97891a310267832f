"""Tasks that run twice: a commit is made of the files of those whose results were taken, whatever
the others write, and when.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.distributed import store
from lftj.distributed.files.manifest import row_files
from tests.depth import enough
from tests.distributed.inline import in_supersteps, require_equal
from tests.distributed.test_histories import between, pair_over
from tests.distributed.twice import WAYS, TwiceExecutor
from tests.strategies.histories import History, histories

PLACES = [f"{letter}{number}" for number in range(4) for letter in "qazwsx"]

STEPS = enough(4, 16)

RULES = """
.decl reach(x: symbol, z: symbol)
reach(x, y) :- road(x, y, _).
reach(x, z) :- reach(x, y), road(y, z, _).
.decl linked(x: symbol, z: symbol)
linked(x, y) :- road(x, y, _).
linked(x, z) :- linked(x, y), linked(y, z).
.decl way(x: symbol, z: symbol, d: number)
way(x, y, min(d)) :- road(x, y, d).
way(x, z, min(d + e)) :- way(x, y, d), road(y, z, e).
.decl label(x: symbol, l: symbol)
label(x, min(x)) :- road(x, _, _).
label(y, min(l)) :- label(x, l), road(x, y, _).
.decl held(o: symbol, n: number, s: float, names: symbol)
held(o, count(), sum(m), concat(n, ",")) :- acct(n, o, m).
.decl total(n: number, s: float, first: symbol)
total(count(), sum(m), min(o)) :- acct(_, o, m).
.decl closed(x: symbol, y: symbol)
closed(x, z) :- road(x, y, _), road(y, z, _), !road(x, z, _).
.decl mate(x: symbol, y: symbol) choice-domain x, y
mate(x, y) :- road(x, y, _).
"""


def declared(workspace: Any) -> Any:
    workspace.relation("acct", {"n": str, "o": str, "m": float}, key="n")
    workspace.relation("road", {"x": str, "y": str, "d": int})
    workspace.add_rules(RULES)
    return workspace


def change(tx: Any, chance: random.Random) -> None:
    """Rows that are sent, and rows that are settled where they are."""
    name = chance.choice
    tx.insert("road", [(name(PLACES), name(PLACES), chance.randrange(9)) for _ in range(6)])
    tx.upsert("acct", [(name(PLACES), name(PLACES[:5]), chance.random()) for _ in range(3)])
    tx.delete_where("road", x=name(PLACES))
    tx.delete_where("acct", o=name(PLACES[:5]))


@pytest.mark.parametrize(
    ("way", "seed"), [*((way, 0) for way in enough(WAYS[-1:], WAYS)), ("any", 1)]
)
def test_attempts_of_every_task(
    way: str, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "most_entries", lambda *_: 12)
    monkeypatch.setattr(store, "recent_entries", lambda *_: 2)
    executor = TwiceExecutor(tmp_path, way=way, seed=seed, words=PLACES)
    chance = random.Random(seed)
    with in_supersteps(), declared(lftj.connect()) as one:
        many = declared(lftj.connect(executor=executor, tuning=lftj.Tuning(gathered_rows=3)))
        for step in range(STEPS if way == "any" else 4):
            state = chance.getstate()
            with one.transaction() as tx:
                change(tx, chance)
            chance.setstate(state)
            with many.transaction() as parts:
                change(parts, chance)
            for name in one.relations:
                assert sorted(parts.changes(name).fetchall()) == sorted(
                    tx.changes(name).fetchall()
                ), name
            executor.go_on(chance.random())
            require_equal(many, one)
            found = many.query("reach(x, y), road(y, z, _)")
            executor.go_on(chance.random())
            assert sorted(found.fetchall()) == sorted(
                one.query("reach(x, y), road(y, z, _)").fetchall()
            )
            if step % 4 == 1:
                many.compact()
                executor.go_on()
            if step % 4 == 2:
                assert many.verify() == []
            if step % 4 == 3:
                many.close()
                many = lftj.connect(executor=executor)
                executor.go_on()
        many.close()
        executor.forget()
        many = lftj.connect(executor=executor)
        assert (
            row_files(tmp_path) == many._backend.manifest.files()
        )  # nothing is left of attempts that nobody took
        require_equal(many, one)
        many.close()


@given(histories(), st.integers(1, 3), st.randoms(use_true_random=False), st.data())
@settings(max_examples=settings().max_examples // 5)
def test_oracle_attempts_change_nothing(
    history: History, parts: int, chance: random.Random, data: st.DataObject
) -> None:
    def executor(folder: Path) -> TwiceExecutor:
        return TwiceExecutor(folder, parts, seed=chance.randrange(1000), words=list("edcba"))

    with pair_over(history, executor) as (pair, twice):
        assert isinstance(twice, TwiceExecutor)
        for step in history.steps:
            between(
                pair, twice, data.draw(st.sampled_from(["nothing", "reopen", "compact", "verify"]))
            )
            pair.step(step)
            twice.go_on(0.5)
        pair.workspace.close()
