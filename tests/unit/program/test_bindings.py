"""Variables that literals bind, and the least part of a body that binds given variables."""

from __future__ import annotations

from lftj.program.bindings import bound_by, of_literals, shared, slice_for
from lftj.program.checked import CheckedAtom, CheckedLiteral, CheckedNegation
from tests.unit.program.rules import checked_rule


def body(text: str) -> tuple[tuple[CheckedLiteral, ...], dict[str, int]]:
    """The literals of a rule and the numbers of its variables."""
    rule = checked_rule(text)
    return rule.body.literals, {
        variable.name: number for number, variable in enumerate(rule.variables)
    }


def sliced(text: str, *names: str, heads: tuple[str, ...] = (), near: str = "") -> list[str]:
    """The relations (or `=`) of the literals chosen to bind the named variables."""
    literals, numbers = body(text)
    chosen = slice_for(
        frozenset(numbers[name] for name in names),
        literals,
        heads,
        frozenset(numbers[name] for name in near),
    )
    assert {numbers[name] for name in names} <= bound_by(chosen)
    return [literal.relation if isinstance(literal, CheckedAtom) else "=" for literal in chosen]


def test_equations_bind_through_one_another():
    literals, numbers = body("h1(z) :- z = y + 1, y = x + 1, b(x), x < 3.")
    assert bound_by(literals) == set(numbers.values())
    assert bound_by(literals[:2]) == set()
    assert bound_by(literals[:2], frozenset({numbers["x"]})) == {
        numbers["x"],
        numbers["y"],
        numbers["z"],
    }


def test_a_disjunction_binds_what_all_branches_bind():
    literals, numbers = body("h1(x) :- (a(x, y) ; b(x), y = 1 ; e(x, x), y = x), y < 3.")
    assert bound_by(literals) == {numbers["x"], numbers["y"]}


def test_inner_variables_are_not_shared():
    literals, numbers = body("h1(x) :- a(x, z), !( b(y), e(y, x) ).")
    (negation,) = [each for each in literals if isinstance(each, CheckedNegation)]
    assert shared(negation) == {numbers["x"]}
    assert of_literals(literals) == set(numbers.values())


def test_one_atom_for_two_variables_is_better_than_two():
    assert sliced("h1(x) :- b(x), b(y), a(x, y).", "x", "y") == ["a"]


def test_fewer_other_variables_are_better():
    assert sliced("h1(x) :- a(x, y), b(x).", "x") == ["b"]


def test_equations_bring_what_they_need():
    assert sliced("h1(x) :- b(x), y = x + 1, z = y * 2, e(_, _).", "z") == ["b", "=", "="]


def test_relations_being_defined_come_last():
    assert sliced("h1(y) :- h1(x), a(x, y), h1(y).", "y", heads=("h1",)) == ["a"]
    assert sliced("h1(x) :- h1(x).", "x", heads=("h1",)) == ["h1"]


def test_atoms_with_nothing_in_common_come_with_what_links_them():
    assert sliced("h1(x) :- b(x), a(x, s), a(y, t), e(x, y), b(y).", "s", "t") == ["a", "a", "e"]
    assert sliced("h1(x) :- a(x, s), a(y, t), y = x + 1.", "s", "t") == ["a", "a", "="]
    assert sliced("h1(x) :- a(x, s), a(y, t), z = x + w, e(z, y), b(w).", "s", "t") == [
        "a",
        "a",
        "=",
        "e",
        "b",
    ]
    assert sliced("h1(x) :- a(x, s), a(y, t), e(x, z), e(z, y), b(z).", "s", "t") == [
        "a",
        "a",
        "e",
        "e",
    ]


def test_what_nothing_links_stays_apart():
    assert sliced("h1(x) :- a(x, s), a(y, t), b(x), x < y.", "s", "t") == ["a", "a"]


def test_relations_being_defined_link_only_what_depends_on_them():
    assert sliced("h2(y, y) :- a(x, s), a(y, t), h2(x, y).", "s", "t", heads=("h2",)) == ["a", "a"]
    assert sliced("h2(y, y) :- h2(x, s), a(y, t), h2(x, y).", "s", "t", heads=("h2",)) == [
        "h2",
        "a",
        "h2",
    ]


def test_what_is_near_is_linked_too():
    assert sliced("h1(x) :- b(x), a(x, y).", "x", near="y") == ["b", "a"]
    assert sliced("h1(x) :- b(x), a(x, z), e(z, y).", "x", near="y") == ["b", "a", "e"]
    assert sliced("h1(x) :- b(x), b(y), x < y.", "x", near="y") == ["b"]
    assert sliced("h1(x) :- b(x), h2(x, y).", "x", near="y", heads=("h2",)) == ["b"]
