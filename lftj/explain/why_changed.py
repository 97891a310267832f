"""Explaining why a row came or went by a commit: `tx.explain_change(…)`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from lftj.engine.answer import answer
from lftj.engine.commit import Proposal, carry_out
from lftj.engine.limits import short_of_memory
from lftj.engine.question import question_body
from lftj.engine.state import State
from lftj.errors import ExplanationError
from lftj.explain.asked_row import asked_row, check_count
from lftj.explain.explain import explain, reads_of
from lftj.explain.literals import rows_with
from lftj.explain.version import Goal, Version
from lftj.proofs.change import ChangedProof, ChangeExplanation, Reason
from lftj.proofs.instances import atom_text
from lftj.proofs.missing import BaseChange
from lftj.proofs.proof import Proof
from lftj.proofs.steps import Absent, Group, Premise, Row, assignments_of
from lftj.proofs.terms import value_of
from lftj.syntax import tree
from scantree.interrupts import interrupts_as_such

if TYPE_CHECKING:
    from lftj.engine.engine import Engine

_DEEPEST = 8
"""Negations one below the other that are followed to base facts."""


def explain_change(
    engine: Engine, before: State, after: State, what: object, row: object, rows: int
) -> ChangeExplanation:
    """The reason why a row came or went between two versions; see `Transaction.explain_change`."""
    check_count("rows", rows)
    relation, values = changed_row(before, after, what, row)
    short = short_of_memory("there is no explanation", "ask for fewer rows")
    with engine.dictionary.in_use(), interrupts_as_such(), short:
        changed = _Change(engine, before, after, rows)
        was, now = changed.has(before, relation, values), changed.has(after, relation, values)
        if was == now:
            raise _unchanged(relation, values, now)
        if now:
            proof = explain(engine, after, relation, values, rows)
            one = ChangedProof(proof, tuple(changed.reasons(proof, 1)))
            return ChangeExplanation(relation, values, 1, after.version, (one,))
        found = list(explain(engine, before, relation, values, rows, rows + 1))
        broken = tuple(
            ChangedProof(each, tuple(changed.reasons(each, -1))) for each in found[:rows]
        )
        more = len(found) > rows
        return ChangeExplanation(relation, values, -1, after.version, broken, more)


def after_proposal(engine: Engine, state: State, proposal: Proposal) -> State:
    """The state that a transaction would make if it were committed now; it is not published."""
    return carry_out(state, proposal, engine.context(proposal.aggregates)).state


def changed_row(before: State, after: State, what: object, row: object) -> tuple[str, Row]:
    """The row that is asked about, of the version after where its relation is known there; raises
    as `asked_row`.
    """
    name = getattr(what, "name", what)
    there = not isinstance(name, str) or "(" in name or name in after.program.catalog.relations
    return asked_row(after if there else before, what, row)


def _unchanged(relation: str, values: Row, there: bool) -> ExplanationError:
    ask = "explain" if there else "why_not"
    place = "before and after" if there else "neither before nor after"
    return ExplanationError(
        f"the commit did not change {atom_text(relation, values)}: it was there {place}",
        hint=f"ask about the version itself: ws.{ask}({relation!r}, {values!r})",
    )


class _Change:
    """Two versions, and what differs between them."""

    def __init__(self, engine: Engine, before: State, after: State, rows: int):
        self._engine, self._rows = engine, rows
        self._before, self._after = before, after
        self._versions = {id(state): Version(engine, state) for state in (before, after)}
        self._texts = {
            id(state): {str(source.rule) for source in state.program.sources.values()}
            for state in (before, after)
        }

    def has(self, state: State, relation: str, row: Row) -> bool:
        """True where a version has a row."""
        if relation not in state.program.catalog.relations:
            return False
        version = self._versions[id(state)]
        return version.has(relation, [version.goal(relation, row).row])[0]

    def reasons(self, proof: Proof, sign: int, depth: int = 0) -> Iterator[Reason]:
        """List what is new of a proof of the version after (`sign` +1), or broken of one of that
        before: its base facts, rules and negations that do not hold in the other version.
        """
        other = self._before if sign > 0 else self._after
        found: list[Reason] = []
        for number, step in enumerate(proof.steps):
            if step.rule is None:
                if not self._is_base(other, step.relation, step.row):
                    change = BaseChange(sign, step.relation, step.row)
                    found.append(Reason(number, str(change), (change,)))
            elif step.rule not in self._texts[id(other)]:
                verb = "added" if sign > 0 else "removed"
                found.append(Reason(number, f"rule {verb}: {step.rule}"))
            for absent in _absent(step.premises):
                found += self._of_negation(number, absent, other, sign, depth)
        yield from found or self._of_groups(proof, sign)

    def _is_base(self, state: State, relation: str, row: Row) -> bool:
        if relation not in state.program.catalog.relations:
            return False
        version = self._versions[id(state)]
        return version.is_base(version.goal(relation, row))

    def _of_negation(
        self, number: int, absent: Absent, other: State, sign: int, depth: int
    ) -> Iterator[Reason]:
        """A negation that does not hold in the other version: rows that went, or that came."""
        (literal,) = question_body(absent.instance).literals
        if not isinstance(literal, tree.Negation) or not _matched(self._engine, other, literal):
            return
        rows = list(self._rows_of(literal, other))
        text = ", ".join(atom_text(*each) for each in rows) or absent.instance.removeprefix("!")
        verb = "went" if sign > 0 else "came"
        changes: dict[BaseChange, None] = {}
        for relation, row in rows if depth < _DEEPEST else ():
            if not self.has(self._after if sign > 0 else self._before, relation, row):
                below = explain(self._engine, other, relation, row, self._rows)
                for reason in self.reasons(below, -sign, depth + 1):
                    changes.update(dict.fromkeys(reason.changes))
        yield Reason(number, f"{text} {verb}", tuple(changes))

    def _rows_of(self, negation: tree.Negation, state: State) -> Iterator[tuple[str, Row]]:
        """The rows that match a negated atom, where it is one."""
        atoms = [each for each in negation.body.literals if isinstance(each, tree.Atom)]
        if len(atoms) != 1 or len(negation.body.literals) != 1:
            return
        version, atom = self._versions[id(state)], atoms[0]
        columns = version.schema(atom.relation).columns
        known = {
            place: version.encode(columns[place][1], value_of(term, {}))
            for place, term in enumerate(atom.terms)
            if isinstance(term, tree.Constant)
        }
        for row in rows_with(version, atom.relation, known, self._rows):
            yield atom.relation, version.values(*Goal(atom.relation, row))

    def _of_groups(self, proof: Proof, sign: int) -> Iterator[Reason]:
        """Aggregates of a proof: base facts of the relations below them that the commit changed."""
        for number, step in enumerate(proof.steps):
            groups = [each for each in step.premises if isinstance(each, Group)]
            if groups or number == len(proof.steps) - 1:
                changes = tuple(islice(self._below(step.relation), self._rows))
                what = "the group changed" if groups else "another row is chosen"
                if changes:
                    yield Reason(number, what, changes)

    def _below(self, relation: str) -> Iterator[BaseChange]:
        """Changes of base facts of all relations that one depends on."""
        names, waiting = {relation}, [relation]
        sources = [
            source.rule
            for state in (self._before, self._after)
            for source in state.program.sources.values()
        ]
        while waiting:
            name = waiting.pop()
            for rule in sources:
                if any(head.relation == name for head in rule.heads):
                    new = set(reads_of(rule)) - names
                    names |= new
                    waiting += sorted(new)
        for name in sorted(names):
            if name in self._before.database and name in self._after.database:
                delta = self._after.base(name).difference(self._before.base(name))
                version = self._versions[id(self._after)]
                for sign, rows in ((1, delta.inserts), (-1, delta.erases)):
                    for row in zip(
                        *(column[: self._rows].tolist() for column in rows), strict=True
                    ):
                        codes = row[: version.schema(name).arity]
                        yield BaseChange(sign, name, version.values(name, codes))


def _absent(premises: tuple[Premise, ...]) -> Iterator[Absent]:
    """The negations among premises, at any depth of branches and groups."""
    for premise in premises:
        if isinstance(premise, Absent):
            yield premise
    for each in assignments_of(premises):
        yield from _absent(each.premises)


def _matched(engine: Engine, state: State, negation: tree.Negation) -> bool:
    """True where a version has rows that match what is negated."""
    if not set(reads_of(negation.body)) <= state.program.catalog.relations.keys():
        return False
    return len(answer(engine, state, negation.body)) > 0
