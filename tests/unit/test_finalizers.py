"""Finalizers of objects that were made in part: Ctrl-C may end the making before any line of it."""

from __future__ import annotations

import ast
import gc
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import lftj
from lftj.engine.calls.limits import LimitStack
from lftj.engine.durable.folder import ReadersLock
from lftj.scantree import Arena, Tree
from lftj.scantree.segment import SegmentFile
from lftj.scantree.stretch import Stretch
from lftj.storage.durable.folder_lock import FolderLock, ProcessLock

ROOT = Path(lftj.__file__).parents[1]


def _with_finalizers() -> list[type]:
    """All our classes that define one."""
    found: list[type] = []
    for package in ("lftj", "partition", "scantree", "sensitivity"):
        for path in sorted((ROOT / package).rglob("*.py")):
            source = path.read_text(encoding="utf-8")
            if "__del__" not in source:
                continue
            module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
            for node in ast.parse(source).body:
                if isinstance(node, ast.ClassDef) and "__del__" in vars(getattr(module, node.name)):
                    found.append(getattr(module, node.name))
    return found


@pytest.fixture
def ignored(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Errors of finalizers, which Python prints and ignores."""
    seen: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: seen.append(args.exc_value))
    return seen


@pytest.mark.parametrize("cls", _with_finalizers(), ids=lambda cls: cls.__name__)
def test_an_object_of_which_nothing_was_made_goes_quietly(cls: type, ignored: list[Any]):
    """But for a warning that there was something to do."""
    made = object.__new__(cls)
    del made
    gc.collect()
    assert ignored == []


def _file(folder: Path) -> int:
    return os.open(folder / "locked", os.O_CREAT | os.O_RDWR)


MAKERS: dict[str, Callable[[Path], object]] = {
    "arena": lambda _: Arena(),
    "arena of a size": lambda _: Arena(1 << 22),
    "stretch": lambda _: Stretch(1 << 22, 1 << 16),
    "segment": lambda folder: SegmentFile(Arena(1 << 28), folder, "owner", 1 << 20),
    "tree": lambda _: Tree.empty(Arena(1 << 22), 2),
    "readers": ReadersLock,
    "process": lambda folder: ProcessLock(_file(folder)),
    "folder": FolderLock,
    "transaction": lambda _: lftj.connect().transaction(),
    "limits": lambda _: lftj.connect().limits(seconds=1),
    "stack": lambda _: LimitStack(),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("maker", MAKERS.values(), ids=MAKERS)
def test_an_object_whose_making_is_interrupted_goes_quietly(
    maker: Callable[[Path], object], ignored: list[Any], tmp_path: Path
):
    """Before each line of each `__init__` of ours."""
    at, left = 0, 1
    while left <= 0 or at == 0:
        at += 1
        left = at

        def stop(frame: FrameType, event: str, _: object) -> Any:
            nonlocal left
            code = frame.f_code
            if code.co_name != "__init__" or not code.co_filename.startswith(str(ROOT)):
                return None
            if event == "line":
                left -= 1
                if left == 0:
                    raise KeyboardInterrupt
            return stop

        folder = tmp_path / str(at)
        folder.mkdir()
        sys.settrace(stop)
        try:
            maker(folder)
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(None)
        assert at < 2_000
    gc.collect()
    assert ignored == []
    assert at > 1
