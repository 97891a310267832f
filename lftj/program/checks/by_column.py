# SPDX-License-Identifier: Apache-2.0
"""Arguments by the names of columns: `order(customer=c, amount=a)` is an atom with `_` for the
other columns; in a head, with their defaults.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lftj.errors import ArityError, LftjError, UnknownNameError
from lftj.errors.nearest import closest
from lftj.program.atoms import with_atoms
from lftj.program.normal_form import RelationSchema
from lftj.program.schema import Catalog
from lftj.syntax import below, tree


def by_position(rule: tree.Rule, catalog: Catalog) -> tuple[tree.Rule, list[LftjError]]:
    """The rule with all arguments by position, and problems with names of columns. O(size of the
    rule) where some argument is by name.
    """
    if not any(map(_is_name, below(rule))):
        return rule, []
    errors: list[LftjError] = []

    def placed(atom: tree.Atom) -> tree.Atom:
        schema = catalog.relations.get(atom.relation)
        if not _names(atom) or atom.value is not None:
            return atom
        if schema is None:  # an error of its own
            return replace(atom, args=tuple(tree.argument(term) for term in atom.args))
        errors.extend(_problems(atom, schema))
        return replace(atom, args=_terms(atom, schema))

    def filled(head: tree.Atom) -> tree.Atom:
        schema = catalog.relations.get(head.relation)
        if schema is None or not schema.defaults or not _names(head):
            return head
        first = sum(1 for term in head.args if not tree.named_column(term))
        given = {tree.named_column(term) for term in head.args}
        places = {name: place for place, (name, _) in enumerate(schema.columns)}
        rest = [
            tree.Call(tree.BY_COLUMN, (tree.Constant(name), tree.Constant(value)))  # type: ignore[arg-type]
            for name, value in schema.defaults
            if name not in given and places[name] >= first
        ]
        return replace(head, args=(*head.args, *rest))

    made = with_atoms(replace(rule, heads=tuple(map(filled, rule.heads))), placed)
    return made, [*errors, *map(_stray, filter(_is_name, below(made)))]


def _is_name(node: tree.Node) -> bool:
    return isinstance(node, tree.Call) and node.functor == tree.BY_COLUMN


def _stray(call: tree.Node) -> LftjError:
    """The error for the name of a column that is not among the arguments of an atom."""
    return ArityError(
        f"`{call}` names an argument of something that is no atom of a relation",
        code="E121",
        span=call.span,
        hint="functions and aggregates take their arguments by position",
    )


def _names(atom: tree.Atom) -> bool:
    return any(tree.named_column(term) for term in atom.args)


def _terms(atom: tree.Atom, schema: RelationSchema) -> tuple[tree.Term, ...]:
    """Positional arguments first, then those by name; `_` for the rest."""
    first = [term for term in atom.args if not tree.named_column(term)]
    given = {tree.named_column(term): tree.argument(term) for term in atom.args}
    rest = [name for name, _ in schema.columns][len(first) :]
    return (*first, *(given.get(name, tree.Wildcard(span=atom.span)) for name in rest))


def _problems(atom: tree.Atom, schema: RelationSchema) -> Iterator[LftjError]:
    columns = [name for name, _ in schema.columns]
    names = [tree.named_column(term) for term in atom.args]
    places = [place for place, name in enumerate(names) if name]
    if any(not name for name in names[places[0] :]):
        yield _wrong(atom, "has an argument by position after one by name", "put names last")
    for place in places:
        name, span = names[place], atom.args[place].span or atom.span
        if name not in columns:
            near = closest(name, columns)
            hint = f"did you mean `{near}`?" if near else f"its columns are {', '.join(columns)}"
            message = f"relation `{schema.name}` has no column `{name}`"
            yield UnknownNameError(message, code="E111", span=span, hint=hint)
        elif names.index(name) == place and (
            names.count(name) > 1 or columns.index(name) < places[0]
        ):
            yield _wrong(atom, f"gives the column `{name}` twice", "give it once")


def _wrong(atom: tree.Atom, what: str, hint: str) -> ArityError:
    return ArityError(f"`{atom}` {what}", span=atom.span, hint=hint)
