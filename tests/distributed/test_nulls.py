"""Optional columns over parts: rows with NULL have a home as others have, and views agree with the
reference engine.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import lftj
from lftj.proofs.program import evaluate
from lftj.syntax.parser import parse
from tests.distributed.inline import InlineExecutor
from tests.oracle.test_nulls import DECLARATIONS, RECURSION

LEFT_JOINS = """
.decl joined(x: number, y: number?, t: symbol?)
joined(x, y, t) :- p(x), (a(x, y), y > 0)?, (s(y, t))?.
.decl absent(x: number, y: number?)
absent(x, y) :- a(x, y), !b(y).
.decl by_text(t: symbol?, n: number)
by_text(t, count()) :- s(_, t).
"""
HISTORY: list[dict[str, list[tuple[Any, ...]]]] = [
    {
        "a": [(0, 1), (1, None), (2, 3), (3, 0), (1, 2)],
        "b": [(None,), (3,)],
        "p": [(0,), (1,), (2,), (4,)],
        "s": [(0, None), (1, "u"), (2, "v"), (3, None)],
    },
    {
        "a": [(0, None), (1, 2), (2, 3), (4, 4)],
        "b": [(2,)],
        "p": [(1,), (4,), (5,)],
        "s": [(1, None), (2, None), (3, "")],
    },
]


def test_views_of_optional_columns_over_parts(tmp_path: Path):
    text = DECLARATIONS + RECURSION + LEFT_JOINS
    with lftj.connect(executor=InlineExecutor(tmp_path)) as ws:
        ws.add_rules(text)
        before: dict[str, list[tuple[Any, ...]]] = {}
        for rows in HISTORY:
            with ws.transaction() as tx:
                for name, some in rows.items():
                    tx.delete(name, [row for row in before.get(name, []) if row not in some])
                    tx.insert(name, [row for row in some if row not in before.get(name, [])])
            for name, found in evaluate(parse(text), rows).items():
                assert set(ws[name].fetchall()) == found, name
            before = rows


def test_hidden_relations_with_null_that_joins_nothing_are_sent(tmp_path: Path) -> None:
    text = """
        .decl note(a: symbol?, d: date?, n: number?) .decl word(a: symbol) .decl day(d: date)
        .decl rate(a: number, b: number) .decl link(a: number, b: number)
        .decl v(a: symbol, m: number)
        v(s, m) :- !note(s, _, z), m = count : { link(_, z) }, word(s), rate(_, z).
        .decl u(d: date, m: number)
        u(d, m) :- !note(_, d, z), m = count : { link(_, z) }, day(d), rate(_, z).
    """
    days = [date(2013, 1, number) for number in (1, 2, 3)]
    least = -(2**63)
    rows: dict[str, list[tuple[Any, ...]]] = {
        "note": [("a", days[0], 3), (None, days[1], 1), ("b", None, 2), (None, None, None)],
        "word": [("a",), ("b",), ("c",)],
        "day": [(day,) for day in days],
        "rate": [(0, 1), (1, 2), (2, 3), (3, least)],
        "link": [(0, 1), (3, 2), (4, least)],
    }
    executor: Any = InlineExecutor(tmp_path, 3, 2)
    with lftj.connect(executor=executor) as many, lftj.connect() as one:
        for ws in (many, one):
            ws.add_rules(text)
            for name, some in rows.items():
                ws.load(name, some)
        for change in ("delete", "insert"):
            for name in ("v", "u"):
                assert sorted(many[name].fetchall()) == sorted(one[name].fetchall())
            for ws in (many, one):
                with ws.transaction() as tx:
                    getattr(tx, change)("note", rows["note"][1:3])
        assert many.verify() == []
