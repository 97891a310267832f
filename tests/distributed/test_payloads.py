"""Payloads of tasks grow with the number of parts, not with its square: each part gets its own."""

from __future__ import annotations

import pickle
import random
from pathlib import Path
from typing import Any

import pytest

import lftj
from bench.partition import payloads
from lftj.distributed.files import programs
from lftj.distributed.hub_counts import HeavyHittersTask
from lftj.distributed.partitioning.programs import digest
from lftj.distributed.work import worker
from lftj.distributed.work.query_part import QueryTask
from tests.distributed.inline import InlineExecutor

LABELS = """
.decl e(x: number, y: number)
.decl label(x: number, l: number)
label(x, min(x)) :- e(x, _).
label(x, min(x)) :- e(_, x).
label(y, min(l)) :- label(x, l), e(x, y).
label(x, min(l)) :- label(y, l), e(x, y).
"""


def edges(count: int) -> list[tuple[int, int]]:
    draw = random.Random(1)
    return [(draw.randrange(count // 2), draw.randrange(count // 2)) for _ in range(count)]


def told(workspace: Any, executor: InlineExecutor, work: Any) -> int:
    """Bytes of the payloads of what is done."""
    executor.tasks.clear()
    work(workspace)
    return sum(len(pickle.dumps(task)) for task in executor.tasks)


def questions(ws: Any) -> None:
    """Of relations that many commits wrote in many parts, where a stage reads what others found."""
    for first in range(0, 1200, 300):
        ws.load("e", edges(1200)[first : first + 300])
    asked = ws.query("label(x, l), e(x, y), e(y, z), label(z, l)")
    assert len(asked.fetchall()) > 0


WORK = {
    "a commit in rounds": lambda ws: ws.load("e", edges(1200)),
    "a compaction": lambda ws: (ws.load("e", edges(1200)), ws.load("e", edges(1300)), ws.compact()),
}


@pytest.mark.parametrize("name", WORK)
def test_bytes_grow_no_faster_than_parts(tmp_path: Path, name: str) -> None:
    found = list[int]()
    for parts in (4, 12):
        executor = InlineExecutor(tmp_path / str(parts), parts)
        workspace: Any = lftj.connect(executor=executor)
        workspace.add_rules(LABELS)
        found.append(told(workspace, executor, WORK[name]))
    assert found[1] / found[0] <= 1.5 * 12 / 4


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> list[list[Any]]:
    """Tasks of the same questions, with few parts and with many."""
    found = list[list[Any]]()
    for parts in (4, 12):
        executor = InlineExecutor(tmp_path_factory.mktemp("parts"), parts)
        workspace: Any = lftj.connect(executor=executor, tuning=lftj.Tuning(hub_rows=100))
        workspace.add_rules(LABELS)
        questions(workspace)
        workspace.add_rules(".decl pair(x: number, z: number) pair(x, z) :- e(x, y), e(y, z).")
        found.append(executor.tasks)
    return found


@pytest.mark.parametrize("kind", [QueryTask, HeavyHittersTask])
def test_a_task_is_told_its_part_of_the_entries(asked: list[list[Any]], kind: type) -> None:
    found = list[float]()
    for tasks in asked:
        sizes = [len(pickle.dumps(task)) for task in tasks if isinstance(task, kind)]
        assert sizes
        found.append(sum(sizes) / len(sizes))
    assert found[1] <= 1.1 * found[0], found


def test_a_question_leaves_no_delivery(tmp_path: Path) -> None:
    workspace: Any = lftj.connect(executor=InlineExecutor(tmp_path, 3))
    workspace.add_rules(LABELS)
    questions(workspace)
    assert not list((tmp_path / "rows").glob("*.parts"))


def test_a_commit_leaves_no_delivery(tmp_path: Path) -> None:
    workspace: Any = lftj.connect(executor=InlineExecutor(tmp_path, 3))
    workspace.add_rules(LABELS)
    workspace.load("e", edges(60))
    assert not list((tmp_path / "rows").glob("*.parts"))


def ruled(path: Path, others: int) -> tuple[Any, InlineExecutor]:
    """A workspace with so many rules that read another relation than `e`."""
    executor = InlineExecutor(path, 3)
    workspace: Any = lftj.connect(executor=executor)
    workspace.add_rules(LABELS)
    workspace.relation("f", {"x": int, "y": int})
    texts = [f".decl v{n}(x: number) v{n}(x) :- f(x, y), y > {n}." for n in range(others)]
    workspace.add_rules("\n".join(texts))
    workspace.load("e", edges(60))
    return workspace, executor


def test_a_task_is_as_small_with_many_rules_as_with_one(tmp_path: Path) -> None:
    found = list[int]()
    for others in (1, 50):
        workspace, executor = ruled(tmp_path / str(others), others)
        found.append(told(workspace, executor, lambda ws: ws.load("e", [(1000, 1001)])))
        found.append(told(workspace, executor, lambda ws: ws.query("e(x, y), e(y, x)").fetchall()))
    assert found[2:] == pytest.approx(found[:2], abs=200), found


def test_what_tasks_have_in_common_is_sent_once() -> None:
    (few, one), (many, other) = (payloads.one_row(edges(200), parts) for parts in (8, 32))
    assert one == other
    assert many <= min(10_000, 1.5 * few)


def test_a_worker_without_the_program_reads_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, executor = ruled(tmp_path, 2)
    plain, read = worker.read_program, list[str]()
    monkeypatch.setattr(
        worker, "read_program", lambda path, *rest: read.append(path.name) or plain(path, *rest)
    )
    workspace.load("e", [(1, 1000)])
    assert not read
    executor.forget()
    workspace.load("e", [(2, 1000)])
    assert read == [tmp_path.name]
    assert workspace.verify() == []


@pytest.mark.parametrize("harm", ["gone", "another", "bytes"])
def test_a_program_in_trouble_is_named_and_written_again(tmp_path: Path, harm: str) -> None:
    workspace, executor = ruled(tmp_path, 2)
    name = digest(workspace._backend.manifest.program)
    file = tmp_path / "programs" / f"{name}.json"
    whole, others = file.read_bytes(), [each for each in file.parent.iterdir() if each != file]

    def damage(_: Any = None) -> None:
        if harm == "gone":
            file.unlink(missing_ok=True)
        else:
            another = others[0].read_bytes()
            file.write_bytes(whole.replace(b"label", b"lapel") if harm == "bytes" else another)

    executor.forget()
    executor.before = damage
    with pytest.raises(lftj.DistributedError, match=name) as caught:
        workspace.load("e", [(3, 1000)])
    assert caught.value.code == "E403"
    executor.before = lambda payload: None
    workspace.load("e", [(3, 1000)])  # the driver has it too
    assert file.read_bytes() == whole
    assert workspace.verify() == []


def test_programs_of_the_past_go_when_the_path_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, executor = ruled(tmp_path, 2)
    kept = digest(workspace._backend.manifest.program)
    workspace.close()
    assert len(list((tmp_path / "programs").iterdir())) > 1
    monkeypatch.setattr(programs, "_UNUSED", 0.0)
    lftj.connect(executor=executor).close()  # type: ignore[arg-type]
    assert [file.stem for file in (tmp_path / "programs").iterdir()] == [kept]
