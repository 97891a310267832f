"""Options that do not exist, for the type checker and at run time."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import lftj
from tests.type_checking import diagnostics, error_lines

PUBLIC = [
    lftj.Workspace,
    lftj.Transaction,
    lftj.Snapshot,
    lftj.Result,
]
OTHERS = {"delete_where", "of_rows"}  # that takes names of columns, this is for the engine


def methods() -> list[tuple[type, str]]:
    return [
        (owner, name)
        for owner in PUBLIC
        for name, value in inspect.getmembers(owner, inspect.isfunction)
        if not name.startswith("_") and name not in OTHERS
    ]


@pytest.mark.parametrize(
    ("owner", "name"), methods(), ids=lambda value: getattr(value, "__name__", value)
)
def test_a_method_names_its_options_and_refuses_others(owner: type, name: str) -> None:
    method = getattr(owner, name)
    parameters = inspect.signature(method).parameters
    assert not [each for each in parameters.values() if each.kind is each.VAR_KEYWORD]
    with pytest.raises(lftj.OptionError, match=r"has no option no_such_thing=") as caught:
        method(object.__new__(owner), no_such_thing=1)
    assert isinstance(caught.value, TypeError)
    assert caught.value.code == "E170"


def test_the_nearest_is_named(tmp_path: Path) -> None:
    ws = lftj.connect()
    edge = ws.relation("edge", {"x": int})
    with ws.transaction() as tx:
        for call, wrong, meant in (
            (lftj.connect, "elastc", "elastic"),
            (lambda **options: ws.relation("a", {"x": int}, **options), "keys", "key"),
            (lambda **options: ws.load(edge, [(1,)], **options), "nuls", "nulls"),
            (lambda **options: ws.add_rules("", **options), "fact", "facts"),
            (lambda **options: tx.insert(edge, [(1,)], **options), "existng", "existing"),
            (lambda **options: tx.delete(edge, [(1,)], **options), "misssing", "missing"),
            (lambda **options: tx.upsert(edge, [(1,)], **options), "column", "columns"),
            (
                lambda **options: ws["edge"].write_facts(tmp_path / "e.facts", **options),
                "paramters",
                "parameters",
            ),
            (lambda **options: ws.limits(**options), "second", "seconds"),
        ):
            with pytest.raises(
                lftj.OptionError, match=rf"has no option {wrong}=(.|\n)*did you mean {meant}=\?"
            ):
                call(**{wrong: None})
    with pytest.raises(lftj.OptionError, match=r"has no option way=(.|\n)*it has path="):
        ws["edge"].write_parquet(way=3)


CHECKED = """
import lftj
ws = lftj.connect()
edge = ws.relation("edge", {"x": int})
ws.load(edge, [(1,)], nuls="drop")
with ws.transaction() as tx:
    tx.insert(edge, [(1,)], existing="eror")
    tx.upsert(edge, [(1,)], coluns={})
names: list[str] = tx.changes()
rows: lftj.Result = tx.changes("edge")
wrong: int = tx.changes("edge")
lftj.connect(elastc=1)
"""


def test_the_type_checker_knows(tmp_path: Path) -> None:
    found = diagnostics(CHECKED, tmp_path)
    assert set(error_lines(found)) == {5, 7, 8, 11, 12}, found
