"""Locks between processes, each taken by another process in turn."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lftj.scantree.process.file_locks import lock_byte, lock_file, unlock_byte, unlock_file

TAKES = (
    "import os; from lftj.scantree.process.file_locks import *; file = os.open({!r}, os.O_RDWR); {}"
)


def tried(path: Path, call: str) -> str:
    """Try to take a lock in another process; print 1 for success, 0 for a refusal."""
    code = TAKES.format(
        str(path), f"exec('try:\\n  {call}; print(1)\\nexcept BlockingIOError:\\n  print(0)')"
    )
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def file(tmp_path: Path) -> int:
    return os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)


def test_a_file_is_locked_by_one_process(file: int, tmp_path: Path) -> None:
    lock_file(file)
    assert tried(tmp_path / "lock", "lock_file(file)") == "0"
    unlock_file(file)
    assert tried(tmp_path / "lock", "lock_file(file)") == "1"


def test_a_shared_lock_keeps_out_who_wants_it_alone(file: int, tmp_path: Path) -> None:
    lock_file(file, shared=True)
    assert tried(tmp_path / "lock", "lock_file(file, shared=True)") == "1"
    assert tried(tmp_path / "lock", "lock_file(file)") == "0"


def test_bytes_are_locked_each(file: int, tmp_path: Path) -> None:
    lock_byte(file, 3)
    assert tried(tmp_path / "lock", "lock_byte(file, 3)") == "0"
    assert tried(tmp_path / "lock", "lock_byte(file, 4)") == "1"
    unlock_byte(file, 3)
    assert tried(tmp_path / "lock", "lock_byte(file, 3)") == "1"


def test_without_locks_there_is_an_error_that_says_so(
    file: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.raises(OSError, match="no locks on files"):
        lock_file(file)
