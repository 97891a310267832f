"""Packages that only some calls need: their absence is an error of ours, whose remedy works."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import lftj
from lftj.partition import java

ROOT = Path(__file__).parents[3]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


@pytest.fixture
def result(monkeypatch: pytest.MonkeyPatch) -> lftj.Result:
    for name in ("lftj.partition.spark", "lftj.distributed.executors"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    for name in ("pandas", "polars", "pyspark"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(vars(lftj), "SparkExecutor", raising=False)
    monkeypatch.delattr(lftj.partition, "spark", raising=False)
    ws = lftj.connect()
    ws.load(ws.relation("r", {"x": int}), [(1,)])
    return ws["r"]


@pytest.mark.parametrize(
    ("call", "extra"),
    [
        (lambda result: result.df(), "pandas"),
        (lambda result: result.pl(), "polars"),
        (lambda result: result.to_spark(), "spark"),
        (lambda _: lftj.local_spark(), "spark"),
        (lambda _: lftj.SparkExecutor, "spark"),
    ],
)
def test_the_message_names_what_the_extra_holds(
    result: lftj.Result, call: object, extra: str
) -> None:
    with pytest.raises(lftj.MissingDependencyError) as caught:
        call(result)  # type: ignore[operator]
    assert isinstance(caught.value, ImportError)
    assert caught.value.code == "E250"
    named = re.findall(r"""["']([\w<>=,.]+)["']""", str(caught.value).split("pip install", 1)[1])
    assert named == EXTRAS[extra]
    assert result.fetchall() == [(1,)]


@pytest.mark.parametrize(
    "package", ["deltalake", "duckdb", "networkx", "numba", "pandas", "polars"]
)
def test_every_requirement_in_a_hint_is_that_of_an_extra(package: str) -> None:
    hint = lftj.MissingDependencyError.of(package).hint
    extra = {"numba": "compile", "deltalake": "delta"}.get(package, package)
    assert hint == f'pip install "{EXTRAS[extra][0]}"'


def test_extras_that_texts_name_are_there() -> None:
    named = {
        (path.name, extra)
        for folder, kind in (("lftj", "*.py"), ("docs", "*.md"), (".", "README.md"))
        for path in (ROOT / folder).rglob(kind)
        if ".venv" not in path.parts
        for extras in re.findall(r"(?:lftj|whl\)|\.)\[([a-z,]+)\]['\"]", path.read_text())
        for extra in extras.split(",")
    }
    assert len(named) > 4
    assert [each for each in named if each[1] not in EXTRAS] == []


WITHOUT_NUMBA = """
import sys, lftj
sys.modules["numba"] = None
from lftj.scantree.jit import library
library.file_name = lambda processor: "none-such.so"
try:
    lftj.connect().add_rules(".decl a(x: number) a(1).")
except lftj.MissingDependencyError as error:
    print(error.code, error)
"""


def test_kernels_that_would_have_to_be_compiled_without_numba(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NUMBA],
        env={**os.environ, "LFTJ_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("E250 error[E250]: no machine code of the kernels fits")
    assert EXTRAS["compile"][0] in done.stdout


def test_java_that_is_missing_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object, **__: object) -> None:
        raise java.JavaMissingError("Spark needs Java 17 or later")

    spark = importlib.import_module("lftj.partition.spark")
    monkeypatch.setattr(spark, "local_session", none)
    with pytest.raises(lftj.MissingDependencyError, match="Spark needs Java 17") as caught:
        lftj.local_spark()
    assert caught.value.code == "E251"


def test_a_table_of_delta_without_its_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "t" / "_delta_log").mkdir(parents=True)
    ws = lftj.connect()
    ws.relation("r", {"x": int})
    monkeypatch.setitem(sys.modules, "deltalake", None)
    with pytest.raises(lftj.MissingDependencyError, match="deltalake is not installed") as caught:
        ws.load("r", tmp_path / "t")
    assert (caught.value.code, caught.value.hint) == ("E250", 'pip install "deltalake>=1.6"')


@pytest.mark.parametrize("options", [{"threads": 0}, {"parts": -1}, {"threads": "2"}])
def test_executors_refuse_what_they_cannot_be_given(options: dict[str, object]) -> None:
    with pytest.raises(lftj.DeclarationError, match="is a number of at least 1") as caught:
        lftj.ThreadExecutor(**options)  # type: ignore[arg-type]
    assert isinstance(caught.value, ValueError)


def test_a_spark_executor_too(tmp_path: Path) -> None:
    with pytest.raises(lftj.OptionError, match="expected a Spark session") as caught:
        lftj.SparkExecutor("local[2]", path=tmp_path)  # type: ignore[arg-type]
    assert caught.value.code == "E171"
    with pytest.raises(lftj.DeclarationError, match="partitions is a number"):
        lftj.SparkExecutor("local[2]", 0, path=tmp_path)  # type: ignore[arg-type]
