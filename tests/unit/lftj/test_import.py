from __future__ import annotations

import subprocess
import sys

import pytest

import lftj


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def test_importing_loads_nothing_heavy():
    heavy = "pandas polars pyspark matplotlib duckdb numba pyarrow numpy lark"
    code = f"import lftj, sys; print(*sorted(set('{heavy}'.split()) & set(sys.modules)))"
    assert run(code) == ""


def test_a_workspace_at_work_loads_no_frames():
    code = (
        "import lftj, sys; ws = lftj.connect(); ws.add_rules('.decl p(x: number) p(1). .decl q(x: number) q(x) :- p(x).');"
        "assert ws['q'].fetchall() == [(1,)];"
        "print(*sorted({'pandas', 'polars', 'pyspark', 'matplotlib', 'duckdb'} & set(sys.modules)))"
    )
    assert run(code) == ""


def test_every_public_name_is_there():
    assert "connect" in lftj.__all__
    assert [name for name in lftj.__all__ if not hasattr(lftj, name)] == []
    assert set(dir(lftj)) == {*lftj.__all__, "SparkExecutor"}


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="module 'lftj' has no attribute 'conect'"):
        lftj.conect  # noqa: B018


def test_everything_can_be_imported_by_star():
    assert run("from lftj import *; print(connect.__name__, vars('x y')[1])") == "connect y"
