"""Aggregates of bodies that are trees of atoms, which are drawn into the join: compared with the
naive reference under histories.
"""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import example, given
from hypothesis import strategies as st

import lftj
from lftj.join.plan.cardinality import Statistics
from lftj.syntax import tree
from lftj.syntax.parser import parse
from tests.oracle.pair import Pair
from tests.strategies.histories import AddRule, Change, RemoveRule, Transact
from tests.strategies.schemas import Spec

BASES = {"e": 2, "w": 3, "r": 1}
HEADS = {"h": ("int", "int", "int"), "f": ("int", "float")}
NUMBERS = st.integers(-1, 2)


@st.composite
def bodies(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A body and its variables: each atom has one variable of those before it, seldom two."""
    literals, known = ["e(v0, v1)"], ["v0", "v1"]
    for _ in range(draw(st.integers(1, 4))):
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
def rules(draw: st.DrawFn) -> str:
    """A rule that aggregates in its head, or in its body; also several values in one head."""
    body, have = draw(bodies())
    group = draw(st.lists(st.sampled_from(have), min_size=2, max_size=2))
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
def test_oracle_aggregates_drawn_into_joins(
    text: str, history: list[Change], before: int, repeats: bool
) -> None:
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
    with patch.object(Statistics, "repeats", return_value=repeats):
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
        lftj.connect(tuning=lftj.Tuning(telling_rows=few, repeating=0.0)),
    )
    (rule,) = parse(text).clauses
    assert isinstance(rule, tree.Rule)
    for change in history[:before]:
        pair.step(Transact((change,)))
    pair.step(Transact((AddRule(rule), *history[before : before + 1])))
    for change in history[before + 1 :]:
        pair.step(Transact((change,)))
    assert pair.workspace.verify() == []
    pair.step(Transact((RemoveRule(0),)))
    assert len(pair.workspace[text[0]]) == 0
