"""Questions why on a Spark session: answered as in one process, over rows that its workers hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lftj

RULES = """
.decl member(who: symbol, group: symbol)
.decl grant(group: symbol, object: symbol)
.decl deny(who: symbol, object: symbol)
.decl in(who: symbol, group: symbol)
.decl may(who: symbol, object: symbol)
.decl rights(who: symbol, n: number)
in(u, g) :- member(u, g).
in(u, h) :- in(u, g), member(g, h).
may(u, o) :- in(u, g), grant(g, o), !deny(u, o).
rights(u, count()) :- may(u, _).
"""
MEMBERS = [("ann", "dev"), ("bob", "dev"), ("dev", "staff"), ("cleo", "audit"), ("audit", "staff")]
GRANTS = [("staff", "wiki"), ("dev", "git"), ("audit", "ledger")]


def filled(ws: lftj.Workspace, rows: Any) -> lftj.Workspace:
    """Rights through groups; `rows` of members in any form that the workspace reads."""
    ws.add_rules(RULES)
    ws.load("member", rows)
    ws.load("grant", GRANTS)
    ws.load("deny", [("bob", "git")])
    return ws


def test_answers_are_those_of_one_process(spark: Any, tmp_path: Path) -> None:
    one = filled(lftj.connect(), MEMBERS)
    frame = spark.createDataFrame(MEMBERS, ["who", "group"])
    with lftj.connect(executor=lftj.SparkExecutor(spark, 2, path=tmp_path)) as ws:
        filled(ws, frame)
        for name in ("in", "may", "rights"):
            for row in sorted(one[name].fetchall()):
                proof = ws.explain(name, row)
                assert proof.height == one.explain(name, row).height
                lftj.check_proof(
                    proof, {"member": MEMBERS, "grant": GRANTS, "deny": [("bob", "git")]}
                )
        missing = ("may", ("bob", "git"))
        assert str(ws.why_not(*missing)) == str(one.why_not(*missing))
        ours, theirs = (
            each.explain_plan(str(each.rules[2]), analyze=True).bodies[0] for each in (ws, one)
        )
        assert ours.assignments == theirs.assignments
        assert [each.actual for each in ours.levels] == [each.actual for each in theirs.levels]


def test_a_commit_of_a_frame_is_explained_inside_and_after(spark: Any, tmp_path: Path) -> None:
    with lftj.connect(executor=lftj.SparkExecutor(spark, 2, path=tmp_path)) as ws:
        filled(ws, MEMBERS)
        gone = spark.createDataFrame([("dev", "staff")], ["who", "group"])
        with ws.transaction() as tx:
            tx.delete("member", gone)
            tx.insert("grant", spark.createDataFrame([("dev", "wiki2")], ["group", "object"]))
            inside = [tx.explain_change("may", ("ann", each)) for each in ("wiki", "wiki2")]
        ws.load("member", [("ann", "staff")])
        ws.compact()
        after = [tx.explain_change("may", ("ann", each)) for each in ("wiki", "wiki2")]
        assert list(map(str, after)) == list(map(str, inside))
        assert [each.sign for each in after] == [-1, 1]
        assert [list(map(str, each.changes)) for each in after] == [
            ['−member("dev", "staff")'],
            ['+grant("dev", "wiki2")'],
        ]
