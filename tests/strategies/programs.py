"""Random stratified programs.

Every view has a level from the start, and a rule for it reads its own level only positively and
only if that level is recursive. So any subset of the rules is stratified, and histories may add and
remove rules as they like. Rules of a recursive level make no new values, so that every fixpoint is
finite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from lftj.syntax import tree
from lftj.syntax.conditionals import without_conditionals
from tests.strategies.bodies import FEATURES, SQL_FEATURES, BodyDrawer
from tests.strategies.in_order import IN_ORDER, more_arguments, sources
from tests.strategies.schemas import (
    BASES,
    COST,
    INTEGER_BASES,
    NULLED,
    Spec,
    constants,
    optional,
    pick,
    required,
)
from tests.strategies.terms import Draw, Typed, expression, like, of_type, plain

AGGREGATES = {
    "int": ("count", "sum", "min", "max", "count_distinct", "arg_max", "quantile_disc", "mode"),
    "float": ("mean", "stddev", "sum", "min", "max", "median", "quantile"),
    "str": ("min", "max", "concat", "first", "quantile_disc", "mode"),
    "bool": ("min", "max", "any", "last"),
    "date": ("min", "max", "arg_min", "quantile_disc"),
    "timestamp": ("min", "max", "last"),
    COST: ("sum", "min", "max", "median", "quantile"),
}
"""By the type of the result."""
NOT_SAID = frozenset({"concat", *IN_ORDER})
"""Aggregates that the queries of `tests.reference.sql` do not have."""

_GROUP = st.lists(st.sampled_from(["int", "int", "int", "str", "float", "date", COST]), max_size=2)
_AGGREGATED = st.lists(
    st.sampled_from(["int", "int", "float", "float", "str", *AGGREGATES]), min_size=1, max_size=3
)


@dataclass(frozen=True)
class View:
    """A view and where it stands. A view with aggregates has exactly one rule, whose last columns
    they are.
    """

    spec: Spec
    level: int
    recursive: bool = False
    aggregates: tuple[str, ...] = ()


@dataclass(frozen=True)
class Program:
    """Views of all levels and rules for them."""

    views: tuple[View, ...]
    rules: tuple[tree.Rule, ...]

    def __repr__(self) -> str:
        return "\n".join(["", *map(str, (*self.declarations, *self.rules)), ""])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    @property
    def specs(self) -> tuple[Spec, ...]:
        """The schemas of the views."""
        return tuple(view.spec for view in self.views)

    @property
    def declarations(self) -> tuple[tree.Declaration, ...]:
        """The `.decl` of every base relation and view."""
        return tuple(spec.declaration for spec in (*BASES, *self.specs))


@st.composite
def views(
    draw: Draw, max_levels: int = 3, functions: bool = True, nulls: bool = True
) -> tuple[View, ...]:
    """One or two views at each level; levels are plain, recursive, one function or one
    aggregate. `nulls`: columns may be optional.
    """
    kinds = ["plain", "plain", "recursive", "aggregate", *["function"] * functions]
    found: list[View] = []
    for level in range(1, draw(st.integers(1, max_levels)) + 1):
        kind = pick(draw, kinds)
        for place in range(1 if kind in ("aggregate", "function") else draw(st.integers(1, 2))):
            found.append(_view(draw, f"v{level}{'ab'[place]}", level, kind))
    return tuple(found if nulls else map(_without_null, found))


def _without_null(view: View) -> View:
    types = tuple(map(required, view.spec.types))
    return replace(view, spec=replace(view.spec, types=types))


def _view(draw: Draw, name: str, level: int, kind: str) -> View:
    if kind == "recursive":
        types = pick(draw, [("int",), ("int", "int"), ("int", "int"), ("int?",), ("int", "int?")])
        return View(Spec(name, types), level, recursive=True)
    if kind == "function":
        return View(
            Spec(
                name,
                ("int", pick(draw, ["int", "str", "date", COST, "int?", "str?"])),
                key=(0,),
                functional=True,
            ),
            level,
        )
    group = [_or_null(draw, each) for each in draw(_GROUP)]
    if kind == "plain":
        return View(Spec(name, tuple(group)), level)
    types = draw(_AGGREGATED)
    functions = tuple(pick(draw, AGGREGATES[type_]) for type_ in types)
    return View(
        Spec(name, (*group, *(_or_null(draw, each) for each in types))), level, aggregates=functions
    )


def _or_null(draw: Draw, type_: str) -> str:
    """The type, now and then with NULL."""
    return type_ if draw(st.integers(0, 2)) else optional(type_)


def rule_for(
    draw: Draw,
    view: View,
    all_views: Sequence[View],
    features: Sequence[str] = FEATURES,
    nulls: bool = True,
) -> tree.Rule:
    """A rule with `view` as its head, now and then with a second head of the same level; it reads
    what the levels admit. `nulls`: relations with optional columns are among them.
    """
    bases = BASES if nulls else tuple(each for each in BASES if NULLED.isdisjoint(each.types))
    integers = tuple(each for each in INTEGER_BASES if each in bases)
    if not nulls:
        features = [each for each in features if each not in ("missing", "left join")]
    lower = [each.spec for each in all_views if each.level < view.level]
    same = [each.spec for each in all_views if each.level == view.level]
    if view.recursive:
        kept = [each for each in features if each != "assignment"]
        drawer = BodyDrawer(
            draw, (*integers, *same * 2, *lower), (*bases, *lower), kept, recursive=True
        )
    else:
        drawer = BodyDrawer(draw, (*bases, *lower * 2), (*bases, *lower * 2), features)
    body = drawer.body()
    if view.aggregates:
        terms = _aggregated(draw, view, drawer)
        return without_conditionals(tree.Rule((tree.Atom(view.spec.name, terms),), body))
    heads = (
        [view.spec, *draw(st.lists(st.sampled_from(same), max_size=1))]
        if same and not draw(st.integers(0, 5))
        else [view.spec]
    )
    atoms = [spec.atom([_head_term(draw, drawer, type_) for type_ in spec.types]) for spec in heads]
    return without_conditionals(tree.Rule(tuple(atoms), body))


def _head_term(draw: Draw, drawer: BodyDrawer, type_: str) -> tree.Term:
    bound = drawer.bound
    if drawer.recursive:
        bound = {name: each for name, each in bound.items() if name not in ("m", "w")}
        return plain(draw, bound, type_)
    kind = draw(st.integers(0, 7))
    names = of_type(bound, "int") if "disjunction" in drawer.features else []
    if kind == 0 and names and required(type_) == "int":
        return _quotient(draw, bound, tree.Variable(pick(draw, names)))
    return expression(draw, bound, type_) if kind < 3 else plain(draw, bound, type_)


def _quotient(draw: Draw, bound: Typed, divisor: tree.Variable) -> tree.Term:
    """A conditional, one branch of which may fail where it is not taken."""
    number = plain(draw, bound, "int")
    test = tree.Comparison("!=", divisor, tree.Constant(0))
    return tree.Conditional("if", (tree.Call("/", (number, divisor)), number), tree.Body((test,)))


def _aggregated(draw: Draw, view: View, drawer: BodyDrawer) -> tuple[tree.Term, ...]:
    width, bound = len(view.spec.types) - len(view.aggregates), drawer.bound
    terms = [plain(draw, bound, type_) for type_ in view.spec.types[:width]]
    calls: list[tree.Term] = []
    for function, type_ in zip(view.aggregates, view.spec.types[width:], strict=True):
        call = _call(draw, function, type_, bound)
        typed = not any(isinstance(arg, tree.Constant) for arg in call.args[:1])
        computes = typed and "disjunction" in drawer.features and not draw(st.integers(0, 2))
        calls.append(_computed(draw, call, type_, terms) if computes else call)
    return (*terms, *calls)


def _computed(
    draw: Draw, call: tree.HeadAggregate, type_: str, keys: Sequence[tree.Term]
) -> tree.Term:
    """A term that computes something of an aggregate, and of others of its group."""
    count = tree.HeadAggregate("count", ())
    if required(type_) == "int" and draw(st.booleans()):
        return tree.Call(pick(draw, ["+", "-"]), (call, count))
    test = tree.Comparison(pick(draw, [">", "="]), count, tree.Constant(1))
    if keys and draw(st.booleans()):
        test = tree.Comparison("!=", keys[0], keys[0])
    other = tree.Constant(draw(constants(required(type_))))
    branches = (call, other) if draw(st.booleans()) else (other, call)
    return tree.Conditional("if", branches, tree.Body((test,)))


def _call(draw: Draw, function: str, result: str, bound: Typed) -> tree.HeadAggregate:
    counted = sorted(bound) if function == "count" and draw(st.booleans()) else []
    if function == "count":
        return tree.HeadAggregate("count", tuple(map(tree.Variable, counted[:1])))
    if result not in NULLED and function != "count_distinct":
        bound = {name: type_ for name, type_ in bound.items() if type_ not in NULLED}
    others = (like(result, "int"), like(result, COST)) if function in ("mean", "stddev") else ()
    known = function in IN_ORDER
    types = sources(function, result, bound) if known else (*others,)
    given = [each for each in types if of_type(bound, each)]
    source = pick(draw, [*given, *[result] * (not given or not known)])
    names = of_type(bound, source)
    argument = tree.Variable(pick(draw, names)) if names else tree.Constant(draw(constants(source)))
    if function != "concat":
        return tree.HeadAggregate(function, (argument, *more_arguments(draw, function, bound)))
    keys = [tree.Variable(name) for name in of_type(bound, like(result, "int"))[:1]]
    return tree.HeadAggregate("concat", (argument, tree.Constant(","), *keys))


@st.composite
def programs(
    draw: Draw, max_levels: int = 3, functions: bool = True, nulls: bool = True
) -> Program:
    """Views with one rule each at least; views with aggregates exactly one. Without functions no
    program has conflicts. `nulls`: it reads and derives NULL.
    """
    found = draw(views(max_levels, functions, nulls))
    rules = []
    for view in found:
        for _ in range(1 if view.aggregates else draw(st.integers(1, 2)) + view.recursive):
            rules.append(rule_for(draw, view, found, nulls=nulls))
    return Program(found, tuple(rules))


@st.composite
def conjunctive_rules(draw: Draw) -> tree.Rule:
    """A rule that one SQL query can say, over the base relations."""
    view = _view(draw, "goal", 1, pick(draw, ["plain", "aggregate"]))
    if NOT_SAID.intersection(view.aggregates):
        said = ["max" if each in NOT_SAID else each for each in view.aggregates]
        view = View(view.spec, 1, aggregates=tuple(said))
    return rule_for(draw, view, (), SQL_FEATURES)
