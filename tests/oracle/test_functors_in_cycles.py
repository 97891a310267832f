"""Random histories over recursions that make and test strings: compared with the naive
reference.
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tests.oracle.pair import Pair, rule_of
from tests.strategies.histories import AddRule, Change, Transact, with_removals
from tests.strategies.schemas import Row, Spec
from tests.strategies.terms import Draw

WORD, LINK = Spec("word", ("str",)), Spec("link", ("str", "str"))
VIEWS = (
    Spec("made", ("str",)),
    Spec("way", ("str", "str")),
    Spec("long", ("str", "int")),
    Spec("alone", ("str",)),
)
# Every string made is shorter than the one that it is made of, or of bounded length.
LISTED = """
made(w) :- word(w).
made(cat(a, b)) :- made(a), word(b), strlen(a) < 3.
made(substr(a, 1, 3)) :- made(a), strlen(a) > 1.
made(a + "!") :- made(a), !contains("!", a), !match("a.*", a).
made(cat(b, a)) :- made(a), word(b), !(strlen(cat(a, b)) > 3), !contains("b!", cat(b, a)).
made(y) :- way(x, y), match(".*b", x).
way(x, y) :- link(x, y).
way(x, substr(cat(t, y), 0, 4)) :- way(x, t), link(_, y), made(y).
way(x, max(t, y, "a")) :- way(x, t), link(y, _).
way(y, x) :- way(x, y), contains(x, y), !made(y).
long(a, n) :- made(a), n = strlen(a).
long(a, n - 1) :- long(a, n), made(to_string(n)).
long(to_string(n), m) :- long(_, n), long(_, m), n < m, n >= 0.
alone(x) :- made(x), !long(x, 3).
alone(x) :- made(x), n = count : { way(x, _) }, n > 1.
""".strip().splitlines()
STRINGS = st.sampled_from(["", "a", "b", "ab", "!", "3", "ä"])


def stratified(rules: Sequence[str]) -> list[str]:
    """Without what would put a negation into a cycle."""
    return [
        text
        for text in rules
        if "!made" not in text or not any("made(y) :- way" in other for other in rules)
    ]


@st.composite
def changes(draw: Draw) -> Change:
    """Rows won or lost by a base relation, or by the rows of its own that `made` has."""
    name = draw(st.sampled_from(["word", "link", "link", "made"]))
    rows: list[Row] = draw(
        st.lists(st.tuples(*[STRINGS] * (2 if name == "link" else 1)), min_size=1, max_size=4)
    )
    return Change(draw(st.sampled_from(["insert", "insert", "delete"])), name, tuple(rows))


@given(
    st.lists(st.sampled_from(LISTED), min_size=3, max_size=8, unique=True).map(stratified),
    st.lists(with_removals(changes()), max_size=6),
)
def test_oracle_functors_follow_every_change(rules, history):
    pair = Pair([WORD, LINK, *VIEWS])
    pair.step(Transact(tuple(AddRule(rule_of(text)) for text in rules)))
    for step in history:
        pair.step(step)
    assert pair.workspace.verify() == []
