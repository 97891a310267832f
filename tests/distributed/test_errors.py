"""Errors in a part read as in one process: the same words, names and places in the user's text."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

import lftj
from lftj.errors import LftjError
from tests.distributed.inline import InlineExecutor, in_supersteps

RULES = """
.decl e(x: number, y: number)
.decl s(name: symbol, n: number)
.decl m(x: number, amount: decimal(18, 2))
.decl part(x: number, z: number)
part(x, z) :-
    e(x, y),
    z = x / y.
.decl number_of(name: symbol, n: number)
number_of(a, to_number(a)) :- s(a, _).
.decl all(n: number)
all(sum(n)) :- s(_, n).
.decl by_half(h: number, n: number)
by_half(h, sum(n)) :- s(_, n), h = n % 2.
.decl money(amount: decimal(18, 2))
money(sum(a)) :- m(_, a).
.decl first[x: number]: number
first[x] = y :- e(x, y).
.decl either(z: number)
either(z) :- m(x, _), (z = 7 / x ; z = 8 / x).
"""


def told(workspace: Any, work: Callable[[Any], object]) -> str:
    """Message of the error that `work` raises."""
    with pytest.raises(LftjError) as caught:
        work(workspace)
    return str(caught.value)


def begun(workspace: Any) -> Any:
    workspace.add_rules(RULES, file="prog.dl")
    workspace.relation("acct", {"id": int, "name": str}, key="id")
    workspace.relation("owner", {"name": str, "id": int}, key="name")
    workspace.load("acct", [(1, "me@1"), (2, "`me~`")])
    return workspace


WRONG: dict[str, Callable[[Any], object]] = {
    "division by zero": lambda ws: ws.load("e", [(1, 1), (2, 0)]),
    "division in a branch": lambda ws: ws.load("m", [(0, Decimal(1))]),
    "rows of one key in several parts": lambda ws: ws.load(
        "acct", [(number, f"{name}{number % 7}") for number in range(70, 50, -1) for name in "ba"]
    ),
    "rows of one key that is text": lambda ws: ws.load(
        "owner", [(f"b{number % 7}", number) for number in range(20)]
    ),
    "values of a function in several parts": lambda ws: ws.load(
        "e", [(number, number + more) for number in range(9, 1, -1) for more in (1, 2)]
    ),
    "absent rows of several parts": lambda ws: _deleted(
        ws, [(number, f"b{number % 7}") for number in range(50, 70)]
    ),
    "present rows of several parts": lambda ws: _inserted(
        ws, [(number, f"b{number % 7}") for number in range(40)]
    ),
    "no number": lambda ws: ws.load("s", [("x@1", 1)]),
    "the sum of all": lambda ws: ws.load("s", [(str(i), 2**62 + 2 * i) for i in range(3)]),
    "a sum of decimals": lambda ws: ws.load("m", [(i, Decimal("9" * 16)) for i in range(1, 4)]),
    "two values": lambda ws: ws.load("e", [(1, 1), (1, 2)]),
    "one key": lambda ws: ws.load("acct", [(1, "you@0")]),
    "a row that is not there": lambda ws: _deleted(ws, [(9, "you@0")]),
    "a question": lambda ws: ws.query("e(x, y), z = x / (y - y)"),
}


def _inserted(workspace: Any, rows: list[tuple[Any, ...]]) -> None:
    workspace.load("acct", [row for row in rows if row[0] > 2])
    with workspace.transaction() as tx:
        tx.insert("acct", [row for row in rows if row[0] > 2], existing="error")


def _deleted(workspace: Any, rows: list[tuple[Any, ...]]) -> None:
    with workspace.transaction() as tx:
        tx.delete("acct", rows, missing="error")


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("parts", [1, 3])
def test_errors_of_parts_are_those_of_one_process(tmp_path: Path, parts: int, name: str) -> None:
    far = begun(lftj.connect(executor=InlineExecutor(tmp_path, parts)))
    near = begun(lftj.connect())
    if name == "a question":
        near.load("e", [(1, 1)])
        far.load("e", [(1, 1)])
    assert told(far, WRONG[name]) == told(near, WRONG[name])


def test_a_rule_that_is_added_to_rows_is_shown(tmp_path: Path) -> None:
    workspace: Any = begun(lftj.connect(executor=InlineExecutor(tmp_path, 3)))
    workspace.load("e", [(1, 2)])
    found = told(
        workspace,
        lambda ws: ws.add_rules("part(x, z) :-\n  e(x, y), z = y % (x - 1).", file="more.dl"),
    )
    assert found.startswith("more.dl:1:1: error[E221]")
    assert "part(x, z) :-" in found


def test_a_path_that_was_opened_again_shows_its_rule(tmp_path: Path) -> None:
    executor = InlineExecutor(tmp_path, 3)
    begun(lftj.connect(executor=executor)).close()
    found = told(lftj.connect(executor=executor), WRONG["division by zero"])
    assert "part(x, z) :- e(x, y), z = x / y." in found


@pytest.mark.parametrize(
    "rule",
    [
        "a(x, z) :- a(x, y), a(y, w), z = w * 4000000000.",
        "a(x, z) :- b(x, y), b(y, w), z = w * 4000000000. b(x, y) :- a(x, y).",
        "c(x, min(k)) :- e(x, k). c(y, min(z)) :- c(x, k), e(x, y), z = k + 9223372036854775806 * "
        "(y - 1).",
    ],
)
def test_what_goes_wrong_in_rounds_names_the_rule(tmp_path: Path, rule: str) -> None:
    found = list[str]()
    for workspace in (lftj.connect(), lftj.connect(executor=InlineExecutor(tmp_path, 3))):
        workspace.relation("e", {"x": int, "y": int})
        workspace.load("e", [(1, 2), (2, 3), (3, 1)])
        for name in "abc":
            workspace.view(name, {"x": int, "y": int})
        with in_supersteps():
            message, where = told(
                workspace, lambda ws: ws.add_rules(f"a(x, y) :- e(x, y). {rule}")
            ).split("\n", 1)
        found.append(
            message[: message.index(" with ")] + message[message.rindex(", in ") :] + where
        )
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "rules",
    [
        "w(sum(v)) :- m(_, v).",
        "w(v) :- m(_, v).",
        "w(v) :- m(_, v). w(v) :- w(u), m(_, u), m(_, v).",
    ],
)
def test_a_decimal_with_too_many_digits_names_the_users_relation(
    tmp_path: Path, rules: str
) -> None:
    found = list[str]()
    for workspace in (lftj.connect(), lftj.connect(executor=InlineExecutor(tmp_path, 3))):
        workspace.add_rules(".decl m(x: number, v: decimal(8, 2)) .decl w(v: decimal(4, 2))")
        workspace.load("m", [(1, Decimal(120)), (2, Decimal(120))])
        with in_supersteps():
            found.append(told(workspace, lambda ws: ws.add_rules(rules)))
    assert "w.v is decimal(4,2), and a rule derives" in found[0]
    assert found[0] == found[1]


def test_values_that_only_a_cycle_finds_are_not_asked_for_over_parts(tmp_path: Path) -> None:
    workspace = lftj.connect(executor=InlineExecutor(tmp_path, 2))
    rules = ".decl e(x: number, y: number)\n.decl p(x: number, n: number)\n"
    workspace.add_rules(f"{rules}p(y, n) :- e(x, y), p(x, k), n = count : {{ e(x, _) }}, k < 5.")
    asking = "p(y, n) :- e(x, y), p(x, k), n = count : { e(_, z), z > k }."
    message = told(workspace, lambda ws: ws.add_rules(asking))
    assert message.startswith(
        "error[E400]: a distributed workspace cannot do this yet: an aggregate"
    )
    assert asking in message
    assert len(workspace.rules) == 1


@pytest.mark.parametrize("broken", [1, 3, 10])
@pytest.mark.parametrize("signed", [False, True])
def test_a_bad_value_in_a_frame_is_named_by_its_row_in_the_whole_frame(
    broken: int, signed: bool, tmp_path: Path
) -> None:
    rows = [(number, None if number == broken else 1, (1, -1)[number % 2]) for number in range(12)]
    names = ["x", "y", "sign"][: 2 + signed]
    batches = [
        pa.record_batch(
            [list(column) for column in list(zip(*pair, strict=True))[: 2 + signed]], names
        )
        for pair in zip(rows[::2], rows[1::2], strict=True)
    ]
    frame = Partitions([batches[:2], batches[2:4], batches[4:]])
    with lftj.connect(executor=FramesExecutor(tmp_path)) as many:
        many.relation("e", {"x": int, "y": int})
        load = (
            (lambda ws: ws.feed("e", "s", sign="sign")(frame, 0))
            if signed
            else (lambda ws: ws.load("e", frame))
        )
        assert f'row {broken}, column "y": NULL' in told(many, load)
        assert many["e"].fetchall() == []


class Partitions(list[Any]):
    """A frame of partitions of record batches, of no streaming query."""

    mapInArrow = len
    sparkSession = SimpleNamespace(sparkContext=SimpleNamespace(getLocalProperty=lambda name: None))


class FramesExecutor(InlineExecutor):
    """An executor that knows the columns of such frames."""

    def schema(self, frame: Any) -> Any:
        """The columns of the first batch."""
        return frame[0][0].schema
