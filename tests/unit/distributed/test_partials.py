"""Aggregates from shares: bit for bit what one part alone would publish."""

from __future__ import annotations

import decimal
import math
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import lftj
from tests.distributed.inline import InlineExecutor

PROGRAM = """
.decl total(n: number, fs: float, fm: float, is: number, im: float, least: float, most: number)
total(count(), sum(f), mean(f), sum(i), mean(i), min(f), max(i)) :- m(_, f, i, _).
.decl cents(s: decimal(18,2), a: float)
cents(sum(d), mean(d)) :- m(_, _, _, d).
.decl spread(f: float, i: float, d: float)
spread(stddev(f), stddev(i), stddev(d)) :- m(_, f, i, d).
.decl odd(b: bool)
odd(any(b)) :- m(k, _, _, _), flag(k % 2, b).
.decl flag(k: number, b: bool)
flag(0, false). flag(1, true).
.decl texts(t: symbol)
texts(concat(s, ",")) :- m(k, _, _, _), s = to_string(k).
"""
VIEWS = ("total", "cents", "spread", "odd", "texts")
Row = tuple[int, float, int, decimal.Decimal]

floats = st.sampled_from([1e16, 1.0, -1e16, 0.1, -0.1, 5e-324, 1e308, -1e308, 1e-20, 2.0**53])
integers = st.sampled_from([0, 1, -1, 2**62, -(2**62), 2**63 - 1, -(2**63), 2**32, -(2**32), 12345])
rows = st.dictionaries(
    st.integers(0, 30),
    st.tuples(floats, integers, st.decimals("-99", "99", places=2)),
    min_size=1,
    max_size=12,
)


def declared(workspace: lftj.Workspace | lftj.Workspace) -> None:
    workspace.relation("m", {"k": int, "f": float, "i": int, "d": "decimal(9,2)"})
    workspace.add_rules(PROGRAM)


def fitting(values: dict[int, tuple[float, int, decimal.Decimal]]) -> list[Row]:
    """Rows whose totals have a value; one that brings them back is added where they do not."""
    total = sum(i for _, i, _ in values.values())
    found = [(k, f, i, d) for k, (f, i, d) in values.items()]
    while not -(2**63) <= total < 2**63:
        back = -(2**62) if total > 0 else 2**62
        found.append((100 + len(found), 0.0, back, decimal.Decimal(0)))
        total += back
    return found


@given(rows, st.integers(1, 5))
@settings(max_examples=settings().max_examples // 3)
def test_totals_are_exact_whatever_the_parts(
    values: dict[int, tuple[float, int, decimal.Decimal]], parts: int
) -> None:
    held = fitting(values)
    assume(math.isfinite(math.fsum(f / 16 for _, f, _, _ in held) * 16))
    with TemporaryDirectory() as folder:
        local, big = lftj.connect(), lftj.connect(executor=InlineExecutor(Path(folder), parts))
        for workspace in (local, big):
            declared(workspace)
            workspace.load("m", held)
        for name in VIEWS:
            assert big[name].fetchall() == local[name].fetchall()
        with big.transaction() as tx:
            tx.delete("m", held[:-1])
        with local.transaction() as tx:
            tx.delete("m", held[:-1])
        for name in VIEWS:
            assert big[name].fetchall() == local[name].fetchall()


def test_a_total_that_does_not_fit_is_an_error_and_nothing_happens(tmp_path: Path) -> None:
    workspace = lftj.connect(executor=InlineExecutor(tmp_path, 4))
    declared(workspace)
    zero = decimal.Decimal(0)
    workspace.load("m", [(1, 1.0, 2**63 - 1, zero)])
    version = workspace.version
    with pytest.raises(lftj.ValueRangeError):
        workspace.load("m", [(k, 1.0, 2**62, zero) for k in range(2, 9)])
    assert workspace.version == version
    assert workspace["total"].fetchall()[0][3] == 2**63 - 1
    # Shares may leave the range on the way as long as the whole does not.
    workspace.load(
        "m",
        [
            (k, 1.0, i, zero)
            for k, i in ((2, 2**63 - 1), (3, 2**63 - 1), (4, -(2**63)), (5, -(2**63)))
        ],
    )
    assert workspace["total"].fetchall()[0][3] == 2**63 - 1 + 2 * (2**63 - 1) - 2 * 2**63


def test_shares_of_more_columns_than_there_may_be_are_refused_at_the_rule(tmp_path: Path) -> None:
    workspace = lftj.connect(executor=InlineExecutor(tmp_path))
    columns = ", ".join(f"c{number}: number" for number in range(150))
    workspace.relation("p", {"k": int, "x": int})
    workspace.load("p", [(1, 2), (2, 3)])
    sums = ", ".join(f"sum(x + {number})" for number in range(150))
    with pytest.raises(
        lftj.DeclarationError, match="parts would tell 301 values of each group of `v`"
    ) as caught:
        workspace.add_rules(f".decl v({columns})\nv({sums}) :- p(_, x).")
    assert (caught.value.code, caught.value.span and caught.value.span.line) == ("E168", 2)
    assert not workspace.rules
    workspace.add_rules(f".decl v({columns})\nv({sums.replace('sum', 'min')}) :- p(_, x).")
    assert workspace["v"].fetchall() == [tuple(range(2, 152))]
