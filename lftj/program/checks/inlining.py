# SPDX-License-Identifier: Apache-2.0
"""Relations declared `inline` where Soufflé could not put their rules in the place of their atoms.

Here such relations are kept like any others, and so nothing hangs on it; but a program that Soufflé
refuses is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lftj.errors import DeclarationError, LftjError
from lftj.program.scope import mentioned_names
from lftj.syntax import tree


def inlining_errors(clauses: Sequence[tree.Clause]) -> Iterator[LftjError]:
    """Inline relations that depend on themselves through others such, that are read or written, or
    negated with variables of their own.
    """
    inline = {
        each.name: each
        for each in clauses
        if isinstance(each, tree.Declaration) and "inline" in each.qualifiers
    }
    if not inline:
        return
    reads: dict[str, set[str]] = {name: set() for name in inline}
    widening: set[str] = set()
    rules = [clause for clause in clauses if isinstance(clause, tree.Rule)]
    for rule in rules:
        atoms = {atom.relation for atom in atoms_of(rule.body)}
        for head in rule.heads:
            if head.relation in inline:
                reads[head.relation] |= atoms & inline.keys()
                if mentioned_names(rule.body) - mentioned_names(head):
                    widening.add(head.relation)
    for name, declaration in inline.items():
        if name in _reached(name, reads):
            message = f"relation `{name}` is inline and depends on itself through inline relations"
            yield DeclarationError(
                message,
                code="E169",
                span=declaration.span,
                hint="leave `inline` out of one of their declarations",
            )
    for clause in clauses:
        if (
            isinstance(clause, tree.Directive)
            and clause.kind in ("input", "output", "printsize")
            and clause.relation in inline
        ):
            message = f"relation `{clause.relation}` is inline and has .{clause.kind}"
            yield DeclarationError(
                message, code="E169", span=clause.span, hint="leave `inline` out of its declaration"
            )
    for rule in rules:
        for atom in _negated(rule.body):
            if atom.relation in widening:
                message = (
                    f"relation `{atom.relation}` is inline and negated, and its rules have "
                    f"variables that its head lacks"
                )
                yield DeclarationError(
                    message,
                    code="E169",
                    span=atom.span or rule.span,
                    hint="leave `inline` out of its declaration",
                )


def _reached(name: str, reads: dict[str, set[str]]) -> set[str]:
    """The inline relations that a relation depends on."""
    found: set[str] = set()
    ahead = [name]
    while ahead:
        new = reads[ahead.pop()] - found
        found |= new
        ahead += new
    return found


def atoms_of(body: tree.Body) -> Iterator[tree.Atom]:
    """The atoms of a body, negated ones and those of branches among them, but none in braces."""
    for literal in body.literals:
        match literal:
            case tree.Atom():
                yield literal
            case tree.Negation(inner):
                yield from atoms_of(inner)
            case tree.Disjunction(branches):
                for branch in branches:
                    yield from atoms_of(branch)


def _negated(body: tree.Body) -> Iterator[tree.Atom]:
    for literal in body.literals:
        match literal:
            case tree.Negation(inner):
                yield from atoms_of(inner)
            case tree.Disjunction(branches):
                for branch in branches:
                    yield from _negated(branch)
