"""Delete and re-derive [Gupta, Mumick, Subrahmanian 1993]: another way to maintain recursive views,
which counts nothing.

Stratum by stratum, every row that has a proof with something that went is deleted, its own
consequences with it; then all that still has a proof, or has one now, is derived again. Naive as
the rest of this package: only deletion goes by deltas.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from lftj.proofs.program import HeadRule, Row, levels
from lftj.syntax import tree
from lftj.syntax.parser import parse

Relations = dict[str, set[Row]]
_GONE = "gone#"
_NOT = "not#"


class Rederivation:
    """The relations of a program without aggregates, whose bodies are atoms, negated atoms and
    comparisons; `rows` are kept true.
    """

    def __init__(self, text: str):
        clauses = parse(text).clauses
        self.rules = [
            replace(rule, heads=(head,))
            for rule in clauses
            if isinstance(rule, tree.Rule)
            for head in rule.heads
        ]
        self.given: Relations = {
            clause.name: set() for clause in clauses if isinstance(clause, tree.Declaration)
        }
        self.rows: Relations = {name: set() for name in self.given}
        self._level = dict.fromkeys(self.given, 0) | levels(self.rules)

    def change(self, deletes: Mapping[str, set[Row]], inserts: Mapping[str, set[Row]]) -> None:
        """Take given rows out and put others in, and bring all relations up to date."""
        old = {name: set(rows) for name, rows in self.rows.items()}
        no_longer_given: Relations = {}
        for name, rows in self.given.items():
            before = set(rows)
            rows -= deletes.get(name, set())
            rows |= inserts.get(name, set())
            no_longer_given[name] = before - rows
        for level in sorted(set(self._level.values())):
            members = [name for name in self.given if self._level[name] == level]
            rules = [rule for rule in self.rules if rule.heads[0].relation in members]
            for name, rows in self._overdeleted(
                rules, {name: no_longer_given[name] for name in members}, old
            ).items():
                self.rows[name] -= rows
            for name in members:
                self.rows[name] |= self.given[name]
            self._derive(rules)

    def _overdeleted(self, rules: list[tree.Rule], first: Relations, old: Relations) -> Relations:
        """All rows of a stratum that had a proof with a row, or with an absence, that is no more;
        `first` are those no longer given.
        """
        below = [name for name in old if name not in first]
        deleted = {name: set(rows) for name, rows in first.items()}
        deltas = (
            first
            | {name: old[name] - self.rows[name] for name in below}
            | {_NOT + name: self.rows[name] - old[name] for name in below}
        )
        while any(deltas.values()):
            found: Relations = {name: set() for name in first}
            for rule in rules:
                for name, body in _driven(rule.body):
                    if deltas.get(name):
                        facts = {**old, _GONE: deltas[name]}
                        found[rule.heads[0].relation] |= HeadRule(
                            rule.heads[0], replace(rule, body=body), facts, {}
                        ).rows()
            deltas = {name: (rows & old[name]) - deleted[name] for name, rows in found.items()}
            for name, rows in deltas.items():
                deleted[name] |= rows
        return deleted

    def _derive(self, rules: list[tree.Rule]) -> None:
        going = True
        while going:
            going = False
            for rule in rules:
                target = self.rows[rule.heads[0].relation]
                new = HeadRule(rule.heads[0], rule, self.rows, {}).rows() - target
                target |= new
                going |= bool(new)


def _driven(body: tree.Body) -> Iterator[tuple[str, tree.Body]]:
    """The body with one atom after another reading what went instead, or what came where there must
    be nothing; and which relation's.
    """
    for place, literal in enumerate(body.literals):
        before, behind = body.literals[:place], body.literals[place + 1 :]
        if isinstance(literal, tree.Atom):
            yield literal.relation, tree.Body((*before, replace(literal, relation=_GONE), *behind))
        elif isinstance(literal, tree.Negation):
            (atom,) = literal.body.literals
            assert isinstance(atom, tree.Atom)
            yield _NOT + atom.relation, tree.Body((*before, replace(atom, relation=_GONE), *behind))
