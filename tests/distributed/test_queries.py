"""Questions to parts: the answers of one process, from those parts alone that can have some, and
nothing left behind.
"""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.errors import LftjError
from lftj.proofs.nested_loops import direct
from tests.distributed.inline import InlineExecutor
from tests.distributed.test_calls import both
from tests.oracle.pair import declare, typed
from tests.oracle.test_queries import questions
from tests.reference import evaluate
from tests.reference.trees import atom, rule
from tests.strategies.programs import Program
from tests.strategies.schemas import BASES, Row, databases

QUESTIONS = [
    "acct(7, who, b)",
    'acct(id, "o1", b)',
    "acct(id, _, _)",
    "acct(99, _, _)",
    "acct(3, _, _)",
    "edge(x, x)",
    "edge(1, y), edge(y, z)",
    "edge(x, y), x = 3",
    "edge(x, y), y = 3",
    "edge(x, 6)",
    "edge(x, y), edge(y, z), edge(z, x)",
    "reach(1, y), y != 3",
    "reach(x, 1)",
    "reach(x, y), !edge(x, y)",
    "!edge(1, 2)",
    "edge(x, y), !acct(x, _, _)",
    "edge(0, 1)",
    "edge(_, y)",
    "held(o, n, t), n > 2",
    'limit["o1"] = v',
    "n = count : { edge(_, _) }",
    "n = count : { edge(1, _) }",
    "acct(id, o, _), m = max b : { acct(_, o, b) }",
    "s = sum b : { acct(_, _, b) }",
    "t = mean b : { acct(_, o, b) }, held(o, _, _)",
    'acct(id, o, _), p = cat(o, "!"), strlen(p) > 2',
    "(edge(1, y) ; edge(y, 1))",
    "rate(_, f, t, r), f != t",
    "x = 1",
    "1 = 2",
    "linked(x, y), reach(y, x)",
]


@pytest.mark.parametrize("parts", [1, 3, 7])
def test_answers_are_those_of_one_process(tmp_path: Path, parts: int) -> None:
    with both(tmp_path, parts, 2) as (local, far, executor):
        for each in (local, far):
            each.load("limit", [("o1", 5), ("o2", 6)])
            each.load("linked", [(1, 3), (9, 1)])
        old = local.snapshot(), far.snapshot()
        before = {file.name for file in (tmp_path / "rows").glob("*")}
        for number, question in enumerate(QUESTIONS):
            answers = [each.query(question) for each in (local, far)]
            assert [each.columns for each in answers] == [answers[0].columns] * 2
            assert [each.types for each in answers] == [answers[0].types] * 2
            assert sorted(answers[0].fetchall()) == sorted(answers[1].fetchall()), question
            assert [bool(each) for each in answers] == [bool(answers[0])] * 2
            if number == 10:
                executor.forget()
        assert {file.name for file in (tmp_path / "rows").glob("*")} == before
        expected = [sorted(old[0].query(question).fetchall()) for question in QUESTIONS]
        for each in (local, far):
            each.load("edge", [(1, 11), (11, 1)])
            each.load("acct", [(40, "o1", 2.0)])
        assert [
            sorted(old[1].query(question).fetchall()) for question in QUESTIONS[:12]
        ] == expected[:12]
        assert far.verify() == []


def test_only_the_part_that_can_have_answers_is_asked_and_reads_nothing(tmp_path: Path) -> None:
    with both(tmp_path, 7) as (_, far, executor):
        reads: list[int] = []
        plain = executor.map

        def counted(*arguments: Any, **options: Any) -> list[Any]:
            found = plain(*arguments, **options)
            reads.extend(done.read for done in found)
            return found

        far.query("acct(id, who, b)")  # parts that commits passed by are brought forward
        executor.map = counted  # type: ignore[method-assign]
        for question in ("acct(7, who, b)", "reach(1, y)", "edge(0, 1), edge(0, y)"):
            executor.tasks.clear()
            far.query(question)
            assert len(executor.tasks) == 1, question
        assert set(reads) == {0}
        far.query("acct(id, who, b)")
        assert set(reads) == {0}


def test_many_answers_stay_with_the_executors(tmp_path: Path) -> None:
    with both(tmp_path, 3, tuning=lftj.Tuning(gathered_rows=5)) as (local, far, _):
        found: Any = far.query("reach(x, y)")
        assert found._remote is not None
        assert len(found) == len(local.query("reach(x, y)"))
        assert (
            sorted((row["x"], row["y"]) for row in found.to_spark())
            == sorted(local["reach"].fetchall())
            == sorted(found.fetchall())
        )
        far.compact()
        assert len(found.fetchall()) == len(found)  # it is held
        del found
        gc.collect()
        far.compact()
        assert not list((tmp_path / "rows").glob("*query*"))


def test_what_is_wrong_is_told_alike(tmp_path: Path) -> None:
    with both(tmp_path, 3) as (local, far, _):
        for question in (
            "nothing(x)",
            "edge(x)",
            "edge(x, y), x < z",
            "edge(x, ",
            "edge(1, y). edge(2, y)",
            'edge(x, y), y = "a"',
            5,
        ):
            told = []
            for each in (local, far):
                with pytest.raises(LftjError) as caught:
                    each.query(question)
                told.append((type(caught.value), caught.value.code, str(caught.value)))
            assert told[0] == told[1]
        for limits, code in [
            ({"work": 1}, "E330"),
            ({"seconds": 0.0}, "E331"),
            ({"memory": 1}, "E332"),
        ]:
            for each in (local, far):
                with each.limits(**limits), pytest.raises(LftjError) as caught:
                    each.query("edge(a, b), edge(b, c), edge(c, d), edge(d, f)")
                assert caught.value.code == code
        assert not list((tmp_path / "rows").glob("*query*"))


@given(questions(), databases(), st.sampled_from([1, 2, 3, 7]))
@settings(max_examples=settings().max_examples // 2)
def test_oracle_answers_over_parts_equal_the_reference(
    question: tuple[Program, object], facts: dict[str, list[Row]], parts: int
) -> None:
    program, body = question
    with (
        tempfile.TemporaryDirectory() as folder,
        lftj.connect(executor=InlineExecutor(Path(folder), parts)) as workspace,
    ):
        for spec in (*BASES, *program.specs):
            declare(workspace, spec)
        with workspace.transaction() as transaction:
            for each in program.rules:
                transaction.add_rule(each)
            for name, rows in facts.items():
                if rows:
                    transaction.insert(name, rows)
        answers = workspace.query(body)
        goal = rule(atom("goal", *answers.columns), *body.literals)  # type: ignore[attr-defined]
        expected = evaluate((*program.declarations, *program.rules, goal), facts)["goal"]
        assert set(answers.columns) == direct(body.literals)  # type: ignore[attr-defined]
        assert typed(answers.fetchall()) == typed(expected)
