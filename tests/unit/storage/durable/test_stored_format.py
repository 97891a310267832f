"""The name of what is stored follows from the sources that have a say in it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

stored_format = import_module("lftj.storage.durable.stored_format")


def test_the_sources_of_pages_and_states_are_there() -> None:
    known = {
        str(file.relative_to(stored_format._LFTJ)) for file in stored_format.sources("distributed")
    }
    assert {
        "scantree/page_kernels.py",
        "scantree/segment.py",
        "scantree/packing_kernels.py",
        "types/text_index_kernels.py",
        "types/texts.py",
        "heads/user_totals.py",
        "distributed/stored/stored_part.py",
        "maintenance/counting/iterated_relation.py",
        "types/codes.py",
        "sensitivity/index.py",
        "views/stored/stored_groups.py",
    } <= known


def test_any_change_makes_another_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_format, "_LFTJ", tmp_path)
    files = [tmp_path / "a.py", tmp_path / "b.py"]
    names = set()
    for contents in (
        ("x = 1", "y = 2"),
        ("x = 1", "y = 3"),
        ("x = 1y =", " 2"),
        ("x = 1", "y = 2"),
    ):
        for file, content in zip(files, contents, strict=True):
            file.write_text(content)
        names.add(stored_format.name_of(files))
    assert len(names) == 3
