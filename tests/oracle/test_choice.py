"""Random histories over relations that choose, plain and recursive, and over rules that do:
compared with the naive reference.

Where every relation of a cycle has one domain, the state after each step has to be that of a
bootstrap, and updates have to have led there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st

import lftj
from lftj.syntax import tree
from tests.oracle.pair import Pair, rule_of
from tests.strategies.histories import AddRule, Change, RemoveRule, Transact
from tests.strategies.schemas import Row, Spec, values
from tests.strategies.terms import Draw
from tests.unit.recursion.stratum import check


@dataclass(frozen=True)
class Choosing(Spec):
    """A relation with choice domains."""

    choice: tuple[tuple[str, ...], ...] = ()

    @property
    def declaration(self) -> tree.Declaration:
        """The `.decl` of the relation."""
        return replace(super().declaration, choice=self.choice)


EDGE, WORD = Spec("edge", ("int", "int")), Spec("word", ("str", "str"))
PLAIN = (
    Spec("path", ("int", "int")),
    Spec("few", ("int",)),
    Spec("pair", ("str", "str")),
    Spec("many", ("int",)),
)
DOMAINS = [(("c0",),), (("c1",),), (("c0",), ("c1",)), (("c0", "c1"),)]
LISTED = """
tree(x, y) :- edge(x, y).
tree(y, x) :- edge(x, y), !edge(y, x).
tree(y, z) :- tree(x, y), edge(y, z).
tree(y, z) :- path(_, y), edge(y, z).
path(x, y) :- tree(x, y).
path(x, z) :- path(x, y), path(y, z).
names(x, y) :- word(x, y).
names(y, z) :- names(_, y), word(z, _).
names(x, cat(y, "!")) :- word(y, x).
pair(x, y) :- names(x, y), word(_, x), choice((x), (y)).
pair(x, y) :- word(x, _), word(_, y), choice((y), (x)), choice((x), (y)).
few(x) :- edge(x, y), choice((), (x, y)).
few(x) :- few(y), edge(y, x), choice((y), (x)).
few(x) :- path(x, y), (x < y ; edge(y, y)), choice((y), (x)).
tree(x, n) :- edge(x, _), n = count : { edge(x, _) }.
""".strip().splitlines()

CYCLIC = """
tree(x, y) :- edge(x, y), x < 1.
tree(x, x) :- few(x).
tree(y, z) :- tree(x, y), edge(y, z).
tree(z, y) :- tree(x, y), edge(y, z), !edge(z, x).
tree(x, z) :- tree(x, y), tree(y, z).
tree(y, z) :- path(_, y), edge(y, z).
path(x, y) :- tree(x, y), tree(_, x).
path(x, z) :- path(x, y), tree(y, z), x != z.
names(x, y) :- word(x, y), !word(y, x).
names(y, z) :- names(_, y), word(z, _).
names(x, y) :- names(y, x), names(_, y).
names(x, y) :- pair(y, x), word(x, _).
pair(x, y) :- names(x, z), word(z, y), choice((x), (y)).
pair(x, y) :- names(_, x), word(x, y), choice((), (x, y)).
few(x) :- edge(x, y), choice((), (x, y)).
few(y) :- few(x), edge(x, y), choice((x), (y)).
many(n) :- n = count : { tree(x, _), edge(_, x) }.
""".strip().splitlines()


@st.composite
def changes(draw: Draw) -> Change:
    """Rows won or lost by a base relation or by one that chooses."""
    name = draw(st.sampled_from(["edge"] * 3 + ["word"] * 2 + ["tree", "names"]))
    types = EDGE.types if name in ("edge", "tree") else WORD.types
    rows: list[Row] = draw(st.lists(st.tuples(*map(values, types)), min_size=1, max_size=5))
    return Change(draw(st.sampled_from(["insert", "insert", "delete"])), name, tuple(rows))


def steps(listed: Sequence[str]) -> st.SearchStrategy[Transact]:
    """Rows and rules that come and go, now and then rolled back."""
    rules = st.one_of(
        st.sampled_from(listed).map(lambda text: AddRule(rule_of(text))),
        st.integers(0, 9).map(RemoveRule),
    )
    actions = st.lists(st.one_of(changes(), changes(), changes(), rules), min_size=1, max_size=3)
    return st.builds(Transact, actions.map(tuple), st.sampled_from([False] * 5 + [True]))


@given(
    st.sampled_from(DOMAINS),
    st.sampled_from(DOMAINS),
    st.lists(st.sampled_from(LISTED), min_size=3, max_size=7),
    st.lists(steps(LISTED), max_size=6),
)
@settings(max_examples=2 * settings().max_examples)
def test_oracle_choices_follow_every_change(tree_by, names_by, rules, history):
    pair = Pair(
        [
            EDGE,
            WORD,
            *PLAIN,
            Choosing("tree", EDGE.types, choice=tree_by),
            Choosing("names", WORD.types, choice=names_by),
        ]
    )
    pair.step(Transact(tuple(AddRule(rule_of(text)) for text in rules)))
    for step in history:
        pair.step(step)
    assert pair.workspace.verify() == []


ONE_DOMAIN = [(("c0",),), (("c1",),), (("c0", "c1"),)]


@given(
    st.sampled_from(ONE_DOMAIN),
    st.sampled_from(ONE_DOMAIN),
    st.lists(st.sampled_from(CYCLIC), min_size=4, max_size=9, unique=True),
    st.lists(changes(), min_size=1, max_size=4),
    st.lists(steps(CYCLIC), min_size=2, max_size=6),
)
@settings(max_examples=2 * settings().max_examples)
def test_oracle_states_of_cycles_with_one_domain_equal_a_bootstrap(
    tree_by, names_by, rules, start, history
):
    choosing = [
        Choosing("tree", EDGE.types, choice=tree_by),
        Choosing("names", WORD.types, choice=names_by),
    ]
    pair = Pair([EDGE, WORD, *PLAIN, *choosing], lftj.connect(elastic=math.inf))
    for step in (
        Transact(tuple(start)),
        Transact(tuple(AddRule(rule_of(text)) for text in rules)),
        *history,
    ):
        pair.step(step)
        check(pair.workspace)
        strategies = set(pair.workspace.profile(last=1)["outcome"])
        assert strategies.isdisjoint({"choice", "fallback", "forecast"}) or not step.actions
    assert pair.workspace.verify() == []
