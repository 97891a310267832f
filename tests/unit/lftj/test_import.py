from __future__ import annotations

import subprocess
import sys

import pytest

import lftj


def run(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.strip()


def test_importing_loads_nothing_heavy():
    heavy = "pandas polars pyspark matplotlib duckdb numba pyarrow numpy lark"
    code = f"import lftj, sys; print(*sorted(set('{heavy}'.split()) & set(sys.modules)))"
    assert run(code) == ""


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["demo", "-h"]])
def test_help_loads_the_parser_of_arguments_alone(arguments):
    heavy = "numpy pyarrow lark rich jinja2 lftj.errors lftj.engine lftj.api lftj.demo"
    code = (
        f"import sys; from lftj.cli import main; assert main({arguments!r}) == 0; "
        f"print('loaded', *sorted(set('{heavy}'.split()) & set(sys.modules)))"
    )
    assert run(code).splitlines()[-1] == "loaded"


def test_a_workspace_at_work_loads_no_frames():
    code = (
        "import lftj, sys; ws = lftj.connect(); ws.add_rules('.decl p(x: number) p(1). .decl q(x: "
        "number) q(x) :- p(x).');"
        "assert ws['q'].fetchall() == [(1,)];"
        "print(*sorted({'pandas', 'polars', 'pyspark', 'matplotlib', 'duckdb'} & set(sys.modules)))"
    )
    assert run(code) == ""


ALL_TYPES = """
import datetime, decimal, pathlib, pickle, sys, tempfile, lftj
ws = lftj.connect()
types = {
    "i": int, "f": float, "s": str, "b": bool, "d": datetime.date, "m": datetime.datetime,
    "c": "decimal(6,2)",
}
every = ws.relation("every", types)
day, time = datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1, 2, 3)
row = (1, 1.5, "é", True, day, time, decimal.Decimal("1.25"))
ws.load(every, [row])
folder = pathlib.Path(tempfile.mkdtemp())
for kind in ("facts", "csv", "parquet"):
    getattr(ws["every"], "write_" + kind)(folder / f"every.{kind}")
    assert ws.load(every, folder / f"every.{kind}", nulls="drop") == 0
(folder / "odd.csv").write_text("i,f,s,b,d,m,c\\n2,,x,true,2020-01-01,2020-01-01 00:00:00, +1.5\\n")
assert ws.load(every, folder / "odd.csv", nulls="drop") == 0
ws.load(ws.relation("holds", {}), [()])
ws.add_rules(".decl n(s: symbol, n: number) n(s, count()) :- every(_, _, s, _, _, _, _).")
assert ws["every"].fetchall() == [row] and ws["n"].fetchall() == [("é", 1)]
assert ws["holds"].arrow().num_rows == 1
assert pickle.loads(pickle.dumps(ws.query("every(i, _, s, _, _, _, _)"))).fetchall() == [(1, "é")]
assert ws.verify() == [] and ws.memory().fetchall()
print(*sorted({"pandas", "polars", "pyspark", "matplotlib", "duckdb"} & set(sys.modules)))
"""


def test_values_of_all_types_come_and_go_without_frames():
    assert run(ALL_TYPES) == ""


def test_the_command_line_loads_no_frames(tmp_path):
    (tmp_path / "p.dl").write_text(".decl e(s: symbol, x: float) .input e .output e")
    (tmp_path / "e.facts").write_text("é\t1.5\n")
    code = (
        "import sys; from lftj.cli import main;"
        f"assert main(['run', {str(tmp_path / 'p.dl')!r}, '-F', {str(tmp_path)!r}, '-D', "
        f"{str(tmp_path)!r}]) == 0;"
        "print(*sorted({'pandas', 'polars', 'pyspark', 'matplotlib', 'duckdb'} & set(sys.modules)))"
    )
    assert run(code) == ""
    assert (tmp_path / "e.csv").read_text().startswith("é\t1.5")


def test_every_public_name_is_there():
    assert "connect" in lftj.__all__
    assert [name for name in lftj.__all__ if not hasattr(lftj, name)] == []
    assert set(dir(lftj)) == {*lftj.__all__, "SparkExecutor"}


def test_help_is_there_without_spark():
    code = """
import importlib.util, io, pydoc
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "pyspark" else find(name, *rest)
import lftj
assert "SparkExecutor" not in dir(lftj)
pydoc.Helper(output=(shown := io.StringIO())).help(lftj)
print("class Workspace" in shown.getvalue())
"""
    assert run(code) == "True"


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="module 'lftj' has no attribute 'conect'"):
        lftj.conect  # noqa: B018


def test_everything_can_be_imported_by_star():
    assert run("from lftj import *; print(connect.__name__, vars('x y')[1])") == "connect y"
