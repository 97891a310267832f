# SPDX-License-Identifier: Apache-2.0
"""One step by a rule: its bindings and premises against the rule's literals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lftj.proofs.aggregates import BEST, fold
from lftj.proofs.computed_heads import aggregates_below, aggregates_of_head, is_computed
from lftj.proofs.instances import aggregates_of, instance, own_names, with_values
from lftj.proofs.kinds import Value, held, kind_of
from lftj.proofs.nested_loops import NONE, BodyPlan, Names, direct
from lftj.proofs.null_places import check_nulls, gives_null, places_in
from lftj.proofs.sides import sides
from lftj.proofs.steps import (
    Absent,
    Assignment,
    Bindings,
    Branch,
    Chosen,
    Follows,
    Group,
    Holds,
    Part,
    Premise,
    Row,
    Step,
)
from lftj.proofs.sums import added
from lftj.proofs.terms import Env, value_of
from lftj.proofs.world import World, Wrong, check_chosen
from lftj.syntax import tree


def same(left: Value, right: Value) -> bool:
    """Equality of values of one type: true is not 1."""
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def same_rows(left: Row, right: Row) -> bool:
    """Equality of rows, value by value."""
    return len(left) == len(right) and all(map(same, left, right))


class AssignmentChecker:
    """A rule with one of its heads."""

    def __init__(self, world: World, steps: Sequence[Step], rule: tree.Rule, head: int):
        self._world, self._steps = world, steps
        self._rule, self._number = rule, head
        self._head = rule.heads[head]

    def check(
        self, row: Row, bindings: Bindings, premises: Sequence[Premise]
    ) -> tuple[Premise, ...]:
        """Check that the rule derives the row so; the premises that are left. Raises Wrong."""
        env = self._env(bindings, {}, self._rule.body, self._head.terms)
        waiting = iter(premises)
        if premises and isinstance(premises[0], Part):
            self._added(row, [each for each in premises if isinstance(each, Part)])
            return tuple(each for each in premises if not isinstance(each, Part))
        if any(map(aggregates_below, self._head.terms)):
            self._aggregated(row, env, waiting)
        else:
            self._body(self._rule.body, env, waiting)
            values = self._gathered(self._head.terms, env, waiting)
            terms = with_values(self._head, values).terms
            derived = tuple(value_of(term, env) for term in terms)
            if not same_rows(row, derived):
                raise Wrong(f"its rule derives {derived}")
            if self._head.relation in self._world.sums:
                column, function = self._world.sums[self._head.relation]
                if not same(fold(function, [(row[column],)], self._world.users), row[column]):
                    raise Wrong("it adds another value than it has")
                self._alone(row, 1)
        return tuple(waiting)

    def _env(
        self, bindings: Bindings, outer: Env, body: tree.Body, terms: object = ()
    ) -> dict[str, Value]:
        names = [name for name, _ in bindings]
        own = direct(body.literals) | direct([tree.Atom("", terms)] if terms else [])  # type: ignore[arg-type]
        if len(set(names)) < len(names) or outer.keys() & set(names) or not set(names) <= own:
            raise Wrong("its bindings are of other variables than the rule has")
        return {**outer, **dict(bindings)}

    # ── bodies ────────────────────────────────────────────────────────────────────────────────────
    def _body(
        self, body: tree.Body, env: Env, premises: Iterator[Premise], around: Names = NONE
    ) -> None:
        check_nulls(body.literals, env, around)
        for place, literal in enumerate(body.literals):
            values = self._gathered(literal, env, premises)
            if isinstance(literal, tree.Disjunction):
                others = (*body.literals[:place], *body.literals[place + 1 :])
                self._disjunction(literal, env, _next(premises), around | places_in(others).keys())
            else:
                self._literal(literal, env, values, _next(premises))

    def _assignment(
        self, body: tree.Body, env: Env, premises: Iterable[Premise], around: Names
    ) -> None:
        waiting = iter(premises)
        self._body(body, env, waiting, around)
        if next(waiting, None) is not None:
            raise Wrong("it has more premises than literals")

    def _literal(
        self, literal: tree.Literal, env: Env, values: list[Value], premise: Premise
    ) -> None:
        if isinstance(literal, tree.Choice):
            self._choice(literal, env, premise)
            return
        _check_subject(literal, premise)
        match literal:
            case tree.Atom():
                self._atom(literal, env, values, premise)
            case tree.Negation():
                self._negation(literal, env, premise)
            case _:
                self._test(literal, env, values, premise)

    def _atom(self, atom: tree.Atom, env: Env, values: list[Value], premise: Premise) -> None:
        if not isinstance(premise, Follows):
            raise Wrong(f"nothing derives {atom}")
        step, terms = self._steps[premise.step], with_values(atom, values).terms
        if step.relation != atom.relation or len(step.row) != len(terms):
            raise Wrong(f"the premise for {atom} is a row of {step.relation}")
        for term, value in zip(terms, step.row, strict=True):
            if isinstance(term, tree.Wildcard):
                continue
            missing = value is None and not isinstance(term, tree.Variable)
            if missing or not same(value_of(term, env), value):
                raise Wrong(f"the premise for {atom} is {step.row}")

    def _negation(self, literal: tree.Negation, env: Env, premise: Premise) -> None:
        if not isinstance(premise, Absent) or premise.instance != str(instance(literal, env)):
            raise Wrong(f"another row is said to be absent than that of {literal}")
        if not self._satisfied(literal, env):
            raise Wrong(f"{premise.instance} does not hold")

    def _disjunction(
        self, literal: tree.Disjunction, env: Env, premise: Premise, around: Names
    ) -> None:
        _check_subject(literal, premise)
        if not isinstance(premise, Branch) or not 0 <= premise.number < len(literal.branches):
            raise Wrong(f"no branch of {literal} holds")
        branch, holds = literal.branches[premise.number], premise.holds
        self._assignment(branch, self._env(holds.bindings, env, branch), holds.premises, around)

    def _test(self, literal: tree.Literal, env: Env, values: list[Value], premise: Premise) -> None:
        if not isinstance(premise, Holds) or premise.instance != str(instance(literal, env)):
            raise Wrong(f"it holds something else than {literal}")
        plain = with_values(literal, values)
        if not gives_null(literal, values, env) and not self._satisfied(plain, env):
            raise Wrong(f"{premise.instance} does not hold")
        if not same_rows(premise.values, sides(plain, env)):
            raise Wrong(f"the sides of {literal} have other values")

    def _satisfied(self, literal: tree.Literal, env: Env) -> bool:
        names = frozenset(env)
        # only what negates needs relations, so a proof without negation evaluates none
        facts = self._world.relations if isinstance(literal, tree.Negation) else {}
        plan = BodyPlan(tree.Body((literal,)), facts, self._world.users, names, names)
        return bool(plan.solve(env))

    # ── choices ───────────────────────────────────────────────────────────────────────────────────
    def _choice(self, literal: tree.Choice, env: Env, premise: Premise) -> None:
        plain, hidden = self._world.plain[str(self._rule)]
        atom = plain.body.literals[-1]
        assert isinstance(atom, tree.Atom)
        row = tuple(value_of(term, env) for term in atom.terms)
        if row not in self._world.relations[hidden]:
            raise Wrong(f"{literal} chose otherwise")
        rest = tree.Body(plain.body.literals[:-1])
        solved = BodyPlan(rest, self._world.relations, self._world.users).solve({})
        domain = [(str(term), value_of(term, env)) for term in literal.determining]
        alike = {
            tuple(value_of(term, each) for term in atom.terms)
            for each in solved
            if all(value_of(term, each) == value_of(term, env) for term in literal.determining)
        }
        check_chosen(premise, domain, alike, row)

    # ── aggregates ────────────────────────────────────────────────────────────────────────────────
    def _gathered(self, node: object, env: Env, premises: Iterator[Premise]) -> list[Value]:
        """The values of the aggregates of a literal or term, each checked against a premise."""
        return [self._inner(each, env, _next(premises)) for each in aggregates_of(node)]

    def _inner(self, aggregate: tree.Aggregate, env: Env, premise: Premise) -> Value:
        if not isinstance(premise, Group) or premise.literal != str(instance(aggregate, env)):
            raise Wrong(f"it says nothing of {aggregate}")
        own = own_names(aggregate)
        outer = {name: value for name, value in env.items() if name not in own}
        names = frozenset(outer)
        plan = BodyPlan(aggregate.body, self._world.relations, self._world.users, names, names)
        envs = plan.solve(outer)
        result = tree.Variable("#result")
        test = tree.Body((tree.Comparison("=", result, aggregate),))
        folded = BodyPlan(test, self._world.relations, self._world.users, frozenset(env)).solve(env)
        if not folded or not same(folded[0][result.name], premise.value):
            raise Wrong(f"the value of {premise.literal} is another one")
        self._group(aggregate.function, aggregate.args, aggregate.body, outer, envs, premise, names)
        return premise.value

    def _aggregated(self, row: Row, env: dict[str, Value], premises: Iterator[Premise]) -> None:
        head = self._world.head(self._rule, self._number)
        given = [
            (term, row[place])
            for place, term in enumerate(self._head.terms)
            if not aggregates_below(term)
        ]
        if self._head.relation in self._world.sums:
            self._alone(row)
        if not any(same_rows(row, each) for each in self._world.relations[self._head.relation]):
            raise Wrong("the group comes to another value")
        key = tuple(value for _, value in given)
        envs = head.groups().get(key, [])
        values = {str(term): value for term, value in zip(self._head.terms, row, strict=True)}
        if computed := is_computed(self._head):
            derived = head.of(key, envs)
            if not any(same_rows(row, each) for each in derived):
                raise Wrong(f"its rule derives {derived}")
        for term in aggregates_of_head(self._head):
            premise = _next(premises)
            if not isinstance(premise, Group) or premise.literal != str(term):
                raise Wrong(f"it says nothing of {term}")
            value = held(head.value(term, envs), kind_of(term)) if computed else values[str(term)]
            if not same(premise.value, value):
                raise Wrong(f"the value of {term} is another one")
            self._group(term.function, term.args, self._rule.body, env, envs, premise, keys=given)

    def _contributing(self, row: Row) -> list[tuple[tree.Rule, int, list[Env]]]:
        """The rules, each with the number of its head, that add to a row, with what they add."""
        column = self._world.sums[self._head.relation].column
        key = (*row[:column], *row[column + 1 :])
        found: list[tuple[tree.Rule, int, list[Env]]] = []
        for rule in self._world.rules.values():
            for number, head in enumerate(rule.heads):
                if head.relation == self._head.relation:
                    envs = self._world.head(rule, number).of_group(key, column)
                    if envs:
                        found.append((rule, number, envs))
        return found

    def _alone(self, row: Row, most: int | None = None) -> None:
        """Check that no other rule adds to a row, and this one in so many assignments at most."""
        found = self._contributing(row)
        if len(found) > 1 or (most is not None and any(len(envs) > most for *_, envs in found)):
            raise Wrong("more is added to it")

    def _added(self, row: Row, parts: Sequence[Part]) -> None:
        """Check that these rules, and no others, add up to a row."""
        if self._head.relation not in self._world.sums:
            raise Wrong("its rules do not add up")
        column, function = self._world.sums[self._head.relation]
        wanted = self._contributing(row)
        if [(each.rule, each.head) for each in parts] != [(str(r), n) for r, n, _ in wanted]:
            raise Wrong("other rules add up to it")
        if (str(self._rule), self._number) != (parts[0].rule, parts[0].head):
            raise Wrong("its rule is not the first of those that add up")
        total: list[Row] = []
        for part, (rule, number, envs) in zip(parts, wanted, strict=True):
            checker = AssignmentChecker(self._world, self._steps, rule, number)
            total += checker.part(row, part, envs)
        if not same(fold(function, total, self._world.users), row[column]):
            raise Wrong("what its rules add is another sum")
        if not any(same_rows(row, each) for each in self._world.relations[self._head.relation]):
            raise Wrong("the group comes to another value")

    def part(self, row: Row, part: Part, envs: list[Env]) -> list[Row]:
        """Check what this rule adds to a row, in all of these assignments; what each of them
        adds.
        """
        column, function = self._world.sums[self._head.relation]
        keys = [(each, row[at]) for at, each in enumerate(self._head.terms) if at != column]
        env = self._env(part.bindings, {}, self._rule.body, tuple(each for each, _ in keys))
        term = self._head.terms[column]
        args = term.args if isinstance(term, tree.HeadAggregate) else (term,)
        group = Group(part.rule, part.value, part.size, part.shown)
        counts = function == "sum" and not args
        function_shown = "count" if counts else function
        self._group(function_shown, args, self._rule.body, env, envs, group, keys=keys)
        found = [added(term, each) for each in envs]
        if not same(fold(function, found, self._world.users), part.value):
            raise Wrong(f"{part.rule} adds another value")
        return found

    def _group(
        self,
        function: str,
        args: tuple[tree.Term, ...],
        body: tree.Body,
        outer: Env,
        envs: Sequence[Env],
        group: Group,
        around: Names = NONE,
        keys: Sequence[tuple[tree.Term, Value]] = (),
    ) -> None:
        """Check the size of a group, and that the assignments shown are of it, and matter most.
        `around`: the variables of `outer` that another body binds; `keys`: the terms that tell the
        group, of which a computed one may have its value by others in each assignment.
        """
        if group.size != len(envs):
            raise Wrong(f"the group of {group.literal} has {len(envs)} assignments")
        if len(set(group.shown)) < len(group.shown) or len(group.shown) > group.size:
            raise Wrong(f"{group.literal} shows an assignment twice")
        weights = []
        for each in group.shown:
            env = self._env(each.bindings, outer, body)
            for term, value in keys:
                if not same(value_of(term, env), value):
                    raise Wrong(f"{term} has another value")
            self._assignment(body, env, each.premises, around)
            weights += [value_of(arg, env) for arg in args[:1]]
        best = all(same(each, group.value) for each in weights)
        if function in BEST and not best:
            raise Wrong(f"{group.literal} shows what does not attain its value")
        if function == "sum":
            values = [value_of(args[0], each) for each in envs]
            largest = sorted((abs(each) for each in values if each is not None), reverse=True)
            sizes = [each if each is None else abs(each) for each in weights]
            if sizes != (largest or [None] * len(weights))[: len(weights)]:
                raise Wrong(f"{group.literal} does not show the largest contributors")


def _check_subject(literal: tree.Literal, premise: Premise) -> None:
    if isinstance(premise, Chosen | Group | Part) or premise.literal != str(literal):
        raise Wrong(f"a premise is not about {literal}")


def _next(premises: Iterator[Premise]) -> Premise:
    if (premise := next(premises, None)) is None:
        raise Wrong("it has fewer premises than its rule has literals")
    return premise


__all__ = ["Assignment", "AssignmentChecker", "Wrong", "same", "same_rows"]
