"""Subtypes in generated programs, against a model that looks at every type name there is.

Types are defined at random, by `<:`, `=` and `|`, and a rule has literals at random over relations
of one column for each type. The model expands branches into rules, as Soufflé does, and calls a
variable of each type name that is below all its columns' types.
"""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

import lftj
from lftj.errors import ProgramErrors

Definitions = dict[str, tuple[str, tuple[str, ...]]]


@st.composite
def definitions(draw: st.DrawFn) -> Definitions:
    """Types T0, T1, … over number: the sign of each definition and its members."""
    found: Definitions = {}
    for place in range(draw(st.integers(2, 7))):
        names = ["number", *found]
        sign = draw(st.sampled_from(["<:", "<:", "=", "|"]))
        plain = [name for name in names if sign != "<:" or not _is_union(name, found)]
        members = draw(st.lists(st.sampled_from(plain), min_size=2, max_size=3, unique=True)) if (
            sign == "|" and len(names) > 1
        ) else [draw(st.sampled_from(plain))]  # fmt: skip
        found[f"T{place}"] = sign if len(members) > 1 or sign != "|" else "=", tuple(members)
    return found


def _is_union(name: str, known: Definitions) -> bool:
    sign, members = known.get(name, ("<:", ()))
    return sign == "|" or (sign == "=" and _is_union(members[0], known))


def below(lower: str, upper: str, known: Definitions) -> bool:
    """Soufflé's rule, by what the names stand for."""
    lower, upper = _meant(lower, known), _meant(upper, known)
    if lower == upper:
        return True
    sign, members = known.get(lower, ("", ()))
    if sign == "|" and all(below(each, upper, known) for each in members):
        return True
    if sign == "<:" and below(members[0], upper, known):
        return True
    sign, members = known.get(upper, ("", ()))
    return sign == "|" and any(below(lower, each, known) for each in members)


def _meant(name: str, known: Definitions) -> str:
    sign, members = known.get(name, ("", ()))
    return _meant(members[0], known) if sign == "=" else name


# ── rules ─────────────────────────────────────────────────────────────────────────────────────────
# A literal is (form, type names); a rule has literals over `x` and the type of its head.
SIMPLE = ("atom", "equal", "extreme", "negated", "inner negated")
LENIENT = ("less", "total", "branches", "binding branches")
TEXTS = {
    "atom": "of{0}(x)",
    "equal": "y{n} = x, of{0}(y{n})",
    "extreme": "x = max y{n} : {{ of{0}(y{n}) }}",
    "negated": "!of{0}(x)",
    "inner negated": "0 < count : {{ of{0}(z{n}), !of{1}(z{n}) }}",
    "less": "x < y{n}, of{0}(y{n})",
    "total": "x = sum y{n} : {{ of{0}(y{n}) }}",
    "branches": "( of{0}(x) ; of{1}(x), !of{0}(x) )",
    "binding branches": "( y{n} = x, of{0}(y{n}) ; of{1}(x) )",
}
Literals = list[tuple[str, tuple[str, str]]]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Definitions, Literals, str]:
    """Types, the literals of a rule, and the type of its head."""
    known = draw(definitions())
    names = st.sampled_from(["number", *known])
    forms = st.sampled_from(SIMPLE if draw(st.booleans()) else SIMPLE + LENIENT)
    literals = draw(st.lists(st.tuples(forms, st.tuples(names, names)), max_size=3))
    return known, [("atom", (draw(names), "number")), *literals], draw(names)


def souffle_takes(known: Definitions, literals: Literals, head: str) -> bool:
    """Test for a rule that Soufflé takes: each of the rules that its branches stand for."""
    choices = [
        [types[0], types[1]]
        if "branches" in form
        else [types[0]]
        if "negated" not in form
        else ["number"]
        for form, types in literals
    ]
    every = ["number", *known]
    for columns in product(*choices):
        admitted = [name for name in every if all(below(name, column, known) for column in columns)]
        if not admitted or not all(below(name, head, known) for name in admitted):
            return False
    return True


def program(known: Definitions, literals: Literals, head: str) -> str:
    """The text of the types, the relations and the rule."""
    types = [
        f".type {name} {'=' if sign == '|' else sign} {' | '.join(members)}"
        for name, (sign, members) in known.items()
    ]
    relations = [f".decl of{name}(x: {name})" for name in ("number", *known)]
    body = ", ".join(
        TEXTS[form].format(*types, n=place) for place, (form, types) in enumerate(literals)
    )
    return "\n".join([*types, *relations, f".decl head(x: {head})", f"head(x) :- {body}."])


def _codes(text: str) -> set[str]:
    try:
        lftj.connect().add_rules(text)
    except ProgramErrors as problems:
        return {error.code for error in problems.errors}
    return set()


@given(cases())
def test_rules_of_generated_types_are_taken_as_souffle_takes_them(
    case: tuple[Definitions, Literals, str],
) -> None:
    known, literals, head = case
    codes = _codes(program(known, literals, head))
    if souffle_takes(known, literals, head):
        assert codes == set()
    elif all(form in SIMPLE for form, _ in literals):
        assert codes == {"E134"}
    else:
        assert codes <= {"E134"}
