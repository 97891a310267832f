"""A negation that says that a value is the least or the greatest costs as much to maintain as the
value.
"""

from __future__ import annotations

import lftj

AS_OF = """
.decl rate(c: number, d: number, r: number)
.decl sale(id: number, c: number, d: number)
.decl value(id: number, r: number)
value(i, r) :- sale(i, c, d), rate(c, f, r), f <= d, !( rate(c, g, _), g <= d, g > f ).
"""
FIRST = """
.decl t(id: number, u: number, s: number)
.decl first(u: number, id: number)
first(u, i) :- t(i, u, s), !( t(_, u, z), z < s ).
"""


def test_the_rate_of_a_day_takes_no_more_than_the_rates_before_it():
    """As a negation it took all pairs of rates before each day: of 100 days some 170,000 a
    currency, and thousands for a new rate.
    """
    workspace = lftj.connect()
    workspace.add_rules(AS_OF)
    with workspace.transaction() as transaction:
        transaction.insert(
            "rate", [(c, d, 100 * c + d) for c in range(4) for d in range(0, 200, 2)]
        )
        transaction.insert(
            "sale", [(200 * c + d, c, d) for c in range(4) for d in range(1, 200, 2)]
        )
    assert workspace.profile(last=1).steps.sum() < 200_000
    with workspace.transaction() as transaction:
        transaction.insert("rate", [(2, 101, 7)])
    assert workspace.profile(last=1).steps.sum() < 1000
    assert sorted(workspace["value"].fetchall())[250:252] == [
        (2 * 200 + 101, 7),
        (2 * 200 + 103, 302),
    ]
    assert workspace.verify() == []


def test_the_first_of_a_group_keeps_nothing():
    workspace = lftj.connect()
    workspace.add_rules(FIRST)
    workspace.load("t", [(i, i % 10, i * i % 1009) for i in range(2000)])
    kept = workspace.memory().df()
    assert kept[~kept["relation"].isin(["t", "(rows)"])]["rows"].max() < 50, (
        "a relation of all rows that are not the first has 1990"
    )
    least = min((row[2], row[0]) for row in workspace["t"].fetchall() if row[1] == 3)
    with workspace.transaction() as transaction:
        transaction.delete("t", [(least[1], 3, least[0])])
    assert workspace.profile(last=1).steps.sum() < 100
    assert workspace.verify() == []
