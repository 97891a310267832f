"""Rules that come and go leave the strata that all of them together would have."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from lftj.errors import ProgramErrors
from lftj.program.normal_form import (
    NegatedAtom,
    NormalRule,
    PositiveAtom,
    Ref,
    RelationSchema,
    RuleVariable,
    Stratum,
)
from lftj.program.restratify import restratify
from lftj.program.stratification import Stratification
from lftj.types import INT
from tests.unit.program.rules import stratify

NAMES = "abcdef"
SCHEMAS = {name: RelationSchema(name, (("x", INT),)) for name in NAMES}
x = (Ref(0),)

names = st.sampled_from(NAMES)
drawn_rules = st.tuples(names, st.sets(names, min_size=1, max_size=2), st.sets(names, max_size=1))


def made(source: int, head: str, reads: set[str], negated: set[str]) -> NormalRule:
    """The rule `head(x) :- reads(x)…, !negated(x)…`."""
    atoms = tuple(PositiveAtom(name, x) for name in sorted(reads))
    return NormalRule(
        source,
        head,
        x,
        (RuleVariable("x", INT),),
        atoms,
        tuple(NegatedAtom(name, x) for name in sorted(negated)),
    )


def summary(strata: tuple[Stratum, ...]) -> set[tuple[frozenset[str], frozenset[int], bool]]:
    """Contents of strata, without their order."""
    return {
        (frozenset(each.relations), frozenset(rule.source for rule in each.rules), each.recursive)
        for each in strata
    }


def check_order(strata: tuple[Stratum, ...]) -> None:
    """Every stratum reads earlier ones, itself, or what has no rules."""
    place = {name: at for at, each in enumerate(strata) for name in each.relations}
    assert all(place.get(name, -1) <= at for at, each in enumerate(strata) for name in each.reads)


def codes(attempt: Callable[[], object]) -> set[str]:
    """The codes of the errors that `attempt` raises."""
    try:
        attempt()
    except ProgramErrors as problems:
        return {error.code for error in problems.errors}
    return set()


def check_index(order: Stratification) -> None:
    """Places and readers are what a look at all strata says."""
    assert order.place == {
        name: at for at, each in enumerate(order.strata) for name in each.relations
    }
    readers: dict[str, set[str]] = {}
    for each in order.strata:
        for name in each.reads:
            readers.setdefault(name, set()).add(each.relations[0])
    assert order.readers == readers
    rows: dict[object, set[str]] = {}
    for each in order.strata:
        for reading in each.readings:
            rows.setdefault(reading, set()).add(each.relations[0])
    assert order.row_readers == rows


@given(
    st.lists(
        st.one_of(
            st.lists(drawn_rules, min_size=1, max_size=3), st.sets(st.integers(0, 20), max_size=2)
        ),
        max_size=12,
    )
)
def test_step_by_step_is_as_all_at_once(
    steps: list[list[tuple[str, set[str], set[str]]] | set[int]],
):
    rules: list[NormalRule] = []
    order = Stratification()
    for number, step in enumerate(steps):
        if isinstance(step, set):
            removed = [rule for at, rule in enumerate(rules) if at in step]
            rules = [rule for rule in rules if rule not in removed]
            order = restratify(order, (), removed)
        else:
            new = [made(10 * number + at, *rule) for at, rule in enumerate(step)]
            refused = codes(lambda now=[*rules, *new]: stratify(SCHEMAS, now))
            assert codes(lambda now=order, new=new: restratify(now, new)) == refused
            if not refused:
                rules += new
                order = restratify(order, new)
        assert summary(order.strata) == summary(stratify(SCHEMAS, rules).strata)
        check_order(order.strata)
        check_index(order)


def test_rules_that_come_while_others_go():
    kept, gone, new = (
        made(1, "a", {"b"}, set()),
        made(2, "b", {"a"}, set()),
        made(3, "c", {"a"}, {"b"}),
    )
    order = restratify(restratify(Stratification(), [kept, gone]), [new], [gone])
    assert summary(order.strata) == summary(stratify(SCHEMAS, [kept, new]).strata)
    check_index(order)


def test_a_relation_that_chooses_has_a_stratum_without_rules_too():
    rule = made(1, "a", {"b"}, set())
    order = restratify(Stratification(), [made(2, "c", {"a"}, set())], choosing=["b"])
    assert summary(order.strata) == {
        (frozenset("b"), frozenset(), False),
        (frozenset("c"), frozenset({2}), False),
    }
    order = restratify(order, [rule])
    with_rule = restratify(order, [made(3, "b", {"d"}, set())], choosing=["b"])
    without = restratify(
        with_rule, (), with_rule.strata[with_rule.place["b"]].rules, choosing=["b"]
    )
    assert summary(without.strata) == summary(order.strata)
    for each in (order, with_rule, without):
        check_order(each.strata)
        check_index(each)


def test_strata_that_have_nothing_to_do_with_a_change_are_the_same_objects():
    first = restratify(
        Stratification(),
        [made(1, "a", {"b"}, set()), made(2, "c", {"a"}, set()), made(3, "d", {"b"}, set())],
    )
    more = restratify(first, [made(4, "e", {"a"}, {"d"})])
    assert all(old is new for old, new in zip(first.strata, more.strata, strict=False))
    changed = restratify(more, [made(5, "c", {"d"}, set())])
    assert changed.stratum_of("d") is first.stratum_of("d")
    assert changed.stratum_of("c") is not first.stratum_of("c")


def test_rules_apart_from_each_other_leave_what_stands_between_them():
    chain = [
        made(number, head, {read}, set())
        for number, (head, read) in enumerate(zip("abcde", "fabcd", strict=True))
    ]
    order = restratify(Stratification(), chain)
    more = restratify(order, [made(8, "a", {"f"}, set()), made(9, "e", {"f"}, set())])
    assert [old is new for old, new in zip(order.strata, more.strata, strict=True)] == [
        False,
        True,
        True,
        True,
        False,
    ]
