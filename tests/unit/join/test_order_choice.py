"""Variable orders: valid for every body, by whichever of the three searches; the costs that they
are chosen by.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from lftj.join.plan import order_choice, order_costs
from lftj.join.plan.atom_statistics import AtomStatistics, skew_of
from lftj.join.plan.cardinality import RelationStatistics, estimate
from lftj.join.plan.index_upkeep import Upkeep
from lftj.join.plan.order_choice import Choice, OrderSearch
from lftj.join.plan.order_costs import KEPT_ORDER, NEW_ORDER
from lftj.join.plan.variable_orders import along, variables_of
from lftj.program.normal_form import Apply, NormalRule, Ref, RelationSchema, Value
from lftj.scantree import Arena
from lftj.storage.relation import RelationVersion
from lftj.storage.transient_relation import TransientRelation
from lftj.tuning import DEFAULT, Tuning
from lftj.types import INT
from tests.retuning import constants
from tests.unit.join.bodies import Body
from tests.unit.join.random_rules import ARITIES, random_rule

SEARCHES = {
    "permutations": {"_PERMUTED_VARIABLES": 99, "_SEARCHED_VARIABLES": 99},
    "subsets": {"_PERMUTED_VARIABLES": 0, "_SEARCHED_VARIABLES": 99},
    "greedy": {"_PERMUTED_VARIABLES": 0, "_SEARCHED_VARIABLES": 0},
}


@pytest.fixture(params=SEARCHES)
def search(request: pytest.FixtureRequest) -> Iterator[str]:
    """A way to search for orders, which is taken meanwhile."""
    with constants(order_choice, **SEARCHES[request.param]):
        yield request.param


def statistics(sizes: Mapping[str, Sequence[int]]) -> dict[str, RelationStatistics]:
    return {
        name: RelationStatistics(rows, tuple(map(float, distinct)))
        for name, (rows, *distinct) in sizes.items()
    }


def chosen(
    rule: NormalRule,
    sizes: Mapping[str, Sequence[int]],
    leading: Sequence[int] = (),
    key_orders: Mapping[str, list[tuple[int, ...]]] | None = None,
    building: float = NEW_ORDER,
    tuning: Tuning = DEFAULT,
) -> Choice:
    known = statistics(sizes)
    existing = key_orders or {
        name: [tuple(range(len(distinct)))] for name, (_, *distinct) in sizes.items()
    }
    return OrderSearch(
        rule, known.__getitem__, existing.__getitem__, frozenset(leading), building, tuning=tuning
    ).choose()


def test_random_bodies_get_orders_in_which_every_variable_can_be_bound(search: str):
    by = random.Random(11)
    for _ in range(300):
        rule = random_rule(by)
        sizes = {
            name: (by.randrange(1, 2000), *(by.randrange(1, 100) for _ in range(arity)))
            for name, arity in ARITIES.items()
        }
        leading = by.sample(range(len(rule.variables)), by.randrange(len(rule.variables) + 1))
        choice = chosen(rule, sizes, leading)
        assert sorted(choice.order) == list(range(len(rule.variables)))
        assert len(choice.bindings) == len(choice.order)
        in_atoms = {a.variable for atom in rule.atoms for a in atom.args if isinstance(a, Ref)}
        for place, variable in enumerate(choice.order):
            if variable not in in_atoms:
                inputs = [
                    variables_of(each.expression)
                    for each in rule.assignments
                    if each.variable == variable
                ]
                assert any(needed <= set(choice.order[:place]) for needed in inputs)


def test_all_permutations_are_never_dearer_than_the_other_searches():
    by = random.Random(5)
    better = 0
    for _ in range(150):
        rule = random_rule(by)
        sizes = {
            name: (by.randrange(1, 2000), *(by.randrange(1, 100) for _ in range(arity)))
            for name, arity in ARITIES.items()
        }
        cost = {}
        for search in SEARCHES:
            with constants(order_choice, **SEARCHES[search]):
                cost[search] = chosen(rule, sizes, tuning=Tuning(present_order=1.0)).cost
        assert cost["permutations"] <= min(cost.values()) * (1 + 1e-9)
        better += cost["permutations"] < cost["greedy"] * (1 - 1e-9)
    assert better


def test_a_selective_relation_comes_first(search: str):
    body = Body("x y z", [("e", "xy"), ("e", "yz"), ("few", "z")])
    choice = chosen(
        body.rule,
        {"e": (100_000, 1000, 1000), "few": (3, 3)},
        building=0.0,
    )
    assert choice.order[0] == body.names.index("z")


def test_a_constant_makes_its_atom_selective(search: str):
    body = Body("x y z", [("e", "xy"), ("f", "yz"), ("f", ["z", 7])])
    choice = chosen(
        body.rule,
        {"e": (100_000, 1000, 1000), "f": (100_000, 50_000, 50_000)},
        building=0.0,
    )
    assert choice.order[0] == body.names.index("z")


def test_variables_that_restrict_nothing_come_last_and_those_of_one_atom_together(search: str):
    body = Body("a x b y c", [("t", "axb"), ("t", "cyx"), ("e", "xy")])
    choice = chosen(body.rule, {"t": (1000, 2, 500, 2), "e": (1000, 500, 500)})
    assert set(choice.order[:2]) == set(body.numbers("x y"))
    last = [body.names[v] for v in choice.order[2:]]
    assert last in (["a", "b", "c"], ["b", "a", "c"], ["c", "a", "b"], ["c", "b", "a"])


@pytest.mark.parametrize(
    "tied",
    [
        {"filters": [("<", "z", 5)]},
        {"negated": [("f", ["z", None])]},
        {"assignments": [("w", Apply("+", (Ref(2), Value(1, INT)), INT))]},
    ],
    ids=["filter", "negation", "assignment"],
)
def test_a_variable_that_something_asks_for_is_not_loose(tied: dict[str, object]):
    names = "x y z w" if "assignments" in tied else "x y z"
    body = Body(names, [("e", "xy"), ("few", "xz")], **tied)  # type: ignore[arg-type]
    sizes = {"e": (10_000, 10, 10_000), "few": (4, 4, 4), "f": (10, 10, 10)}
    choice = chosen(body.rule, sizes)
    assert choice.order.index(2) < choice.order.index(1), "y is loose, z is not"


def test_the_head_s_variables_come_first_among_equals():
    body = Body("x y z", [("e", "xy"), ("e", "yz"), ("e", "zx")])
    sizes = {"e": (1000, 100, 100)}
    everything = {"e": [(0, 1), (1, 0)]}
    for first in range(3):
        assert chosen(body.rule, sizes, [first], everything).order[0] == first


def test_a_key_order_that_exists_is_preferred():
    body = Body("x y", [("e", "xy")])
    for existing in ((0, 1), (1, 0)):
        assert (
            chosen(body.rule, {"e": (1000, 100, 100)}, [0, 1], {"e": [existing]}).order == existing
        )


def test_all_variables_of_an_atom_may_be_loose_where_it_offers_an_order_of_no_columns():
    body = Body("a b x", [("packed", "ab"), ("few", "x")])
    choice = chosen(
        body.rule,
        {"packed": (1000, 100, 100), "few": (20, 20)},
        [2],
        {"packed": [()], "few": [(0,)]},
    )
    assert sorted(choice.order) == [0, 1, 2]


def test_a_plan_that_lasts_has_a_better_key_order_built():
    body = Body("x y", [("e", "xy"), ("few", "y")])
    sizes, existing = {"e": (1000, 100, 100), "few": (20, 20)}, {"e": [(0, 1)], "few": [(0,)]}
    assert chosen(body.rule, sizes, [0, 1], existing).order == (0, 1)
    assert chosen(body.rule, sizes, [0, 1], existing, building=0.0).order == (1, 0)


def test_loose_variables_follow_an_existing_key_order():
    body = Body("x a b", [("t", ["a", "x", "b"]), ("n", "x")])
    sizes = {"t": (1000, 10, 10, 10), "n": (5, 5)}
    for existing, loose in (((1, 0, 2), "a b"), ((1, 2, 0), "b a")):
        choice = chosen(body.rule, sizes, (), {"t": [existing], "n": [(0,)]})
        assert choice.order == body.numbers(f"x {loose}")


def test_a_computed_variable_is_bound_as_soon_as_its_inputs_are():
    body = Body(
        "x y z", [("e", "xy")], assignments=[("z", Apply("+", (Ref(0), Value(1, INT)), INT))]
    )
    order_ = chosen(body.rule, {"e": (100, 10, 10)}, [0, 1, 2]).order
    assert order_.index(2) == order_.index(0) + 1


def test_no_rows_and_no_variables_are_planned_too():
    assert chosen(Body("x", [("e", "xx")]).rule, {"e": (0, 0, 0)}).order == (0,)
    assert chosen(Body("", [("o", [])]).rule, {"o": (1,)}) == Choice((), 0.0, ())


def test_key_orders_have_constants_first_then_follow_the_variables():
    atom = AtomStatistics.of(
        "r",
        (Ref(0), Ref(1), Value(7, INT), Ref(0)),
        RelationStatistics(9, (3.0,) * 4),
        [(2, 1, 3, 0)],
    )
    assert atom.key_order((1, 5, 0)) == (2, 1, 0, 3)
    assert atom.fits(())
    assert atom.fits((1,))
    assert atom.fits((5, 1, 4)), "other variables do not matter"
    assert not atom.fits((0,)), "its columns are read in ascending order"


@pytest.mark.parametrize("search", ["permutations", "subsets"])
def test_a_little_is_tried_more_where_a_key_order_would_have_to_be_kept(search: str):
    # as in q(x, m, o) :- q(x, k, z), r(k, l, m), q(z, l, o) for a given head
    body = Body("x m o k z l", [("given", "xmo"), ("q", "xkz"), ("r", "klm"), ("q", "zlo")])
    sizes = {
        "given": (1, 1, 1, 1),
        "q": (2_000_000, 46_000, 2_000, 30_000),
        "r": (385, 156, 51, 156),
    }
    identity = {name: [(0, 1, 2)] for name in sizes}
    kept, free = (
        chosen(body.rule, sizes, body.numbers("x m o"), identity, building)
        for building in (KEPT_ORDER, 0.0)
    )
    assert kept.order.index(body.names.index("l")) < kept.order.index(body.names.index("o"))
    assert kept.cost < free.cost + KEPT_ORDER * 2_000_000


def test_an_order_begins_where_the_work_is_divided_unless_that_seems_much_dearer(search: str):
    tuning = Tuning(present_order=1.0)
    body = Body("x y z", [("r", "xy"), ("s", "yz"), ("r", "xz")])
    sizes = {
        "r": (513_000, 14_120, 20_913),
        "s": (4_000_000, 59_838, 58_604),
    }  # a slice by its first column, and all
    assert chosen(body.rule, sizes, tuning=tuning).order[0] == 1
    led = replace(body.rule, lead=0)
    assert chosen(led, sizes, tuning=tuning).order[0] == 0
    assert (
        chosen(led, sizes, building=0.0, tuning=tuning).order
        == chosen(body.rule, sizes, building=0.0, tuning=tuning).order
    )
    known = {name: [(0, 1), (1, 0)] for name in sizes}
    assert chosen(led, {**sizes, "s": (2, 2, 2)}, key_orders=known, tuning=tuning).order[0] != 0


@pytest.mark.parametrize(
    ("columns", "others", "counting", "along"),
    [
        ("iba", [], True, True),
        ("iba", ["u"], True, False),
        ("ibac", [], True, True),
        ("ibac", ["u"], True, True),
        ("ibac", ["u"], False, False),
    ],
)
def test_rules_over_one_relation_or_a_wide_one_read_the_order_there_is(
    columns: str, others: list[str], counting: bool, along: bool
):
    """Narrow relations get an order that begins with what others ask for, and so do searches for
    one proof, which end before the rest.
    """
    body = Body(
        " ".join(columns),
        [("t", columns), *((name, "i") for name in others)],
        filters=[(">", "a", 400)],
    )
    sizes = statistics(
        {"t": (100_000, 100_000, 50, 50_000, 300)[: 1 + len(columns)], "u": (100_000, 100_000)}
    )
    identity = tuple(range(len(columns)))
    existing = {"t": [identity], "u": [(0,)]}
    needed = frozenset([0, 2])
    search = OrderSearch(
        body.rule,
        sizes.__getitem__,
        existing.__getitem__,
        needed,
        NEW_ORDER,
        upkeep(existing, 0),
        counting,
    )
    (t, *_) = search.costs.atoms
    assert (t.key_order(search.choose().order) == identity) == along


def upkeep(kept: Mapping[str, list[tuple[int, ...]]], moved: int) -> Upkeep:
    return Upkeep(lambda name: kept.get(name, []), lambda name: moved)


@pytest.mark.parametrize("moved", [0, 1])
def test_a_key_order_that_is_brought_forward_anyway_is_read_where_rows_change(moved: int):
    """Variables that occur once otherwise come last; here they come where the key order of another
    rule has them.
    """
    body = Body("x a b z", [("t", "xab"), ("f", "bz")])
    sizes = statistics({"t": (1000, 1000, 10, 10), "f": (1000, 10, 10)})
    existing = {"t": [(0, 1, 2), (0, 2, 1)], "f": [(0, 1)]}
    search = OrderSearch(
        body.rule,
        sizes.__getitem__,
        existing.__getitem__,
        frozenset(),
        0.0,
        upkeep({"t": [(0, 1, 2)]}, 10_000 * moved),
    )
    needed = search.costs.atoms[0].key_order(search.choose().order)
    assert (needed == (0, 1, 2)) == bool(moved)


def test_variables_move_forward_as_far_as_a_key_order_asks():
    assert along((3, 0, 1, 2), [1, 2, 0]) == (3, 1, 2, 0)
    assert along((3, 0, 1, 2), []) == (3, 0, 1, 2)


def test_an_identifier_is_known_from_rows_side_by_side():
    arena = Arena()
    schema = RelationSchema("t", (("id", INT), ("kind", INT)))
    rows = 100_000
    distinct = estimate(
        RelationVersion.build(schema, arena, [np.arange(rows), np.arange(rows) % 7])
    ).distinct
    assert distinct[0] == rows
    assert distinct[1] == 7
    repeated = estimate(
        RelationVersion.build(schema, arena, [np.arange(rows) // 10, np.arange(rows) % 10])
    )
    assert repeated.distinct[0] < rows / 2


def test_how_often_a_first_column_repeats_is_known_from_rows_side_by_side():
    """A sample at equal distances has each of its values once where there are more values than rows
    in the sample.
    """
    schema = RelationSchema("t", (("item", INT), ("other", INT)))
    rows, values = 200_000, 2000
    about = estimate(
        RelationVersion.build(schema, Arena(), [np.arange(rows) % values, np.arange(rows)])
    )
    assert values / 4 < about.distinct[0] < values * 4
    assert rows / values / 4 < about.crowds[0] < rows / values * 4


def test_rows_with_the_same_value_twice_are_few() -> None:
    body = Body("x y v", [("r", ["x", "y"]), ("r", ["v", "v"])])
    choice = chosen(body.rule, {"r": (4000, 4000, 4000)}, leading=(0,))
    assert choice.order[0] == 2
    assert choice.bindings[0] < 10


@pytest.mark.parametrize("exponent", [None, 1.3], ids=["even", "skewed"])
def test_values_that_many_rows_have_in_two_atoms_are_not_bound_together_first(
    exponent: float | None,
):
    """Of p(x, y), q(y, z), r(x, z), where p is small. If values are skewed its rows have values of
    which q and r have thousands of rows.
    """
    rng, names = np.random.default_rng(4), 2000

    def drawn(rows: int):
        return (rng.zipf(exponent, rows) - 1) % names if exponent else rng.integers(0, names, rows)

    def some(rows: int):
        return rng.integers(0, 20_000, rows)

    columns = {
        "p": [drawn(names), drawn(names)],
        "q": [drawn(20_000), some(20_000)],
        "r": [drawn(20_000), some(20_000)],
    }
    known = {
        name: estimate(
            TransientRelation(RelationSchema(name, (("a", INT), ("b", INT))), Arena(), rows)
        )
        for name, rows in columns.items()
    }
    rule = Body("x y z", [("p", "xy"), ("q", "yz"), ("r", "xz")]).rule
    choice = OrderSearch(rule, known.__getitem__, lambda _: [(0, 1)], frozenset()).choose()
    assert (set(choice.order[:2]) == {0, 1}) == (exponent is None)


def test_what_many_atoms_of_a_kind_know_of_a_variable_is_known_once() -> None:
    """As if each pair of atoms were looked at."""
    values = np.array([[1] * 500 + list(range(2, 502)), list(range(1000))])
    about = estimate(
        TransientRelation(RelationSchema("e", (("x", INT), ("y", INT))), Arena(), [*values])
    )
    atoms = [
        AtomStatistics.of(
            "e", (Ref(0), Ref(number)) if number % 2 else (Ref(number), Ref(0)), about, ()
        )
        for number in range(1, 9)
    ]
    skew = skew_of(atoms, [list(range(8))], order_costs._CROWDED)
    mine = about.sample.frequent(0) if about.sample is not None else {}
    rows = about.rows * sum(share * share for share in mine.values())
    for number in range(0, 8, 2):
        others = sum(1 << other + 1 for other in range(0, 8, 2) if other != number)
        assert skew[number, 1] == [(others, pytest.approx(rows))]
    assert {number for number, _ in skew} == {0, 2, 4, 6}


def test_a_key_order_that_two_atoms_read_is_made_once(search: str):
    body = Body("n c d m", [("p", "ncd"), ("p", "mcd")], filters=[("<", "n", "m")])
    sizes = {"p": (2_000_000, 2_000_000, 45_000, 28_000)}
    order = chosen(body.rule, sizes).order
    assert set(order[:2]) == {1, 2}, "both atoms by (c, d), not each n sought in a new key order"
