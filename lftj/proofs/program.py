# SPDX-License-Identifier: Apache-2.0
"""Whole programs: strata by counting what a relation depends on, each run to its fixpoint by
evaluating every rule again and again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from lftj.proofs.aggregates import BEST, NOTHING, UserFold, fold
from lftj.proofs.choice import HIDDEN, accepted, choice_domains, with_relations_for_choices
from lftj.proofs.computed_heads import ComputedHead, aggregates_below, is_computed
from lftj.proofs.inference import NO_FUNCTIONS, kinds_of_columns, typed
from lftj.proofs.kinds import OfUsers, Value, held
from lftj.proofs.nested_loops import BodyPlan
from lftj.proofs.sums import Sum, summed, sums_of, with_names
from lftj.proofs.terms import Env, value_of
from lftj.syntax import tree

Row = tuple[Value, ...]


class NotStratified(ValueError):
    """Negation or an aggregate inside a cycle."""


class FunctionConflict(ValueError):
    """Two rows of a function or a keyed relation agree on the key and differ in the rest."""


def reads(node: object, strict: bool = False) -> set[tuple[str, bool]]:
    """The relations a body reads, each with whether it must be complete before (under negation or
    an aggregate).
    """
    if isinstance(node, tree.Atom):
        return {(node.relation, strict), *reads(node.terms, strict)}
    if isinstance(node, tuple):
        return {found for each in node for found in reads(each, strict)}
    if isinstance(node, tree.Negation | tree.Aggregate):
        strict = True
    return reads(tuple(vars(node).values()), strict) if isinstance(node, tree.Node) else set()


def extremes(rules: list[tree.Rule]) -> dict[str, tuple[int, str]]:
    """Column and function of the relations whose every head takes one `min`, `max` or `any`, the
    same in the same column.
    """
    found: dict[str, set[tuple[tuple[int, str], ...]]] = {}
    for head in (head for rule in rules for head in rule.heads):
        computed = is_computed(head)
        calls = tuple(
            (column, term.function)
            for column, term in enumerate(head.terms)
            if isinstance(term, tree.HeadAggregate) and not computed
        )
        found.setdefault(head.relation, set()).add(calls)
    single = {name: calls.pop() for name, calls in found.items() if len(calls) == 1}
    return {
        name: calls[0] for name, calls in single.items() if len(calls) == 1 and calls[0][1] in BEST
    }


def levels(rules: list[tree.Rule]) -> dict[str, int]:
    """Count the relations that each depends on: those of one cycle agree, and what one needs
    outside it has less. Raises NotStratified.

    A relation that takes a `min` or `max` may stand in a cycle; what uses the values there is
    trusted to be monotone.
    """
    inside, sums = extremes(rules), sums_of(rules)
    edges = set()
    for rule in rules:
        for head in rule.heads:
            aggregated = is_computed(head) or (
                head.relation not in {*inside, *sums}
                and any(isinstance(term, tree.HeadAggregate) for term in head.terms)
            )
            edges |= {
                (head.relation, read, strict)
                for read, strict in reads((rule.body, head.terms), aggregated)
            }
    names = {name for edge in edges for name in edge[:2]} | {
        head.relation for rule in rules for head in rule.heads
    }
    needs = {name: {name} for name in names}
    for _ in names:
        for head, read, _ in edges:
            needs[head] |= needs[read]
    if any(
        head in needs[read] and (strict or (head in sums and read not in sums))
        for head, read, strict in edges
    ):
        raise NotStratified("a relation depends on itself through negation or an aggregate")
    return {name: len(needed) for name, needed in needs.items()}


def only_best(rows: set[Row], column: int, function: str) -> set[Row]:
    """Keep, of rows that differ in this column alone, the one with the least or the greatest value
    there.
    """
    best: dict[Row, Row] = {}

    def rank(row: Row) -> tuple[bool, Value]:
        missing = row[column] is None
        return missing == (function == "min"), 0 if missing else row[column]

    for row in sorted(rows, key=rank, reverse=function != "min"):
        best.setdefault((*row[:column], *row[column + 1 :]), row)
    return set(best.values())


def _adding_up(heads: list[HeadRule], sums: Mapping[str, Sum]) -> set[str]:
    """The relations of one level that add up what several rules find, or what they have found."""
    times = Counter(each.head.relation for each in heads)
    return {
        name
        for each in heads
        if (name := each.head.relation) in sums
        if times[name] > 1 or any(read in times for read, _ in reads(each.body))
    }


class HeadRule:
    """One head of one rule: from the assignments of the body to rows."""

    def __init__(
        self,
        head: tree.Atom,
        rule: tree.Rule,
        facts: Mapping[str, set[Row]],
        users: Mapping[str, UserFold],
    ):
        self.head, self.users, self.body = head, users, rule.body.literals
        names = tuple(tree.Variable(f"#head{column}") for column in range(len(head.terms)))
        extra = [
            tree.Comparison("=", n, t)
            for n, t in zip(names, head.terms, strict=True)
            if not aggregates_below(t)
        ]
        self.terms = tuple(
            t if aggregates_below(t) else n for n, t in zip(names, head.terms, strict=True)
        )
        self.plan = BodyPlan(tree.Body((*rule.body.literals, *extra)), facts, users)
        self._computed = ComputedHead(head, facts, users) if is_computed(head) else None

    def rows(self) -> set[Row]:
        """All head rows that the present facts give."""
        found = {row for key, envs in self.groups().items() for row in self.of(key, envs)}
        return {row for row in found if NOTHING not in row}

    def of(self, key: Row, envs: list[Env]) -> list[Row]:
        """The rows of a group with these assignments: one, but where it has no value."""
        if self._computed is None:
            return [self._row(key, envs)]
        values = [self.value(each, envs) for each in self._computed.aggregates]
        return [] if NOTHING in values else self._computed.rows(key, values)

    def value(self, aggregate: tree.HeadAggregate, envs: list[Env]) -> Value:
        """The value of an aggregate over some assignments."""
        rows = [tuple(value_of(arg, env) for arg in aggregate.args) for env in envs]
        return fold(aggregate.function, rows, self.users)

    def groups(self) -> dict[Row, list[Env]]:
        """The assignments of the body by the values of the head's columns that are not
        aggregated.
        """
        groups: dict[Row, list[Env]] = {}
        for env in self.plan.solve({}):
            key = tuple(
                value_of(term, env) for term in self.terms if isinstance(term, tree.Variable)
            )
            groups.setdefault(key, []).append(env)
        return groups

    def of_group(self, key: Row, column: int) -> list[Env]:
        """The assignments of the body with these values of the head's columns but one."""
        terms = [term for place, term in enumerate(self.terms) if place != column]
        return [
            env
            for env in self.plan.solve({})
            if tuple(value_of(term, env) for term in terms) == key
        ]

    def _row(self, key: Row, envs: list[Env]) -> Row:
        plain = iter(key)
        return tuple(
            self.value(term, envs) if isinstance(term, tree.HeadAggregate) else next(plain)
            for term in self.terms
        )


