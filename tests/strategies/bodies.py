"""Random bodies, safe by construction: a literal only asks for variables that others bound before
it, and then the order is shuffled.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from lftj.program.checks.witnesses import renamed
from lftj.proofs.nested_loops import direct
from lftj.syntax import tree
from tests.strategies.in_order import IN_ORDER, more_arguments, result_type
from tests.strategies.schemas import COST, NULLED, Spec, constants, optional, pick, required
from tests.strategies.terms import Draw, Typed, comparison, expression, like, of_type

NAMES: Mapping[str, tuple[str, ...]] = {
    "int": ("x", "y", "z"),
    "float": ("f", "g"),
    "str": ("s", "t"),
    "bool": ("b",),
    "date": ("d",),
    "timestamp": ("p",),
    COST: ("c",),
}
"""Few names for each type, so that variables repeat."""

LOCAL: Mapping[str, tuple[str, ...]] = {
    "int": ("i", "j"),
    "float": ("h",),
    "str": ("u",),
    "bool": ("v",),
    "date": ("e",),
    "timestamp": ("q",),
    COST: ("k",),
}
"""Names for variables of negations and aggregates; the same names in two of them are different
variables.
"""

RESULTS: Mapping[str, str] = {
    "int": "m",
    "float": "a",
    "str": "ms",
    "bool": "mb",
    "date": "md",
    "timestamp": "mp",
    COST: "mc",
}
"""Names for what aggregates give."""

FEATURES = (
    "comparison",
    "assignment",
    "negation",
    "nested",
    "disjunction",
    "aggregate",
    "in order",
    "missing",
    "left join",
)
_AGGREGATES = ("aggregate", "in order")
SQL_FEATURES = ("comparison", "assignment", "negation", "nested", "aggregate", "missing")


@dataclass
class BodyDrawer:
    """Draws the literals of one body. `positive` relations may be read; `complete` ones may be
    negated and aggregated as well.

    `recursive`: without functors on strings, and nested bodies bind all variables they mention,
    since the engine computes both in strata of their own, which cannot read the relation being
    defined.
    """

    draw: Draw
    positive: Sequence[Spec]
    complete: Sequence[Spec]
    features: Sequence[str] = FEATURES
    bound: Typed = field(default_factory=dict)
    recursive: bool = False
    nested: bool = False
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def body(self, max_atoms: int = 3, max_extras: int = 2) -> tree.Body:
        """One to `max_atoms` atoms, then other literals over what they bind, all shuffled."""
        literals: list[tree.Literal] = [
            self.atom(self.positive, NAMES) for _ in range(self.draw(st.integers(1, max_atoms)))
        ]
        for _ in range(self.draw(st.integers(0, max_extras))):
            literals += self._extra(pick(self.draw, self.features))
        return tree.Body(tuple(self.draw(st.permutations(literals))))

    def atom(self, specs: Sequence[Spec], names: Mapping[str, tuple[str, ...]]) -> tree.Atom:
        """A positive atom; its variables are bound from then on."""
        spec = pick(self.draw, specs)
        return spec.atom(
            [self._argument(type_, names[required(type_)], new=True) for type_ in spec.types]
        )

    def _argument(self, type_: str, names: Sequence[str], new: bool) -> tree.Term:
        choices = [*names, *names, *names] if new else of_type(self.bound, optional(type_)) * 2
        kind = pick(self.draw, [*choices, "_", "_", "constant"])
        if kind == "_":
            return tree.Wildcard()
        if kind == "constant":
            return tree.Constant(self.draw(constants(type_)))
        if new and self.bound.get(kind) != required(type_):
            self.bound[kind] = type_
        return tree.Variable(kind)

    def _extra(self, feature: str) -> list[tree.Literal]:
        match feature:
            case "comparison":
                return (
                    [comparison(self.draw, self.bound, functors=not self.recursive)]
                    if self.bound
                    else []
                )
            case "assignment":
                return [self._assignment()]
            case "negation":
                spec = pick(self.draw, self.complete)
                terms = [self._argument(each, (), new=False) for each in spec.types]
                return [tree.Negation(tree.Body((spec.atom(terms),)))]
            case "missing":
                names = [name for name, type_ in self.bound.items() if type_ in NULLED]
                if not names:
                    return []
                name = tree.Variable(pick(self.draw, names))
                test = tree.Comparison("is_null", name, name)
                return [pick(self.draw, [test, tree.Negation(tree.Body((test,)))])]
            case "left join":
                return [self._left_join()]
            case "nested":
                return [tree.Negation(self._inner(least=2)[0])]
            case "disjunction":
                return [self._disjunction()]
            case "aggregate":
                return [self._aggregate()]
            case "in order":
                return [self._in_order()]
        raise AssertionError(feature)

    def _assignment(self) -> tree.Comparison:
        type_ = pick(self.draw, ["int", "int", "str", "float", "date", COST])
        if "disjunction" not in self.features:
            type_ = "int"
        value = expression(self.draw, self.bound, optional(type_))
        name = self._name({"int": "n", "str": "o", "float": "l", "date": "nd", COST: "nc"}[type_])
        self.bound[name] = type_
        return tree.Comparison("=", tree.Variable(name), value)

    def _name(self, base: str) -> str:
        """A name for something computed; in nested bodies always a new one, so that no other body
        means the same variable by it.
        """
        return f"{base}{next(self.numbers)}" if self.nested else base

    def _inner(
        self,
        names: Mapping[str, tuple[str, ...]] = LOCAL,
        least: int = 1,
        features: Sequence[str] | None = None,
    ) -> tuple[tree.Body, Typed]:
        """A nested body over bound variables and ones of its own, and what is bound inside it; now
        and then with a body nested in it.

        One atom alone under a negation must not have variables of its own, so there `least` is 2.
        """
        features = self.features if features is None else features
        inner = BodyDrawer(
            self.draw,
            self.complete,
            self.complete,
            features,
            dict(self.bound),
            nested=True,
            numbers=self.numbers,
        )
        mixed = {type_: (*names[type_], *of_type(self.bound, optional(type_))) for type_ in names}
        literals: list[tree.Literal] = [
            inner.atom(self.complete, mixed) for _ in range(self.draw(st.integers(least, 2)))
        ]
        own = (
            {name: inner.bound[name] for name in direct(literals)}
            if self.recursive
            else inner.bound
        )
        if own and self.draw(st.booleans()):
            literals.append(comparison(self.draw, own, computed=False))
        if not self.nested and not self.recursive and not self.draw(st.integers(0, 3)):
            literals += inner._extra(pick(self.draw, features))
        return tree.Body(tuple(literals)), inner.bound

    def _disjunction(self) -> tree.Disjunction:
        """Branches that all bind one variable, or none; each may have variables of its own.

        Names of its own that all branches happen to bind belong to the body around it, so every
        disjunction has other ones.
        """
        number = next(self.numbers)
        shared = pick(self.draw, [self._name("w"), None])
        branches = [self._branch(shared, number) for _ in range(self.draw(st.integers(2, 3)))]
        if shared:
            read = {type_ for spec in (*self.positive, *self.complete) for type_ in spec.types}
            self.bound[shared] = "int" if NULLED.isdisjoint(read) else "int?"
        return tree.Disjunction(tuple(branches))

    def _left_join(self) -> tree.Disjunction:
        """A group `( … )?` that binds a variable of its own, as the disjunction that it is."""
        number = next(self.numbers)
        names = {type_: (f"{each[0]}{number}",) for type_, each in LOCAL.items()}
        drawer = BodyDrawer(
            self.draw, self.complete, self.complete, (), dict(self.bound), nested=True
        )
        own = pick(self.draw, [each for each in self.complete if each.types])
        args: list[tree.Term] = []
        for place, type_ in enumerate(own.types):
            known = of_type(self.bound, optional(type_))
            if place and known and self.draw(st.booleans()):
                args.append(tree.Variable(pick(self.draw, known)))
            else:
                args.append(drawer._argument(type_, names[required(type_)], new=True))
        first = names[required(own.types[0])][0]
        args[0] = tree.Variable(first)
        drawer.bound[first] = own.types[0]
        literals: list[tree.Literal] = [own.atom(args)]
        if self.draw(st.booleans()):
            literals.append(comparison(self.draw, {first: own.types[0]}, computed=False))
        new = {name: type_ for name, type_ in drawer.bound.items() if name not in self.bound}
        self.bound |= {name: optional(type_) for name, type_ in new.items()}
        matching = tuple(literals)
        absent = renamed(matching, {name: f"{name}_" for name in new})
        missing = [tree.Comparison("is_null", tree.Variable(n), tree.Variable(n)) for n in new]
        other = tree.Body((tree.Negation(tree.Body(absent), nested=len(absent) == 1), *missing))
        return tree.Disjunction((tree.Body(matching), other))

    def _branch(self, shared: str | None, number: int) -> tree.Body:
        body, inside = self._inner(
            {type_: tuple(f"{name}{number}" for name in names) for type_, names in LOCAL.items()}
        )
        literals = list(body.literals)
        if shared and self.draw(st.booleans()):
            spec = pick(
                self.draw,
                [each for each in self.positive if {"int", "int?"}.intersection(each.types)],
            )
            place = next(n for n, type_ in enumerate(spec.types) if required(type_) == "int")
            args: list[tree.Term] = [
                tree.Variable(shared) if column == place else tree.Wildcard()
                for column in range(len(spec.types))
            ]
            literals.append(spec.atom(args))
        elif shared:
            literals.append(
                tree.Comparison(
                    "=",
                    tree.Variable(shared),
                    expression(self.draw, inside, "int?", not self.recursive),
                )
            )
        return tree.Body(tuple(literals))

    def _aggregate(self) -> tree.Comparison:
        """`m = sum x : { … }` and the like, or a comparison of the result with a variable that
        others bind.
        """
        body, inside = self._inner(
            features=[each for each in self.features if each not in _AGGREGATES]
        )
        own = sorted(name for name in inside if name not in self.bound)
        function = pick(self.draw, ["count", "sum", "min", "max", "mean", "stddev", "any"])
        targets = [
            name
            for name in own
            if function in ("min", "max")
            or (
                required(inside[name]) == "bool"
                if function == "any"
                else function == "count" or required(inside[name]) in ("int", "float", COST)
            )
        ]
        function = function if targets else "count"
        if function == "count":
            names = targets if self.draw(st.booleans()) else []
            target, type_ = tuple(tree.Variable(each) for each in names[:1]), "int"
        else:
            name = pick(self.draw, targets)
            float_ = like(inside[name], "float")
            target, type_ = (
                (tree.Variable(name),),
                float_ if function in ("mean", "stddev") else inside[name],
            )
        return self._compared(tree.Aggregate(function, target, body), type_)

    def _in_order(self) -> tree.Comparison:
        """`m = last(x, y) : { … }` and the like."""
        body, inside = self._inner(
            features=[each for each in self.features if each not in _AGGREGATES]
        )
        own = {name: type_ for name, type_ in inside.items() if name not in self.bound}
        function = pick(self.draw, IN_ORDER)
        targets = sorted(name for name, type_ in own.items() if result_type(function, type_))
        if not targets:
            return self._compared(tree.Aggregate("count", (), body), "int")
        name = pick(self.draw, targets)
        args = tree.Variable(name), *more_arguments(self.draw, function, own)
        type_ = result_type(function, own[name])
        assert type_ is not None
        if function != "count_distinct" and any(
            inside.get(term.name) in NULLED for term in args if isinstance(term, tree.Variable)
        ):
            type_ = optional(type_)
        return self._compared(tree.Aggregate(function, args, body), type_)

    def _compared(self, found: tree.Aggregate, type_: str) -> tree.Comparison:
        known = of_type(self.bound, optional(type_))
        if known and not self.draw(st.integers(0, 2)):
            operators = ["=", "!="] if required(type_) == "bool" else ["=", "<=", "!="]
            return tree.Comparison(
                pick(self.draw, operators), tree.Variable(pick(self.draw, known)), found
            )
        result = self._name(RESULTS[required(type_)])
        self.bound[result] = type_
        return tree.Comparison("=", tree.Variable(result), found)
