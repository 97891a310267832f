"""The class of thresholds: what it takes, what it refuses, and that each of them is read."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from typing import Any

import pytest

import lftj

SOURCES = Path(lftj.__file__).parent
FIELDS = [field.name for field in fields(lftj.Tuning)]


def test_tunings_with_the_same_thresholds_are_equal_and_tell_what_is_not_as_by_default():
    assert lftj.Tuning() == lftj.Tuning(sampled_rows=1024)
    assert repr(lftj.Tuning()) == "Tuning()"
    assert repr(lftj.Tuning(present_order=3.5, sampled_rows=9)) == (
        "Tuning(sampled_rows=9, present_order=3.5)"
    )


def test_a_tuning_does_not_change():
    with pytest.raises(FrozenInstanceError):
        lftj.Tuning().sampled_rows = 9  # type: ignore[misc]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"sampled_rows": -1}, "sampled_rows is a whole number of at least 0, found -1"),
        ({"sampled_rows": 2.5}, "sampled_rows is a whole number of at least 0, found 2.5"),
        ({"present_order": "x"}, "present_order is a number of at least 0, found 'x'"),
        ({"present_order": float("nan")}, "present_order is a number of at least 0, found nan"),
        ({"update_steps": True}, "update_steps is a whole number of at least 0, found True"),
    ],
)
def test_what_is_no_amount_is_refused(given: dict[str, Any], found: str):
    with pytest.raises(lftj.DeclarationError, match=re.escape(found)) as refused:
        lftj.Tuning(**given)
    assert refused.value.code == "E160"
    assert "the default is" in str(refused.value)


@pytest.mark.parametrize(
    ("name", "hint"), [("sampled_row", "did you mean sampled_rows=?"), ("window_share", "constant")]
)
def test_what_is_no_threshold_is_refused(name: str, hint: str):
    with pytest.raises(lftj.OptionError, match=f"no threshold {name}=") as refused:
        lftj.Tuning(**{name: 1})  # pyright: ignore[reportArgumentType]
    assert refused.value.code == "E170"
    assert hint in str(refused.value)


def test_a_workspace_takes_no_other_thing_for_a_tuning():
    with pytest.raises(lftj.DeclarationError, match="tuning is a Tuning, found 3") as refused:
        lftj.connect(tuning=3)  # type: ignore[call-overload]
    assert refused.value.code == "E160"


def test_every_threshold_is_read():
    read = {
        name
        for path in SOURCES.rglob("*.py")
        if path.parent.name != "tuning"
        for name in re.findall(r"tuning\.(\w+)", path.read_text(encoding="utf-8"))
    }
    assert set(FIELDS) - read == set()


def test_a_threshold_chooses_another_way_to_the_same_rows():
    found = {}
    for tuning in lftj.Tuning(), lftj.Tuning(update_steps=0, update_soon_steps=0):
        with lftj.connect(elastic=1e-9, tuning=tuning) as workspace:
            workspace.add_rules(
                ".decl e(x: number, y: number)  .decl two(x: number, z: number)  "
                "two(x, z) :- e(x, y), e(y, z)."
            )
            workspace.load("e", [(i, i + 1) for i in range(300)])
            workspace.load("e", [(i, i + 2) for i in range(20)])
            found[tuning] = workspace["two"].fetchall()
            strategies = set(workspace.profile(last=1)["outcome"])
            assert ("update" in strategies) == (tuning == lftj.Tuning())
    assert len(set(map(tuple, found.values()))) == 1
