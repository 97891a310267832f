"""Paths whose process forks: they stay its own, and are free once it is done with them."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lftj
from tests.distributed.accounts import change, made, opened, rows
from tests.distributed.accounts import expected as expected


def in_a_child(action: Callable[[], object]) -> int:
    """Run `action` in a forked child; exit code 0 for success, 2 for a refusal."""
    child = os.fork()
    if not child:
        code = 1
        try:
            action()
            code = 0
        except lftj.DistributedError as error:
            code = 2 if error.code == "E402" else 3
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_forked_child_reads_and_leaves_the_path_to_its_parent(
    tmp_path: Path, expected: Any
) -> None:
    with made(opened(tmp_path)) as workspace:
        assert in_a_child(lambda: change(workspace)) == 2
        assert in_a_child(workspace.compact) == 2
        assert in_a_child(lambda: rows(workspace) == expected[False] or os._exit(4)) == 0
        with workspace.transaction() as tx:
            tx.upsert("acct", [(1, "new")])
            tx.delete_where("acct", o="o2")  # by files that wait for the commit
            assert in_a_child(tx.commit) == 2
            assert in_a_child(tx.rollback) == 0
        assert in_a_child(workspace.close) == 0
        assert (tmp_path / "storing").exists()
        with pytest.raises(lftj.DistributedError, match="in use"):
            opened(tmp_path)
        assert {row[1] for row in workspace["acct"]} == {"new", "o0", "o1"}


def test_a_path_is_free_once_its_workspace_is_closed_or_gone(tmp_path: Path) -> None:
    workspace = made(opened(tmp_path))
    ended, end = os.pipe()
    child = os.fork()  # which has the file of the lock as long as it lives
    if not child:
        os.close(end)
        os.read(ended, 1)
        os._exit(0)
    workspace.close()
    workspace = opened(tmp_path)
    del workspace
    gc.collect()
    opened(tmp_path).close()
    os.close(end)
    os.close(ended)
    os.waitpid(child, 0)
