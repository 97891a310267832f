"""Scenarios that hold over every backend.

A subclass gives the fixture `ws`, an empty workspace whose writer lock gives up soon, and inherits
all tests.
"""

from __future__ import annotations

import pickle
import threading
from pathlib import Path
from typing import Any

import pytest

import lftj
from tests.interrupting import interrupted

RULES = """
.decl reach(x: number, y: number)
reach(x, y) :- edge(x, y).
reach(x, z) :- reach(x, y), edge(y, z).
.decl held(owner: symbol, n: number, total: float)
held(o, count(), sum(b)) :- acct(_, o, b).
"""
ACCOUNTS = [(1, "a", 0.5), (2, "b", 1.0), (3, "a", 2.0)]
EDGES = [(1, 2), (2, 3)]
WATCHED = ("engine/transaction/transaction_life.py", "api/transaction.py")


def filled(ws: lftj.Workspace) -> lftj.Workspace:
    """The workspace with two relations, two views and some rows."""
    ws.relation("acct", {"id": int, "owner": str, "balance": float}, key="id")
    ws.relation("edge", {"x": int, "y": int})
    ws.add_rules(RULES)
    with ws.transaction() as tx:
        tx.insert("acct", ACCOUNTS)
        tx.insert("edge", EDGES)
    return ws


def rows(source: lftj.Workspace | lftj.Snapshot, name: str) -> list[tuple[Any, ...]]:
    """Rows of a relation, ascending."""
    return sorted(source[name].fetchall())


def changed(tx: lftj.Transaction, name: str) -> set[tuple[Any, ...]]:
    """Change of a relation, each row with its sign."""
    return {row[:-1] for row in tx.changes(name).fetchall()}