def check_keys(relations: Mapping[str, set[Row]], keys: Mapping[str, tuple[int, ...]]) -> None:
    """Raise FunctionConflict where a key has two rows."""
    for name, columns in keys.items():
        if len({tuple(row[column] for column in columns) for row in relations.get(name, ())}) < len(
            relations.get(name, ())
        ):
            raise FunctionConflict(name)


def evaluate(
    program: tree.ParsedProgram | Iterable[tree.Clause],
    facts: Mapping[str, Iterable[Row]],
    *,
    keys: Mapping[str, tuple[int, ...]] | None = None,
    users: Mapping[str, UserFold] | None = None,
    functions: OfUsers = NO_FUNCTIONS,
    hidden: bool = False,
) -> dict[str, set[Row]]:
    """All relations, given and derived. `keys` holds key columns beside those of functions that the
    program declares. `functions`: those of users, by name. `hidden`: with the relations that
    choices of clauses have.

    Raises ArithmeticFailure, FunctionConflict, NotStratified.
    """
    clauses = with_relations_for_choices(
        typed(program.clauses if isinstance(program, tree.ParsedProgram) else program, functions)
    )
    rules = [clause for clause in clauses if isinstance(clause, tree.Rule)]
    declared = {clause.name: clause for clause in clauses if isinstance(clause, tree.Declaration)}
    kinds = kinds_of_columns(clauses)
    all_keys = {
        name: key for name, each in declared.items() if (key := _key(each)) is not None
    } | dict(keys or {})

    def stored(name: str, row: Row) -> Row:
        known = kinds.get(name, [None] * len(row))
        return tuple(held(value, kind) for value, kind in zip(row, known, strict=True))

    domains = choice_domains(declared.values())
    level, inside = dict.fromkeys(domains, 0) | levels(rules), extremes(rules)
    relations: dict[str, set[Row]] = {name: set() for name in [*declared, *level]}
    relations |= {name: {stored(name, row) for row in rows} for name, rows in facts.items()}
    sums = sums_of(rules)
    heads = [
        (level[head.relation], HeadRule(head, with_names(rule, sums), relations, users or {}))
        for rule in rules
        for head in rule.heads
    ]
    for stratum in sorted(set(level.values())):
        now = [rule for number, rule in heads if number == stratum]
        members = _adding_up(now, sums)
        if members:
            adding = [rule for rule in now if rule.head.relation in members]
            now = [rule for rule in now if rule.head.relation not in members]
            mine = {name: sums[name] for name in members}
            summed(adding, mine, relations, users or {}, stored)
        others = [name for name, at in level.items() if at == stratum and name not in members]
        given = {(name, row) for name in others for row in relations[name]}
        relations |= {name: set() for name in others}
        while True:
            derived = given | {
                (rule.head.relation, stored(rule.head.relation, row))
                for rule in now
                for row in rule.rows()
            }
            before = {name: set(relations[name]) for name, _ in derived}
            for name, row in accepted(
                [each for each in derived if each[1] not in relations[each[0]]], relations, domains
            ):
                relations[name].add(row)
            for name in before.keys() & inside.keys():
                best = only_best(relations[name], *inside[name])
                relations[name].clear()
                relations[name].update(best)
            if all(relations[name] == rows for name, rows in before.items()):
                break
    check_keys(relations, all_keys)
    return {name: rows for name, rows in relations.items() if hidden or not name.startswith(HIDDEN)}


def _key(declaration: tree.Declaration) -> tuple[int, ...] | None:
    """Positions of the columns that determine a row; None where there is no key."""
    if declaration.functional:
        return tuple(range(len(declaration.columns) - 1))
    names = [column.name for column in declaration.columns]
    return None if declaration.key is None else tuple(map(names.index, declaration.key))
