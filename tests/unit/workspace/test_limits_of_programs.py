"""Limits hold while a program is read, checked and planned, and what these take grows no faster
than it should.
"""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import suppress
from itertools import pairwise

import pytest

import lftj
from lftj.syntax.attention import attending, look
from lftj.syntax.parser import parse

DECLARED = ".decl e(x: number, y: number) .decl q(x: number) .decl s(t: symbol)"
BODIES = {
    "chain": lambda n: "q(x0) :- " + ", ".join(f"e(x{i}, x{i + 1})" for i in range(n)) + ".",
    "star": lambda n: "q(x) :- " + ", ".join(f"e(x, x{i})" for i in range(n)) + ".",
    "cycle": lambda n: "q(x0) :- " + ", ".join(f"e(x{i}, x{(i + 1) % n})" for i in range(n)) + ".",
    "negated": lambda n: "q(x0) :- e(x0, x1), " + ", ".join(f"!e({i}, x0)" for i in range(n)) + ".",
    "clique": lambda n: (
        "q(x0) :- "
        + ", ".join(f"e(x{i}, x{j})" for i in range(int((2 * n) ** 0.5)) for j in range(i))
        + "."
    ),
}


def declared() -> lftj.Workspace:
    ws = lftj.connect()
    ws.add_rules(DECLARED)
    ws.load("e", [(number, number + 1) for number in range(300)])
    return ws


@pytest.mark.parametrize(
    "text",
    [
        "q(x) :- e(x, y), y = " + "(" * 100_000 + "1" + ")" * 100_000 + ".",
        "q(x) :- " + "(" * 100_000,
    ],
)
def test_work_and_time_are_looked_at_while_brackets_are_read(text: str) -> None:
    ws = declared()
    with ws.limits(work=5_000), pytest.raises(lftj.LimitError) as caught:
        ws.add_rules(text)
    assert caught.value.code == "E330"
    with ws.limits(seconds=0.001), pytest.raises(lftj.LimitError) as caught:
        ws.add_rules(text)
    assert caught.value.code == "E331"


@pytest.mark.parametrize(("opening", "closing"), [("(", ")"), ("1+(", ")"), ("-(", ")")])
def test_closing_brackets_are_looked_at_as_much_as_opening_ones(opening: str, closing: str) -> None:
    told: list[int] = []
    with attending(told.append), suppress(lftj.ProgramErrors):
        parse("q(x) :- e(x, y), y = " + opening * 20_000 + "1" + closing * 20_000 + ".")
    assert sum(told) > 39_000


def test_many_facts_and_rules_pass_a_limit_of_work_as_they_are_read() -> None:
    ws = declared()
    for text in (
        "\n".join(f"e({n}, {n})." for n in range(5_000)),
        "\n".join(f"q(x) :- e(x, {n})." for n in range(2_000)),
    ):
        with ws.limits(work=5_000), pytest.raises(lftj.LimitError):
            ws.add_rules(text)
    assert len(ws["e"]) == 300


def test_memory_is_looked_at_while_a_program_is_read() -> None:
    ws = declared()
    with ws.limits(memory=20_000_000), pytest.raises(lftj.LimitError) as caught:
        ws.add_rules('s("' + "a" * 12_000_000 + '").')
    assert caught.value.code == "E332"
    with ws.limits(memory=10_000_000), pytest.raises(lftj.LimitError):
        ws.add_rules("q(x) :- " + ", ".join(["e(x, x)"] * 50_000) + ".")
    assert len(ws["s"]) == 0


PEAK = """
import resource, sys
from lftj.errors import LftjError
from lftj.syntax.parser import parse
parse('q(x) :- e(x, "a").')
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    parse({text})
except LftjError:
    pass
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.parametrize(
    "text",
    [
        """'q(x) :- e(x, "' + 'a' * 5_000_000 + '").'""",
        """'q(x) :- e(x, "' + '\\\\\\\\n' * 2_500_000 + '").'""",
        """'q(x) :- e(x, "' + 'a' * 5_000_000""",
        """'q(x) :- e(x, x) /*' + 'a*' * 2_500_000 + '*/.'""",
        """'q(x) :- e(x, x) /*' + 'a*' * 2_500_000""",
    ],
)
def test_a_long_literal_or_comment_takes_a_few_bytes_a_character(text: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PEAK.format(text=text)], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 6 * 5_000  # kilobytes


@pytest.mark.parametrize("kind", BODIES)
def test_planning_is_at_most_quadratic_in_atoms(kind: str) -> None:
    sizes = (50, 100, 200)
    steps: list[int] = []
    for size in sizes:
        ws, told = declared(), []
        engine = ws._backend
        before = engine.context

        def context(aggregates, before=before, told=told):
            made = before(aggregates)
            told.append(made)
            return made

        engine.context = context  # type: ignore[method-assign]
        ws.add_rules(BODIES[kind](size))
        steps.append(sum(each.budget.planned for each in told) + 1024)
        assert len(ws.rules) == 1
    assert all(after <= 5 * first for first, after in pairwise(steps)), steps


def test_the_time_limit_is_looked_at_while_a_long_body_is_planned() -> None:
    ws = declared()
    with ws.transaction() as tx:
        tx.add_rules(BODIES["chain"](150))
        with ws.limits(seconds=0.0), pytest.raises(lftj.LimitError) as caught:
            tx.commit()
    assert caught.value.code == "E331"


def test_a_question_is_read_under_limits_too() -> None:
    ws = declared()
    question = ", ".join(["e(x, x)"] * 10_000)
    with ws.limits(work=5_000), pytest.raises(lftj.LimitError):
        ws.query(question)


def test_who_attends_hears_of_its_own_steps() -> None:
    outer: list[int] = []
    inner: list[int] = []
    with attending(outer.append):
        look(1000)
        with attending(inner.append):
            look(3000)
            look(100)
        look(30)
    look(5000)
    assert (outer, inner) == ([1030], [3000])


def test_what_is_read_is_told() -> None:
    told: list[int] = []
    with attending(told.append):
        parse("q(x) :- " + ", ".join(["e(x, x)"] * 10_000) + ".")
    assert sum(told) > 40_000


@pytest.mark.parametrize("work", [400, 10_000])  # within ordinary iterations, and compiled ones
@pytest.mark.parametrize("head", ["max(n + 1)", "n + 1", "min(n - 1)"])
def test_the_rule_that_finds_ever_new_values_is_shown_with_a_row(head: str, work: int) -> None:
    ws = declared()
    first = head.replace("n + 1", "0").replace("n - 1", "0")
    ws.add_rules(f".decl far(x: number, n: number) far(x, {first}) :- e(x, 1).")
    ws.add_rules(f"far(y, {head}) :- far(x, n), e(x, y).")
    with ws.limits(work=work), pytest.raises(lftj.LimitError, match="far") as caught:
        ws.load("e", [(1, 1), (1, 2), (2, 3), (3, 1)])
    assert caught.value.span is not None
    assert f"far(y, {head})" in caught.value.span.caret()
    assert "n < 1000" in (caught.value.hint or "")
    assert re.search(
        r"cycle of rows \(the last row is far\(\d+, -?\d+\), on", caught.value.hint or ""
    )
