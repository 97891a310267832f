"""Positions: what a surgery names, what is left to γ, and where no index is needed."""

from __future__ import annotations

import pytest

from lftj.sensitivity import AtomShape, BodyShape, Constant
from tests.unit.sensitivity.bodies import body


def gammas(shape: BodyShape) -> dict[tuple[int, int], tuple[int, ...]]:
    return {position.key: position.gamma for position in shape.indexable}


def test_columns_that_follow_the_levels_need_no_index() -> None:
    shape = body(3, "E 0 1, F 1 2, G 0 1 2").shape
    assert [position.key for position in shape.positions if position.prefix] == [
        (0, 0),
        (0, 1),
        (2, 0),
        (2, 1),
        (2, 2),
    ]
    assert gammas(shape) == {(1, 0): (0,), (1, 1): (0,)}


def test_alpha_and_gamma_share_out_the_levels_before() -> None:
    position = body(5, "E 1 3 4").shape.by_key[0, 2]
    assert (position.alpha, position.level, position.gamma) == ((1, 3), 4, (0, 2))


def test_computed_levels_are_not_in_gamma() -> None:
    shape = body(4, "F 0 3, E 1 2, E 2 3", computed={0: Constant(1), 1: Constant(2)}).shape
    assert gammas(shape) == {
        (0, 1): (2,)
    }  # level 1 is a constant; (1, ·) and (2, 0) have constants only before them


def test_surgeries_that_contradict_a_constant_or_a_copy_are_known() -> None:
    shape = body(4, "E 0 1, F 1 2 3", computed={0: Constant(7), 2: 1}).shape
    assert shape.by_key[0, 1].fixed == ((0, 7),)
    assert shape.by_key[1, 2].equal == ((0, 1),)
    assert shape.by_key[1, 0].equal == ()


def test_a_negated_atom_has_one_position_at_its_last_level() -> None:
    atom = AtomShape((2, Constant(9), 0, 2), negated=True)
    (position,) = BodyShape(4, (atom,), 4).positions
    assert (position.column, position.level, position.pinned, position.sources) == (
        3,
        2,
        (0, 2),
        (2, 0),
    )
    assert (position.gamma, position.equal, position.fixed) == ((1,), ((0, 3),), ((1, 9),))


def test_a_negated_atom_of_constants_names_the_whole_body() -> None:
    (position,) = BodyShape(2, (AtomShape((Constant(1),), negated=True),), 2).positions
    assert position.prefix
    assert (position.level, position.pinned) == (0, ())


@pytest.mark.parametrize(
    ("levels", "atom", "exists_from", "says"),
    [
        (2, AtomShape((0, 2)), 2, "there are 2"),
        (2, AtomShape((1, 0)), 2, "ascending"),
        (2, AtomShape((0, 0)), 2, "ascending"),
        (2, AtomShape((0, Constant(3))), 2, "ascending"),
        (2, AtomShape((0, 1)), 3, "exists_from"),
    ],
)
def test_impossible_bodies_are_refused(
    levels: int, atom: AtomShape, exists_from: int, says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        BodyShape(levels, (atom,), exists_from)
