"""Limits hold in workers too while these read a program, plan its joins, and wait for others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.distributed.stored import shared_relations
from lftj.distributed.work import worker
from lftj.engine.calls.limits import Limits, in_time
from lftj.join.budget import Budget
from tests.distributed.inline import InlineExecutor

ATOMS = 200
CHAIN = ", ".join(f"e(x{i}, x{i + 1})" for i in range(ATOMS))
WORK: list[Callable[[Any], object]] = [
    lambda many: many.add_rules(f"q(x0) :- {CHAIN}."),
    lambda many: many.query(CHAIN),
]


@pytest.fixture
def executor(tmp_path: Path) -> InlineExecutor:
    return InlineExecutor(tmp_path, 2)


@pytest.fixture
def many(executor: InlineExecutor) -> Iterator[Any]:
    with lftj.connect(executor=executor) as many:
        many.add_rules(f".decl e(x: number, y: number) .decl q(x: number) q(x0) :- {CHAIN}.")
        many.load("e", [(number, number + 1) for number in range(ATOMS + 20)])
        yield many


def limited(executor: InlineExecutor, **limits: Any) -> None:
    """Give workers less than the driver has."""
    executor.before = lambda task: object.__setattr__(task, "limits", Limits(**limits))


def test_a_worker_reads_a_program_under_limits(executor: InlineExecutor, many: Any) -> None:
    for work in WORK:
        for limits, code in (({"seconds": 0.0}, "E331"), ({"memory": 999}, "E332")):
            executor.forget()
            limited(executor, **limits)
            with pytest.raises(lftj.LimitError) as caught:
                work(many)
            assert caught.value.code == code
            assert not worker._worker.plans


def test_a_worker_plans_joins_under_a_limit_of_time(
    executor: InlineExecutor, many: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Budget, "spend", lambda budget, steps: None)  # kernels look at none
    monkeypatch.setattr(worker, "while_reading", lambda limits: lambda steps: None)
    for work in WORK:
        limited(executor, seconds=0.0)
        with pytest.raises(lftj.LimitError) as caught:
            work(many)
        assert caught.value.code == "E331"
    executor.before = lambda task: None
    assert len(many.query(CHAIN)) == len(many["q"]) == 21


def late_once(happened: list[Any]) -> Callable[[int], None]:
    """A listener for which the time is over once something happened."""

    def look(steps: int) -> None:
        if happened:
            in_time(Limits(seconds=0.0))(steps)

    return look


def test_who_waits_for_a_shared_relation_looks_at_the_time(
    executor: InlineExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    locks = list[Path]()
    one_at_a_time = shared_relations.one_at_a_time

    def held(file: Path) -> AbstractContextManager[None]:
        if not locks:  # another worker makes the relation, and does not come to an end
            locks.append(file)
            other.enter_context(one_at_a_time(file))
        return one_at_a_time(file)

    rule = ".decl v(x: number, z: number) v(x, z) :- e(x, y), e(y, z)."
    shared = lftj.Tuning(shared_rows=1)
    with lftj.connect(executor=executor, tuning=shared) as many:  # type: ignore[arg-type]
        many.relation("e", {"x": int, "y": int})
        many.load("e", [(number, number + 1) for number in range(20)])
        with ExitStack() as other:
            monkeypatch.setattr(shared_relations, "one_at_a_time", held)
            monkeypatch.setattr(worker, "in_time", lambda limits: late_once(locks))
            with pytest.raises(lftj.LimitError) as caught:
                many.add_rules(rule)
            assert caught.value.code == "E331"
            assert locks
        monkeypatch.undo()
        many.add_rules(rule)
        assert len(many["v"]) == 19
