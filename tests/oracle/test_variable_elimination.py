"""Bodies that are derived in parts, with cycles and without, under heads of all kinds: compared
with the naive reference under histories, long ones with an engine that derives no parts.
"""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import example, given
from hypothesis import strategies as st

import lftj
from lftj.join.plan.cardinality import Statistics
from lftj.program.rewrites import elimination_trees as trees
from lftj.program.statistics_hints import NO_SIZE, Size
from lftj.syntax import tree
from lftj.syntax.parser import parse
from tests.oracle.pair import Pair, declare
from tests.strategies.histories import AddRule, Change, RemoveRule, Transact
from tests.strategies.schemas import Spec

BASES = {"e": 2, "w": 3, "r": 1}
HEADS = {"h": ("int", "int", "int"), "f": ("int", "float"), "p": ("int", "int")}
NUMBERS = st.integers(-1, 2)
DENSE = Size(100_000, (500.0,) * 3, (200.0,) * 3)
"""Rows of which each value has many in each column, so that bodies are worth dividing."""


@st.composite
def bodies(draw: st.DrawFn, most: int = 4) -> tuple[str, list[str]]:
    """A body and its variables: each atom has one variable of those before it, or two."""
    literals, known = ["e(v0, v1)"], ["v0", "v1"]
    for _ in range(draw(st.integers(1, most))):
        name = draw(st.sampled_from(["e", "e", "w", "w", "r"]))
        args = [f"v{len(known) + place}" for place in range(BASES[name])]
        for place in draw(
            st.lists(
                st.integers(0, BASES[name] - 1),
                min_size=1,
                max_size=1 if draw(st.booleans()) else 2,
                unique=True,
            )
        ):
            args[place] = draw(st.sampled_from(known))
        if draw(st.integers(0, 7)) == 0:
            args[-1] = draw(st.sampled_from(["_", "1", *args]))
        literals.append(f"{name}({', '.join(args)})")
        known += [arg for arg in args if arg.startswith("v") and arg not in known]
    one = st.sampled_from(known)
    tests = [
        "{} < {}",
        "{} != 1",
        "!e({}, {})",
        "!r({})",
        "{} = {} + 0",
        "!w({}, _, {})",
        "to_string({}) != to_string({})",
    ]
    for test in draw(st.lists(st.sampled_from(tests), max_size=2)):
        literals.append(test.format(draw(one), draw(one)))
    return ", ".join(literals), known


@st.composite
def rules(draw: st.DrawFn, most: int = 4) -> str:
    """A rule that aggregates in its head, or in its body, or not; also several values in one
    head, and negated bodies.
    """
    body, have = draw(bodies(most))
    group = draw(st.lists(st.sampled_from(have), min_size=2, max_size=2))
    kind = draw(st.sampled_from(["aggregate", "aggregate", "plain", "plain", "negated"]))
    if kind == "plain":
        return f"p({group[0]}, {group[1]}) :- {body}."
    if kind == "negated":
        return f"p({group[0]}, {group[1]}) :- e({group[0]}, {group[1]}), !( {body} )."
    function, value = (
        draw(st.sampled_from(["count", "sum", "sum", "min", "max", "mean"])),
        draw(st.sampled_from(have)),
    )
    value = draw(st.sampled_from([value, value, f"{value} * 2", f"0 - {value}"]))
    if draw(st.booleans()):
        other = draw(st.sampled_from(["count()", "sum", "max"]))
        first = (
            "count()"
            if function == "count"
            else f"{function if function != 'mean' else 'sum'}({value})"
        )
        second = other if other == "count()" else f"{other}({draw(st.sampled_from(have))})"
        return f"h({group[0]}, {first}, {second}) :- {body}."
    target = "" if function == "count" else f" {value}"
    zero = "to_float(0)" if function == "mean" else "0"
    head = "f" if function == "mean" else "h"
    given = draw(st.sampled_from(["", f"e({group[0]}, {group[1]}), ", f"r({group[0]}), "]))
    first = group[0] if given else "0"
    return (
        f"{head}({first}, n{', ' + zero if head == 'h' else ''}) :- {given}n = "
        f"{function}{target} : {{ {body} }}."
    )


def changes() -> st.SearchStrategy[Change]:
    """Rows won or lost by one relation."""
    kinds = st.sampled_from(["insert", "insert", "insert", "delete"])
    return st.sampled_from(sorted(BASES)).flatmap(
        lambda name: st.builds(
            lambda kind, rows: Change(kind, name, tuple(rows)),
            kinds,
            st.lists(st.tuples(*[NUMBERS] * BASES[name]), min_size=1, max_size=6),
        )
    )


