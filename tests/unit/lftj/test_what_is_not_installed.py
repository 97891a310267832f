"""Packages that only some calls need: their absence is an error of ours, whose remedy works."""

from __future__ import annotations

import importlib
import re
import sys
import tomllib
from pathlib import Path

import pytest

import lftj
from partition import java

EXTRAS = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"][
    "optional-dependencies"
]


@pytest.fixture
def result(monkeypatch: pytest.MonkeyPatch) -> lftj.Result:
    for name in ("partition.spark", "lftj.distributed.executors"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    for name in ("pandas", "polars", "pyspark"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(vars(lftj), "SparkExecutor", raising=False)
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


def test_java_that_is_missing_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object, **__: object) -> None:
        raise java.JavaMissingError("Spark needs Java 17 or later")

    spark = importlib.import_module("partition.spark")
    monkeypatch.setattr(spark, "local_session", none)
    with pytest.raises(lftj.MissingDependencyError, match="Spark needs Java 17") as caught:
        lftj.local_spark()
    assert caught.value.code == "E251"


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
