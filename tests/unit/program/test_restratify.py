"""Rules that come and go leave the strata that all of them together would have."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from lftj.errors import ProgramErrors
from lftj.program.normal_form import NegatedAtom, NormalRule, PositiveAtom, Ref, RelationSchema, RuleVariable, Stratum
from lftj.program.strata import restratify, stratify
from lftj.types import INT

NAMES = "abcdef"
SCHEMAS = {name: RelationSchema(name, (("x", INT),)) for name in NAMES}
x = (Ref(0),)

names = st.sampled_from(NAMES)
drawn_rules = st.tuples(names, st.sets(names, min_size=1, max_size=2), st.sets(names, max_size=1))


def made(source: int, head: str, reads: set[str], negated: set[str]) -> NormalRule:
    """The rule `head(x) :- reads(x)…, !negated(x)…`."""
    atoms = tuple(PositiveAtom(name, x) for name in sorted(reads))
    return NormalRule(source, head, x, (RuleVariable("x", INT),), atoms, tuple(NegatedAtom(name, x) for name in sorted(negated)))


def summary(strata: tuple[Stratum, ...]) -> set[tuple[frozenset[str], frozenset[int], bool]]:
    """What strata hold, without their order."""
    return {(frozenset(each.relations), frozenset(rule.source for rule in each.rules), each.recursive) for each in strata}


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


@given(st.lists(st.one_of(drawn_rules, st.integers(0, 20)), max_size=15))
def test_step_by_step_is_as_all_at_once(steps: list[tuple[str, set[str], set[str]] | int]):
    rules: list[NormalRule] = []
    strata: tuple[Stratum, ...] = ()
    for number, step in enumerate(steps):
        if isinstance(step, int):
            removed = rules[step : step + 1]
            rules = [rule for rule in rules if rule not in removed]
            strata = restratify(strata, (), removed)
        else:
            rule = made(number, *step)
            refused = codes(lambda now=[*rules, rule]: stratify(SCHEMAS, now))
            assert codes(lambda now=strata, new=rule: restratify(now, [new])) == refused
            if not refused:
                rules.append(rule)
                strata = restratify(strata, [rule])
        assert summary(strata) == summary(stratify(SCHEMAS, rules).strata)
        check_order(strata)


def test_strata_that_have_nothing_to_do_with_a_change_are_the_same_objects():
    first = restratify((), [made(1, "a", {"b"}, set()), made(2, "c", {"a"}, set()), made(3, "d", {"b"}, set())])
    more = restratify(first, [made(4, "e", {"a"}, {"d"})])
    assert all(old is new for old, new in zip(first, more, strict=False))
    changed = restratify(more, [made(5, "c", {"d"}, set())])
    assert {each.relations: each for each in changed}["d",] is first[2]
    assert {each.relations: each for each in changed}["c",] is not first[1]