@given(
    rules(),
    st.lists(changes(), min_size=1, max_size=6),
    st.integers(0, 3),
    st.sampled_from([True, True, False]),
)
@example(
    "p(v0, v3) :- e(v0, v1), e(v1, v2), e(v2, v3), e(v0, v2), !r(v1).",
    [Change("insert", "e", ((0, 1), (1, 2), (0, 2), (2, 0), (2, 1)))],
    1,
    True,
)
@example(
    "h(v0, sum(v2), count()) :- e(v0, v1), w(v1, _, v2), e(v2, v3).",
    [Change("insert", "w", ((1, 1, 2),))],
    0,
    True,
)
@example(
    "h(0, n, 0) :- n = max v3 : { e(v0, v1), e(v1, v2), w(v2, v3, _), !e(v2, v3) }.",
    [Change("insert", "e", ((1, 1),))],
    1,
    True,
)
def test_oracle_bodies_in_parts(text: str, history: list[Change], before: int, dense: bool) -> None:
    pair = Pair(
        [
            *(Spec(name, ("int",) * arity) for name, arity in BASES.items()),
            *(Spec(name, types) for name, types in HEADS.items()),
        ]
    )
    (rule,) = parse(text).clauses
    assert isinstance(rule, tree.Rule)
    for change in history[:before]:
        pair.step(Transact((change,)))
    with patch.object(Statistics, "size", return_value=DENSE if dense else NO_SIZE):
        pair.step(Transact((AddRule(rule),)))
    for change in history[before:]:
        pair.step(Transact((change,)))
    assert pair.workspace.verify() == []
    pair.step(Transact((RemoveRule(0),)))
    assert len(pair.workspace[text[0]]) == 0


@given(rules(), st.lists(changes(), min_size=1, max_size=6), st.integers(0, 2), st.integers(1, 4))
@example(
    "h(0, n, 0) :- n = max v3 : { e(v0, v1), w(v1, v3, _) }.",
    [Change("insert", "e", ((1, 1),)), Change("insert", "w", ((1, 1, 2),))],
    0,
    1,
)
def test_oracle_rules_added_before_their_rows(
    text: str, history: list[Change], before: int, few: int
) -> None:
    pair = Pair(
        [
            *(Spec(name, ("int",) * arity) for name, arity in BASES.items()),
            *(Spec(name, types) for name, types in HEADS.items()),
        ],
        lftj.connect(tuning=lftj.Tuning(telling_rows=few)),
    )
    (rule,) = parse(text).clauses
    assert isinstance(rule, tree.Rule)
    for change in history[:before]:
        pair.step(Transact((change,)))
    with patch.object(trees, "VIEW", 0.0), patch.object(trees, "GAIN", 0.0):
        pair.step(Transact((AddRule(rule), *history[before : before + 1])))
        for change in history[before + 1 :]:
            pair.step(Transact((change,)))
    assert pair.workspace.verify() == []
    pair.step(Transact((RemoveRule(0),)))
    assert len(pair.workspace[text[0]]) == 0


@given(
    rules(13),
    st.lists(changes(), min_size=1, max_size=8),
    st.sampled_from(
        [Size(100_000, (500.0,) * 3, (200.0,) * 3), Size(1_000, (40.0,) * 3, (30.0,) * 3)]
    ),
)
@example(
    "h(v1, count(), sum(v9)) :- e(v0, v1), e(v1, v2), e(v2, v3), e(v3, v4), e(v4, v5), "
    "e(v5, v6), e(v6, v7), e(v7, v8), e(v8, v9), e(v9, v10), e(v0, v2), e(v3, v5), r(v7).",
    [
        Change("insert", "e", ((0, 1), (1, 2), (2, 0), (0, 2), (1, 1))),
        Change("insert", "r", ((1,),)),
    ],
    DENSE,
)
def test_oracle_long_bodies_in_parts(text: str, history: list[Change], size: Size) -> None:
    divided, whole = lftj.connect(), lftj.connect()
    for workspace, told in ((divided, size), (whole, NO_SIZE)):
        for name, arity in BASES.items():
            declare(workspace, Spec(name, ("int",) * arity))
        for name, types in HEADS.items():
            declare(workspace, Spec(name, types))
        with patch.object(Statistics, "size", return_value=told):
            workspace.add_rules(text)
    for change in history:
        for workspace in (divided, whole):
            with workspace.transaction() as transaction:
                rows = [row[: BASES[change.relation]] for row in change.rows]
                getattr(transaction, change.verb)(change.relation, rows)
        assert divided[text[0]].fetchall() == whole[text[0]].fetchall()
    assert divided.verify() == []
