"""Another number of parts: the same rows and views, a past that can be read, and nothing of it
where it fails.
"""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.distributed import backend
from lftj.distributed.files.manifest import Manifest, row_files
from lftj.distributed.objects import file_store
from lftj.distributed.stored.stored_files import STATE, records
from tests.depth import enough
from tests.distributed.accounts import change, made, opened, rows
from tests.distributed.accounts import expected as expected
from tests.distributed.inline import InlineExecutor, require_equal
from tests.distributed.stored import RULES, graph


def test_rows_and_views_are_the_same_in_any_number_of_parts(
    tmp_path: Path, expected: list[dict[str, list[Any]]]
) -> None:
    workspace, version = made(opened(tmp_path, 3)), 0
    for parts in (7, 1, 4):
        version = workspace.version
        assert workspace.repartition(parts)
        assert workspace.version == version + 1
        assert rows(workspace) == expected[0]
        assert workspace.verify() == []
        assert row_files(tmp_path) == workspace._backend.manifest.files()
    assert not workspace.repartition(4)
    change(workspace)
    assert rows(workspace) == expected[1]
    assert workspace.query("linked(0, y), y > 5").fetchall() == []
    workspace.compact()
    assert {name.part for name in records(tmp_path / STATE)} <= set(range(4))
    workspace.close()
    with pytest.raises(lftj.DistributedError, match="holds 4 parts, the executor has 3") as caught:
        opened(tmp_path, 3)
    assert caught.value.code == "E403"
    with opened(tmp_path, 4) as again:
        assert rows(again) == expected[1]
        assert again.verify() == []


@pytest.mark.parametrize("rules", RULES)
def test_histories_go_on_as_in_one_process(rules: str, tmp_path: Path) -> None:
    draw = random.Random(rules)
    executor: Any = InlineExecutor(tmp_path, 3, workers=2)
    many, one = lftj.connect(executor=executor), lftj.connect()
    for workspace in (many, one):
        workspace.relation("e", {"x": int, "y": int})
        workspace.load("e", graph(120))
        workspace.add_rules(RULES[rules])
    for parts in enough((5, 2), (5, 2, 6)):
        many.repartition(parts)
        require_equal(many, one)
        for _ in range(3):
            gone = draw.sample(sorted(one["e"].fetchall()), 2)
            came = [(draw.randrange(60), draw.randrange(60)) for _ in range(3)]
            for workspace in (many, one):
                with workspace.transaction() as tx:
                    tx.delete("e", gone)
                    tx.insert("e", came)
            require_equal(many, one)
            executor.forget()
    assert many.verify() == []
    many.close()


def test_a_past_version_is_read_as_it_was(tmp_path: Path) -> None:
    with made(opened(tmp_path, 3)) as workspace:
        past, before = workspace.snapshot(), rows(workspace)
        answers = past.query("linked(x, y), x < 3")
        assert workspace.repartition(5)
        change(workspace)
        workspace.compact()
        assert rows(past) == before
        assert sorted(past.query("linked(x, y), x < 3").fetchall()) == sorted(answers.fetchall())
        assert past.verify() == []
        assert rows(workspace) != before


@pytest.mark.parametrize("parts", [0, -1, True, 2.0, "3", None])
def test_what_is_no_number_of_parts_is_refused(parts: Any, tmp_path: Path) -> None:
    with opened(tmp_path) as workspace, lftj.connect() as one:
        for each in (workspace, one):
            with pytest.raises(lftj.DeclarationError, match="a number of at least 1") as caught:
                each.repartition(parts)
            assert caught.value.code == "E160"
        assert one.repartition(3) is False
        with workspace.transaction(), pytest.raises(lftj.TransactionError) as inside:
            workspace.repartition(4)
        assert inside.value.code == "E322"


def test_one_that_fails_leaves_nothing(
    tmp_path: Path, expected: list[dict[str, list[Any]]]
) -> None:
    with made(opened(tmp_path, 3)) as workspace:
        workspace.compact()
        there, executor = row_files(tmp_path), workspace._backend.executor
        for fails in range(1, 9, 3):
            left = iter(range(fails))

            def failing(payload: Any, left: Any = left) -> None:
                if next(left, None) is None:
                    raise OSError("the disk is full")

            executor.before = failing
            with pytest.raises(lftj.DistributedError):
                workspace.repartition(5)
            executor.before = lambda payload: None
            assert row_files(tmp_path) == there
            assert workspace._backend.manifest.parts == 3
            assert rows(workspace) == expected[0]
        with workspace.limits(seconds=0.0), pytest.raises(lftj.LimitError):
            workspace.repartition(5)
        change(workspace)
        assert rows(workspace) == expected[1]
        assert workspace.repartition(5)
        assert rows(workspace) == expected[1]


@pytest.mark.parametrize("moment", ["brought", "create", "remove_files"])
def test_a_driver_that_is_killed_leaves_one_or_the_other(
    moment: str, tmp_path: Path, expected: list[dict[str, list[Any]]]
) -> None:
    made(opened(tmp_path, 3)).close()
    where: Any = {
        "brought": backend.Repartition,
        "create": file_store._FolderStore,
        "remove_files": backend,
    }[moment]
    if (child := os.fork()) == 0:
        try:
            with opened(tmp_path, 3) as workspace:
                setattr(where, moment, lambda *args: os.kill(os.getpid(), signal.SIGKILL))
                workspace.repartition(2)
        finally:  # a child never goes on as a copy of the tests
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    found = Manifest.load(tmp_path)
    assert found is not None
    assert found.parts == (2 if moment == "remove_files" else 3)
    with opened(tmp_path, found.parts) as again:
        assert rows(again) == expected[0]
        assert row_files(tmp_path) == again._backend.manifest.files()
        assert again.repartition(4)
        change(again)
        assert rows(again) == expected[1]