class Scenarios:
    """Tests of one workspace; each begins with an empty one."""

    # ── declarations ──────────────────────────────────────────────────────────────────────────────
    def test_a_declaration_again_is_the_same_and_another_an_error(self, ws: lftj.Workspace) -> None:
        edge = ws.relation("edge", {"x": int, "y": int})
        version = ws.version
        assert ws.relation("edge", {"x": int, "y": int}).name == edge.name
        assert ws.version == version
        with pytest.raises(lftj.DeclarationError) as caught:
            ws.relation("edge", {"x": int, "y": str})
        assert caught.value.code == "E160"
        ws.function("rate", {"country": str}, float)
        ws.view("far", {"x": int})
        assert list(ws.relations) == ["edge", "rate", "far"]
        assert ("far" in ws, edge in ws, "none" in ws) == (True, True, False)
        with pytest.raises(lftj.TransactionError) as caught:
            ws.load("far", [(1,)])
        assert (caught.value.code, rows(ws, "far")) == ("E321", [])

    def test_rules_come_and_go_with_what_they_derive(self, ws: lftj.Workspace) -> None:
        filled(ws)
        assert rows(ws, "reach") == [(1, 2), (1, 3), (2, 3)]
        more = ws.add_rule("reach(x, x) :- edge(x, _).")
        assert rows(ws, "reach") == [(1, 1), (1, 2), (1, 3), (2, 2), (2, 3)]
        assert len(ws.rules) == 4
        ws.remove_rule(more)
        assert rows(ws, "reach") == [(1, 2), (1, 3), (2, 3)]
        (facts,) = ws.add_rules("edge(7, 8). edge(8, 9).")
        assert (7, 9) in ws["reach"].fetchall()
        ws.remove_rule(facts)
        assert rows(ws, "edge") == EDGES
        with pytest.raises(lftj.UnknownNameError) as caught:
            ws.remove_rule(more)
        assert caught.value.code == "E114"

    def test_a_wrong_program_leaves_nothing_behind(self, ws: lftj.Workspace) -> None:
        filled(ws)
        version = ws.version
        with pytest.raises(lftj.ProgramErrors) as caught:
            ws.add_rules(".decl p(x: number)\np(x) :- edge(x, _).\np(x) :- none(x), !edge(y, x).")
        assert len(caught.value.errors) >= 1
        assert ("p" in ws, ws.version, len(ws.rules)) == (False, version, 3)

    # ── commits ───────────────────────────────────────────────────────────────────────────────────
    def test_a_commit_shows_what_changed_and_nothing_before(self, ws: lftj.Workspace) -> None:
        filled(ws)
        before = ws.version
        with ws.transaction() as tx:
            tx.insert("edge", [(3, 4), (1, 2)])
            tx.delete("edge", [(2, 3), (9, 9)])
            assert (rows(ws, "edge"), tx.version) == (EDGES, before)
            with pytest.raises(lftj.TransactionError) as caught:
                tx.changes()
            assert caught.value.code == "E320"
        assert (tx.version, ws.version) == (before + 1, before + 1)
        assert tx.changes() == ["edge", "reach"]
        assert changed(tx, "edge") == {(3, 4, 1), (2, 3, -1)}
        assert changed(tx, "reach") == {(3, 4, 1), (2, 3, -1), (1, 3, -1)}
        assert changed(tx, "held") == set()
        assert (tx.inserted("edge"), tx.inserted("acct")) == (1, 0)
        assert tx.work > 0
        with pytest.raises(lftj.UnknownNameError):
            tx.changes("none")

    def test_no_change_makes_no_version(self, ws: lftj.Workspace) -> None:
        filled(ws)
        before = ws.version
        with ws.transaction() as tx:
            tx.insert("edge", [(1, 2)])
        assert (ws.version, tx.version, tx.changes()) == (before, before, [])
        assert ws.load("edge", [(1, 2), (5, 6)]) == 1

    def test_an_error_or_a_rollback_leaves_nothing_behind(self, ws: lftj.Workspace) -> None:
        filled(ws)
        before = ws.version
        with pytest.raises(ZeroDivisionError):
            self.fails(ws)
        tx = ws.transaction()
        tx.insert("edge", [(5, 6)])
        tx.rollback()
        tx.rollback()
        for call in (tx.commit, lambda: tx.insert("edge", [(5, 6)]), tx.changes):
            with pytest.raises(lftj.TransactionError) as caught:
                call()
            assert caught.value.code == "E320"
        assert (ws.version, rows(ws, "edge"), "q" in ws) == (before, EDGES, False)

    @staticmethod
    def fails(ws: lftj.Workspace) -> None:
        """A transaction that inserts a row and a rule, and raises ZeroDivisionError."""
        with ws.transaction() as tx:
            tx.insert("edge", [(5, 6)])
            tx.add_rules(".decl q(x: number) q(x) :- edge(x, _).")
            raise ZeroDivisionError

    def test_one_transaction_at_a_time(self, ws: lftj.Workspace) -> None:
        filled(ws)
        codes: list[str] = []

        def elsewhere() -> None:
            with pytest.raises(lftj.TransactionError) as caught:
                ws.load("edge", [(5, 6)])
            codes.append(caught.value.code)

        with ws.transaction():
            with pytest.raises(lftj.TransactionError) as caught:
                ws.transaction()
            other = threading.Thread(target=elsewhere)
            other.start()
            other.join()
            with pytest.raises(lftj.LftjError) as open_yet:
                ws.close()
        assert (caught.value.code, codes, open_yet.value.code) == ("E322", ["E323"], "E342")
        assert ws.load("edge", [(5, 6)]) == 1

    @pytest.mark.usefixtures("heeding_interrupts")
    @pytest.mark.filterwarnings("ignore:a transaction was dropped")
    def test_ctrl_c_finds_a_transaction_whole_or_not_at_all(self, ws: lftj.Workspace) -> None:
        filled(ws)
        point, made = 0, list[lftj.Transaction]()

        def write() -> None:
            with ws.transaction() as tx:
                made.append(tx)
                tx.insert("edge", [(100 + point, 0)])

        while True:
            made.clear()
            before = ws.version
            coming = interrupted(write, point, WATCHED)
            happened = "committed" in repr(made[:1])
            assert ws.version == before + happened
            assert ((100 + point, 0) in set(ws["edge"].fetchall())) == happened
            if not coming:
                break
            point += self.stride
        assert (happened, point > 10) == (True, True)
        assert ws.verify() == []

    stride = 1
    """Distance between two points at which Ctrl-C comes."""

    # ── rows by their keys ────────────────────────────────────────────────────────────────────────
    def test_a_key_is_checked(self, ws: lftj.Workspace) -> None:
        filled(ws)
        before = ws.version
        with pytest.raises(lftj.KeyViolationError) as caught:
            ws.load("acct", [(1, "z", 0.0)])
        assert caught.value.rows == [(1, "a", 0.5), (1, "z", 0.0)]
        assert (ws.version, rows(ws, "acct")) == (before, ACCOUNTS)

    def test_upserts_replace_the_row_of_a_key(self, ws: lftj.Workspace) -> None:
        filled(ws)
        with ws.transaction() as tx:
            tx.upsert("acct", [(1, "b", 0.25), (4, "c", 8.0)])
            with pytest.raises(lftj.TransactionError) as caught:
                tx.upsert("edge", [(1, 9)])
        assert caught.value.code == "E324"
        assert changed(tx, "acct") == {
            (1, "a", 0.5, -1),
            (1, "b", 0.25, 1),
            (4, "c", 8.0, 1),
        }
        assert rows(ws, "held") == [("a", 1, 2.0), ("b", 2, 1.25), ("c", 1, 8.0)]

    def test_rows_are_deleted_by_some_columns(self, ws: lftj.Workspace) -> None:
        filled(ws)
        with ws.transaction() as tx:
            assert tx.delete_where("acct", owner="a") == 2
            assert tx.delete_where("acct", id=9) == 0
        assert rows(ws, "acct") == [(2, "b", 1.0)]

    def test_rows_that_must_be_new_or_there(self, ws: lftj.Workspace) -> None:
        filled(ws)
        with ws.transaction() as tx:
            with pytest.raises(lftj.MissingRowError) as there:
                tx.insert("edge", [(1, 2)], existing="error")
            with pytest.raises(lftj.MissingRowError) as missing:
                tx.delete("edge", [(9, 9)], missing="error")
            with pytest.raises(lftj.OptionError) as option:
                tx.insert("edge", [(1, 2)], existng="error")  # pyright: ignore[reportCallIssue]
        codes = there.value.code, missing.value.code, option.value.code
        assert codes == ("E311", "E310", "E170")

    def test_a_derived_row_is_no_row_of_the_relations_own(self, ws: lftj.Workspace) -> None:
        filled(ws)
        ws.add_rules(".decl loop(x: number, y: number)\nloop(y, x) :- edge(x, y).")
        with pytest.raises(lftj.MissingRowError) as missing, ws.transaction() as tx:
            tx.delete("loop", [(2, 1)], missing="error")
        assert missing.value.relation == "loop"
        assert "`loop`: (2, 1) is not there beside the rows that rules derive" in str(missing.value)

    # ── reading ───────────────────────────────────────────────────────────────────────────────────
    def test_questions(self, ws: lftj.Workspace) -> None:
        filled(ws)
        assert ws.query("reach(1, y)").fetchall() == [(2,), (3,)]
        assert ws.query("acct(x, o, _), held(o, n, _), n > 1").columns == ("x", "o", "n")
        assert sorted(ws.query("acct(x, o, _), held(o, n, _), n > 1").fetchall()) == [
            (1, "a", 2),
            (3, "a", 2),
        ]
        assert (bool(ws.query("reach(1, 3)")), bool(ws.query("reach(3, 1)"))) == (True, False)
        assert ws.query("n = count : { edge(_, _) }").fetchall() == [(2,)]
        with pytest.raises(lftj.ProgramErrors):
            ws.query("none(x)")
        with pytest.raises(lftj.UnknownNameError):
            ws["none"]

    def test_a_snapshot_stays(self, ws: lftj.Workspace) -> None:
        filled(ws)
        before = ws.snapshot()
        ws.remove_rule(ws.rules[2])
        ws.load("edge", [(3, 1)])
        assert (before.version < ws.version, len(before.rules), len(ws.rules)) == (True, 3, 2)
        assert (rows(before, "edge"), rows(ws, "edge")) == (EDGES, [*EDGES, (3, 1)])
        assert (rows(before, "held"), rows(ws, "held")) == ([("a", 2, 2.5), ("b", 1, 1.0)], [])
        assert before.query("reach(1, y)").fetchall() == [(2,), (3,)]
        assert ("held" in before, list(before.relations)) == (True, list(ws.relations))
        assert before.verify() == []
        assert repr(before) == f"<Snapshot of version {before.version}, 4 relations>"

    def test_results_in_every_form(self, ws: lftj.Workspace, tmp_path: Path) -> None:
        found = filled(ws)["acct"]
        assert (found.columns, found.name, len(found)) == (("id", "owner", "balance"), "acct", 3)
        assert [str(type) for type in found.types] == ["int", "str", "float"]
        assert sorted(map(tuple, found.df().itertuples(index=False))) == ACCOUNTS
        assert sorted(found.pl().rows()) == ACCOUNTS
        assert sorted(tuple(row.values()) for row in found.arrow().to_pylist()) == ACCOUNTS
        assert sorted(pickle.loads(pickle.dumps(found)).fetchall()) == ACCOUNTS
        found.write_csv(tmp_path / "acct.csv")
        found.write_facts(tmp_path / "acct.facts")
        again = lftj.connect()
        for name in ("csv", "facts"):
            relation = again.relation(name, {"id": int, "owner": str, "balance": float})
            again.load(relation, tmp_path / f"acct.{name}")
            assert rows(again, name) == ACCOUNTS

    def test_subscribers_hear_every_commit_once(self, ws: lftj.Workspace) -> None:
        filled(ws)
        heard = list[set[tuple[Any, ...]]]()

        def hear(changes: lftj.Result) -> None:
            heard.append({row[:-1] for row in changes.fetchall()})

        with ws.subscribe("reach", hear, snapshot=True):
            ws.load("edge", [(3, 4)])
            ws.load("acct", [(9, "z", 1.0)])
        ws.load("edge", [(4, 5)])
        assert heard == [
            {(1, 2, 1), (1, 3, 1), (2, 3, 1)},
            {(1, 4, 1), (2, 4, 1), (3, 4, 1)},
        ]

    # ── looking inside ────────────────────────────────────────────────────────────────────────────
    def test_plans_of_one_rule_and_of_all(self, ws: lftj.Workspace) -> None:
        filled(ws)
        version = ws.version
        first, second, third = ws.rules
        one = ws.plan(second)
        assert "reach(x, z) :- reach(x, y), edge(y, z)" in str(one)
        assert set(one.relations()) == {"reach", "edge"}
        assert set(one.df()["variable"]) == {"x", "y", "z"}
        assert {row[2].partition("#")[0] for row in one.places().fetchall()} == {"reach", "edge"}
        every = ws.plan()
        assert all(str(rule.rule) in str(every) for rule in (first, second, third))
        assert len(every.df()) == sum(len(ws.plan(rule).df()) for rule in ws.rules)
        assert {row[2].partition("#")[0] for row in every.places().fetchall()} >= {"edge", "acct"}
        (swapped,) = ws.add_rules(".decl s(n: number) s(n) :- n = count : { edge(_, _) }.")
        with_passes = ws.plan(swapped, passes=True)
        assert (len(with_passes.passes) > 0, len(ws.plan(swapped).passes)) == (True, 0)
        assert with_passes.passes[0].reason in str(with_passes)
        ws.remove_rule(swapped)
        with pytest.raises(lftj.UnknownNameError) as caught:
            ws.plan(swapped)
        assert (caught.value.code, ws.version > version) == ("E114", True)

    def test_commits_are_profiled_and_rows_counted(self, ws: lftj.Workspace) -> None:
        filled(ws)
        frame = ws.profile()
        assert {"version", "seconds", "steps"} <= set(frame.columns)
        assert ws.version in set(frame["version"])
        assert set(ws.profile(1)["version"]) == {ws.version}
        with pytest.raises(lftj.DeclarationError) as caught:
            ws.profile(-1)
        assert caught.value.code == "E160"
        assert {"relation", "key_order", "rows", "bytes"} <= set(ws.memory().columns)
        assert ("edge", 2) in {(row[0], row[-2]) for row in ws.memory().fetchall()}

    def test_views_are_what_the_rules_derive(self, ws: lftj.Workspace) -> None:
        filled(ws)
        ws.load("edge", [(3, 1), (4, 1)])
        with ws.transaction() as tx:
            tx.delete("edge", [(2, 3)])
        assert ws.verify() == []
        ws.compact()
        ws.rebalance()
        ws.repartition(2)
        assert ws.verify() == []

    def test_limits_stop_a_commit_that_then_has_not_been(self, ws: lftj.Workspace) -> None:
        filled(ws)
        before = ws.version
        for limits, code in (({"work": 1}, "E330"), ({"seconds": 0.0}, "E331")):
            with ws.limits(**limits), pytest.raises(lftj.LimitError) as caught:  # type: ignore[arg-type]
                ws.load("edge", [(x, y) for x in range(12) for y in range(12)])
            assert (caught.value.code, ws.version) == (code, before)
        assert ws.load("edge", [(3, 4)]) == 1

    # ── the end ───────────────────────────────────────────────────────────────────────────────────
    def test_a_workspace_is_neither_copied_nor_used_after_its_end(self, ws: lftj.Workspace) -> None:
        filled(ws)
        with ws.transaction() as tx:
            uncopied = (ws, ws.snapshot(), tx)
            for each in uncopied:
                with pytest.raises(lftj.CopyError) as caught:
                    pickle.dumps(each)
                assert caught.value.code == "E343"
        assert repr(ws).startswith(f"<Workspace, version {ws.version}, relations: 4, rules: 3")
        with pytest.raises(AttributeError, match=r"transactions have: with ws.transaction\(\)"):
            ws.upsert  # type: ignore[attr-defined] # noqa: B018
        ws.close()
        ws.close()
        assert repr(ws) == "<Workspace, closed>"
        with pytest.raises(lftj.LftjError) as closed:
            ws["edge"]
        assert closed.value.code == "E341"
        assert "open another one with lftj.connect(" in str(closed.value)
