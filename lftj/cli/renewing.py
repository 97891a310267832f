"""A program and facts in the place of those that a workspace has, as changes of one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from lftj.engine.handles import RuleHandle
from lftj.errors import DeclarationError
from lftj.program.checks.declarations import require_same_types
from lftj.program.checks.program_checks import is_fact
from lftj.program.program import Program
from lftj.syntax import tree

if TYPE_CHECKING:
    from lftj.api.transaction import Transaction
    from lftj.api.workspace import Workspace


def renew(workspace: Workspace, tx: Transaction, parsed: tree.ParsedProgram) -> None:
    """Have a workspace hold a program: rules that are not in it go, new ones come, and relations
    that have facts in it, or an `.input`, hold these facts alone; those of files are to be inserted
    yet. What stays as it was costs nothing later.

    Relations that it does not declare stay. Raises ProgramErrors, and DeclarationError (E160, E165)
    for a relation or a type that the workspace has declared otherwise.
    """
    if not workspace.relations:
        tx.add_rules(parsed)
        return
    wanted, numbers = Program().add(parsed)
    known: Any = workspace._backend.current().program  # pyright: ignore[reportPrivateUsage]
    require_same_types(known.catalog, wanted.catalog)
    left = Counter(wanted.sources[number].rule for number in numbers)
    lost = list[RuleHandle]()
    for handle in workspace.rules:
        if handle.rule is not None and left[handle.rule]:
            left[handle.rule] -= 1
        else:
            lost.append(handle)
    tx.remove_rule(lost)
    given = {*known.catalog.fact_relations, *wanted.facts, *_inputs(parsed)}
    for name in sorted(given & known.catalog.relations.keys()):
        tx.delete_where(name)
    rules = (wanted.rule(number) for number in numbers)
    tx.add_rules(tree.ParsedProgram(tuple(_new(parsed, wanted, known, rules, left))))


def _inputs(parsed: tree.ParsedProgram) -> Iterator[str]:
    for clause in parsed.clauses:
        if isinstance(clause, tree.Directive) and clause.kind == "input":
            yield clause.relation


def _new(
    parsed: tree.ParsedProgram,
    wanted: Program,
    known: Program,
    rules: Iterator[tree.Rule],
    left: Counter[tree.Rule],
) -> Iterator[tree.Clause]:
    """The clauses that a known program has not: all facts, and of rules those `left`. `rules`:
    those of the text in its order, as they are kept: others may stand in their place.
    """
    for clause in parsed.clauses:
        match clause:
            case tree.Declaration(name=name) if name in known.catalog.relations:
                if wanted.catalog.relations[name] != known.catalog.relations[name]:
                    raise DeclarationError(
                        f"`{name}` is declared otherwise in the workspace",
                        span=clause.span,
                        hint="choose another path, or another name for the relation",
                    )
            case tree.TypeAlias(name=name) if name in known.catalog.aliases:
                pass
            case tree.Directive():
                pass
            case tree.Rule() if not is_fact(clause):
                rule = next(rules)
                if left[rule]:
                    left[rule] -= 1
                    yield clause
            case _:
                yield clause
