# SPDX-License-Identifier: Apache-2.0
"""Declarations of relations that are there, as text that can be read again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lftj.program.defaults import default_term
from lftj.program.schema import Catalog, key_names
from lftj.syntax import tree
from lftj.types import Type

_NAMES = {"int": "number", "str": "symbol"}


def declaration_of(catalog: Catalog, name: str) -> tree.Declaration:
    """The declaration of a relation, with the program's own names of types. Raises UnknownNameError
    (E110).
    """
    schema = catalog.relation(name)
    kinds = catalog.kinds.get(name) or ("",) * schema.arity
    columns = tuple(
        tree.Column(column, _name(catalog, kind, type), default_term(schema, column))
        for (column, type), kind in zip(schema.columns, kinds, strict=True)
    )
    choice = tuple(tuple(schema.columns[place][0] for place in domain) for domain in schema.choice)
    return tree.Declaration(name, columns, schema.functional, (), choice, key_names(schema))


def _name(catalog: Catalog, kind: str, type: Type) -> str:
    found = kind if kind in catalog.aliases else str(type.required)
    return _NAMES.get(found, found) + ("?" if type.optional else "")


def definition_of(catalog: Catalog, name: str) -> tree.TypeAlias:
    """The definition of a type. One of decimals, which is kept by their scale, says their digits
    too.
    """
    type = str(catalog.aliases[name])
    known = catalog.definitions.get(name)
    if known is None:
        return tree.TypeAlias(name, type)
    base, *others = (
        type if each.startswith("decimal(") else each for each in (known.base, *known.others)
    )
    return replace(known, base=base, others=tuple(others))


def type_clauses(catalog: Catalog) -> Iterator[tree.Clause]:
    """The types of a program, and its declarations where columns are of these."""
    for name in catalog.aliases:
        yield definition_of(catalog, name)
    for name, kinds in catalog.kinds.items():
        if not catalog.aliases.keys().isdisjoint(kinds):
            yield declaration_of(catalog, name)
