# SPDX-License-Identifier: Apache-2.0
"""Program of what was typed, whose text says what is there.

What a rule or a fact says is taken back by commands of the shell, and schemas change. The text of
another program would then bring back what is gone; that of the shell follows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lftj.program.checks.declarations import declare_all
from lftj.program.named_program import NamedProgram, Row
from lftj.program.program import Program
from lftj.proofs.instances import value_text
from lftj.syntax import tree
from lftj.syntax.parser import parse

if TYPE_CHECKING:
    from lftj.api.transaction import Transaction

TYPED = "shell"
"""Name of the program of what was typed."""


def retell(tx: Transaction) -> None:
    """Have the text of what was typed be what is left of it. A relation whose schema has changed is
    not declared by it any more. O(1) where nothing of it went.
    """
    draft: Any = tx._open()  # pyright: ignore[reportPrivateUsage] -- no text may say what is held
    program: Program = draft.program
    held = program.catalog.programs.get(TYPED)
    if held is not None and not held.whole:
        draft.program = program.with_programs(
            {**program.catalog.programs, TYPED: _retold(program, held)}
        )


def _retold(program: Program, held: NamedProgram) -> NamedProgram:
    clauses = parse(held.text, "<shell>").clauses
    declared = frozenset(_as_declared(program, clauses))
    kept = [
        each
        for each in clauses
        if not isinstance(each, tree.Rule | tree.Declaration)
        or (isinstance(each, tree.Declaration) and each.name in declared)
    ]
    lines = [
        *map(str, kept),
        *(_fact(program, name, row) for name, rows in held.facts.items() for row in rows),
        *(str(program.rule(number)) for number in sorted(held.rules)),
    ]
    text = "".join(f"{line}\n" for line in lines)
    relations = held.relations & declared
    return replace(held, text=text, relations=relations, whole=True, repeats=False)


def _fact(program: Program, name: str, row: Row) -> str:
    """A row as a fact."""
    terms = list(map(value_text, row))  # pyright: ignore[reportArgumentType] -- of known types
    if program.catalog.relation(name).functional:
        return f"{name}[{', '.join(terms[:-1])}] = {terms[-1]}."
    return f"{name}({', '.join(terms)})."


def _as_declared(program: Program, clauses: tuple[tree.Clause, ...]) -> Iterator[str]:
    """The relations that are as these clauses declare them."""
    catalog = program.catalog
    names = [each.name for each in clauses if isinstance(each, tree.Declaration)]
    types = [each.name for each in clauses if isinstance(each, tree.TypeAlias)]
    bare = catalog.undeclare(frozenset(names) & catalog.relations.keys(), frozenset(types))
    found, _ = declare_all(clauses, bare)
    for name in names:
        if name in found.relations and found.relations[name] == catalog.relations.get(name):
            yield name
