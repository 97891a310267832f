# SPDX-License-Identifier: Apache-2.0
"""Folders whose rules have other normal forms than at first, since a relation was altered."""

from __future__ import annotations

from pathlib import Path

import lftj

RULES = """
    .decl a(x: number?, y: number)
    .decl s(c: symbol, n: number?)
    .decl v(x: number?)
    v(x) :- a(x, _), !s(_, x).
"""


def test_hidden_relations_have_their_names_at_every_opening(tmp_path: Path) -> None:
    """Earlier the second opening after an alteration looked for relations of other names."""
    path = str(tmp_path / "w")
    with lftj.connect(path) as ws:
        ws.add_rules(RULES)
        ws.load("a", [(1, 2), (3, 4)])
        ws.load("s", [("a", 3)])
        ws.alter("a", retype={"x": int})
    for row in range(10, 14):
        with lftj.connect(path) as ws:
            assert not ws.verify()
            with ws.transaction() as tx:
                tx.insert("a", [(row, row)])
            assert set(ws["v"].fetchall()) == {(1,), *((each,) for each in range(10, row + 1))}
            ws.compact()


def test_a_branch_of_before_an_alteration_opens(tmp_path: Path) -> None:
    """The rule is one, and its hidden relations have one name there and another one here."""
    path = str(tmp_path / "w")
    with lftj.connect(path) as ws:
        ws.add_rules(RULES)
        ws.load("a", [(1, 2), (3, 4)])
        ws.load("s", [("a", 3)])
        ws.branch("before")
        ws.alter("a", retype={"x": int})
        ws.compact()
    for _ in range(3):
        with lftj.connect(path) as ws:
            assert ws["v"].fetchall() == [(1,)]
            assert not ws.branch("before").verify()
            ws.compact()
