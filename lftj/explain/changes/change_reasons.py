# SPDX-License-Identifier: Apache-2.0
"""Base facts behind a change of one row: what of a proof is new, or broken, and why.

A body with its variables replaced is asked of both versions. Of the assignments that one of them
has alone, atoms lead to rows that came or went, negations to the same question the other way round,
aggregates to the assignments of their groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from lftj.engine.live import answer
from lftj.engine.versions import State
from lftj.errors import ExplanationError, LftjError, LimitError
from lftj.explain.derivations.literals import rows_with
from lftj.explain.derivations.version import Version
from lftj.explain.present.explain import explain, reads_of, relations_below
from lftj.proofs import (
    Absent,
    BaseChange,
    Group,
    Part,
    Premise,
    Proof,
    Reason,
    Row,
    Step,
    aggregates_of,
    assignments_of,
    atom_text,
    direct,
    instance,
    mentioned,
    value_of,
)
from lftj.syntax import below, has_aggregates, tree

if TYPE_CHECKING:
    from lftj.engine.live import Engine

_DEEPEST = 8
"""Bodies one below the other that are followed to base facts."""
Values = tuple[tuple[str, Any], ...]
Kind = TypeVar("Kind", tree.Negation, tree.Aggregate)


class ChangeReasons:
    """Two versions, and what differs between them; of each thing `rows` are named."""

    def __init__(self, engine: Engine, before: State, after: State, rows: int):
        self._engine, self._rows = engine, rows
        self._before, self._after = before, after
        self._versions = {id(state): Version(engine, state) for state in (before, after)}
        self._rules = {
            id(state): {str(source.rule): source.rule for source in state.program.sources.values()}
            for state in (before, after)
        }
        self._followed: dict[tuple[str, Row], tuple[BaseChange, ...]] = {}

    def has(self, state: State, relation: str, row: Row) -> bool:
        """True where a version has a row."""
        if relation not in state.program.catalog.relations:
            return False
        version = self._versions[id(state)]
        return version.has(relation, [version.goal(relation, row).row])[0]

    def reasons(self, proof: Proof, sign: int, depth: int = 0) -> list[Reason]:
        """List what is new of a proof of the version after (`sign` +1), or broken of one before:
        its base facts, rules and negations that do not hold in the other version. Then the group of
        its row, and rows that stand there in its place; of further groups, where nothing else is
        found.
        """
        if not depth:
            self._followed.clear()
        have, lack = self._sides(sign)
        found: list[Reason] = []
        for number, step in enumerate(proof.steps):
            if step.rule is None:
                if not self._is_base(lack, step.relation, step.row):
                    change = BaseChange(sign, step.relation, step.row)
                    found.append(Reason(number, str(change), (change,)))
            elif step.rule not in self._rules[id(lack)]:
                verb = "added" if sign > 0 else "removed"
                found.append(Reason(number, f"rule {verb}: {step.rule}"))
            for negation in self._conditions(step, have, tree.Negation):
                found += self._of_negation(number, negation, sign, depth)
        last = len(proof.steps) - 1
        for others in (
            self._of_group(proof, last, have, lack, depth),
            self._of_rivals(proof, have, lack, depth),
        ):
            if not found or not depth:
                found += _unnamed(others, found)
        for number in range(last) if not found else ():
            found += self._of_group(proof, number, have, lack, depth)
        return found or list(self._of_choice(proof) if not depth else ())

    def _sides(self, sign: int) -> tuple[State, State]:
        """The version that has what came or went, and the one that lacks it."""
        return (self._after, self._before) if sign > 0 else (self._before, self._after)

    def _is_base(self, state: State, relation: str, row: Row) -> bool:
        if relation not in state.program.catalog.relations:
            return False
        version = self._versions[id(state)]
        return version.is_base(version.goal(relation, row))

    # ── premises ──────────────────────────────────────────────────────────────────────────────────
    def _conditions(self, step: Step, state: State, kind: type[Kind]) -> Iterator[Kind]:
        """The negations or aggregates that a step rests on, with values for the variables that the
        rule binds elsewhere.
        """
        if step.rule is not None:
            rules = self._rules[id(state)]
            yield from _conditions(rules, step.rule, step.premises, dict(step.bindings), kind)

    def _of_negation(
        self, number: int, literal: tree.Negation, sign: int, depth: int
    ) -> Iterator[Reason]:
        """A negation that does not hold in the other version: rows that went, or that came."""
        have, lack = self._sides(-sign)  # of what is negated
        matching = self._gained(literal.body, have, lack)
        if not matching:
            return
        text = ", ".join(", ".join(map(str, each.literals)) for each in matching)
        verb = "went" if sign > 0 else "came"
        changes = self._changes(matching, have, lack, depth)
        if not changes and not depth:
            changes = self._some_below(reads_of(literal.body))
        yield Reason(number, f"{text} {verb}", changes)

    def _of_group(
        self, proof: Proof, number: int, have: State, lack: State, depth: int
    ) -> Iterator[Reason]:
        """The groups of a step, where their assignments differ."""
        changes: dict[BaseChange, None] = {}
        for body in self._groups_of(proof.steps[number], have):
            for one, other in ((have, lack), (lack, have)):
                matching = self._gained(body, one, other)
                changes.update(dict.fromkeys(self._changes(matching, one, other, depth)))
        if changes:
            yield Reason(number, "the group changed", tuple(changes))

    def _of_rivals(self, proof: Proof, have: State, lack: State, depth: int) -> Iterator[Reason]:
        """Rows of the other version that have the place of the row: its group, its choice."""
        version, step = self._versions[id(lack)], proof.steps[-1]
        if step.relation not in lack.program.catalog.relations:
            return
        goal = version.goal(step.relation, step.row)
        for columns in self._places_of(step, have):
            known = {column: goal.row[column] for column in columns}
            for codes in rows_with(version, step.relation, known, self._rows):
                row = version.values(step.relation, codes)
                if changes := self._of_row(step.relation, row, lack, have, depth):
                    verb = "went" if have is self._after else "came"
                    what = f"{atom_text(step.relation, row)} {verb}"
                    yield Reason(len(proof.steps) - 1, what, changes)

    def _places_of(self, step: Step, state: State) -> Iterator[tuple[int, ...]]:
        """Columns of which one version has a row for each value."""
        if step.rule is not None:
            terms = self._rules[id(state)][step.rule].heads[step.head].terms
            plain = [not has_aggregates(term) for term in terms]
            if not all(plain):
                yield tuple(place for place, each in enumerate(plain) if each)
        yield from self._versions[id(state)].schema(step.relation).choice

    def _groups_of(self, step: Step, state: State) -> Iterator[tree.Body]:
        """The bodies whose assignments are the groups of a step."""
        if step.rule is None:
            return
        rule = self._rules[id(state)][step.rule]
        terms = rule.heads[step.head].terms
        if any(map(has_aggregates, terms)):
            known = zip(terms, step.row, strict=True)
            keys = [(term, value) for term, value in known if not has_aggregates(term)]
            yield _group_body(rule.body, dict(step.bindings), keys)
        yield from (each.body for each in self._conditions(step, state, tree.Aggregate))

    def _of_choice(self, proof: Proof) -> Iterator[Reason]:
        """Base facts below a row that was chosen among others, or not."""
        if changes := self._some_below([proof.relation]):
            yield Reason(len(proof.steps) - 1, "another row is chosen", changes)

    # ── bodies ────────────────────────────────────────────────────────────────────────────────────
    def _gained(self, body: tree.Body, have: State, lack: State) -> list[tree.Body]:
        """Some assignments of a body that one version has alone, as bodies with their values."""
        named = _with_names(body)
        missing = self._assignments(named, lack)
        found = [each for each in self._assignments(named, have) if each not in missing]
        return [instance(named, dict(each)) for each in found[: self._rows]]

    def _assignments(self, body: tree.Body, state: State) -> dict[Values, None]:
        """The assignments of a body in a version, in order; none where it cannot be asked."""
        if not set(reads_of(body)) <= state.program.catalog.relations.keys():
            return {}
        try:
            found = answer(self._engine, state, body)
        except LimitError:
            raise
        except LftjError:
            return {}
        if not direct(body.literals):
            return {(): None} if len(found) else {}
        return {tuple(zip(found.columns, row, strict=True)): None for row in found.fetchall()}

    def _changes(
        self, matching: list[tree.Body], have: State, lack: State, depth: int
    ) -> tuple[BaseChange, ...]:
        """The base facts behind assignments that one version has alone."""
        found: dict[BaseChange, None] = {}
        for each in matching if depth < _DEEPEST else ():
            for literal in each.literals:
                found.update(dict.fromkeys(self._of_literal(literal, have, lack, depth)))
        return tuple(found)

    def _of_literal(
        self, literal: tree.Literal, have: State, lack: State, depth: int
    ) -> Iterator[BaseChange]:
        """The base facts behind a literal that holds in one version, and may not in the other."""
        match literal:
            case tree.Atom() if not aggregates_of(literal):
                row = tuple(value_of(term, {}) for term in literal.terms)
                if self.has(have, literal.relation, row):
                    yield from self._of_row(literal.relation, row, have, lack, depth)
            case tree.Negation(body=body):
                yield from self._of_body(body, lack, have, depth)
            case tree.Disjunction(branches=branches):
                for branch in branches:
                    yield from self._of_body(branch, have, lack, depth)
            case _:
                for aggregate in aggregates_of(literal):
                    yield from self._of_body(aggregate.body, have, lack, depth)
                    yield from self._of_body(aggregate.body, lack, have, depth)

    def _of_body(
        self, body: tree.Body, have: State, lack: State, depth: int
    ) -> Iterator[BaseChange]:
        yield from self._changes(self._gained(body, have, lack), have, lack, depth + 1)

    def _of_row(
        self, relation: str, row: Row, have: State, lack: State, depth: int
    ) -> tuple[BaseChange, ...]:
        """The base facts behind a row that one version has alone."""
        if self.has(lack, relation, row):
            return ()
        if (relation, row) in self._followed:
            return self._followed[relation, row]
        self._followed[relation, row] = ()  # while it is
        try:
            proof = explain(self._engine, have, relation, row, self._rows)
        except ExplanationError:  # it rests on itself
            found = self._some_below([relation])
        else:
            sign = 1 if have is self._after else -1
            reasons = self.reasons(proof, sign, depth + 1)
            found = tuple(dict.fromkeys(each for reason in reasons for each in reason.changes))
        self._followed[relation, row] = found
        return found

    def _some_below(self, relations: list[str]) -> tuple[BaseChange, ...]:
        """Some changes of base facts that relations depend on, unless rules changed as well."""
        if self._rules[id(self._before)].keys() != self._rules[id(self._after)].keys():
            return ()
        return tuple(islice(self._below(relations), self._rows))

    def _below(self, relations: list[str]) -> Iterator[BaseChange]:
        """Changes of base facts of all relations that some depend on."""
        states = (self._before, self._after)
        rules = [rule for state in states for rule in self._rules[id(state)].values()]
        for name in sorted(relations_below(rules, relations)):
            if name in self._before.database and name in self._after.database:
                delta = self._after.base(name).difference(self._before.base(name))
                version = self._versions[id(self._after)]
                for sign, rows in ((1, delta.inserts), (-1, delta.erases)):
                    some = (column[: self._rows].tolist() for column in rows)
                    for row in zip(*some, strict=True):
                        codes = row[: version.schema(name).arity]
                        yield BaseChange(sign, name, version.values(name, codes))


def _conditions(
    rules: Mapping[str, tree.Rule],
    rule: str,
    premises: Iterable[Premise],
    env: Mapping[str, Any],
    kind: type[Kind],
) -> Iterator[Kind]:
    """The negations or aggregates of a rule that premises are about, at any depth of branches and
    groups.
    """
    nodes = [node for node in below(rules[rule]) if isinstance(node, kind)] if rule in rules else []
    for premise in premises:
        if isinstance(premise, Absent | Group):
            text = premise.instance if isinstance(premise, Absent) else premise.literal
            instances = (instance(node, env) for node in nodes)
            yield from islice((each for each in instances if str(each) == text), 1)
        part = isinstance(premise, Part)
        inner, outer = (premise.rule, dict(premise.bindings)) if part else (rule, env)
        for each in assignments_of([premise]):
            values = {**outer, **dict(each.bindings)}
            yield from _conditions(rules, inner, each.premises, values, kind)


def _unnamed(reasons: Iterator[Reason], known: list[Reason]) -> list[Reason]:
    """Reasons that name changes which no known one names, with these alone."""
    named = {change for reason in known for change in reason.changes}
    found: list[Reason] = []
    for reason in reasons:
        new = tuple(change for change in reason.changes if change not in named)
        if new:
            named |= set(new)
            found.append(reason._replace(changes=new))
    return found


def _group_body(
    body: tree.Body, env: Mapping[str, Any], keys: Iterable[tuple[tree.Term, Any]]
) -> tree.Body:
    """The body of a group: with values for the variables of `env`, and what is computed of others
    equal to the group's. A variable that is NULL stays, and is tested.
    """
    tests = [
        tree.Comparison("is_null", each, each)
        for each in (tree.Variable(name) for name, value in env.items() if value is None)
    ]
    tests += [
        tree.Comparison("=", term, tree.Constant(value))
        for term, value in keys
        if isinstance(term, tree.Call | tree.Conditional) and value is not None
    ]
    known = {name: value for name, value in env.items() if value is not None}
    return instance(replace(body, literals=(*body.literals, *tests)), known)


def _with_names(body: tree.Body) -> tree.Body:
    """The body with names for the `_` of its own atoms, so that its assignments tell of them."""
    taken = mentioned(body)
    fresh = (name for number in range(1 << 30) if (name := f"any{number}") not in taken)

    def named(term: tree.Term) -> tree.Term:
        return tree.Variable(next(fresh)) if isinstance(term, tree.Wildcard) else term

    return replace(
        body,
        literals=tuple(
            replace(
                each,
                args=tuple(map(named, each.args)),
                value=None if each.value is None else named(each.value),
            )
            if isinstance(each, tree.Atom)
            else each
            for each in body.literals
        ),
    )
