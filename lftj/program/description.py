# SPDX-License-Identifier: Apache-2.0
"""Programs as plain data that outlives a process, and back.

A rule is described by its text and by what its normal form was made with (`SourceRule`), so that
the same normal forms are made of it again, with the same hidden relations. Only text is read back:
nothing of a description runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lftj.errors import LftjError
from lftj.program.alteration import Alteration
from lftj.program.defaults import default_data, default_of, with_defaults
from lftj.program.named_program import program_data, program_of
from lftj.program.normal_form import RelationSchema
from lftj.program.program import Program
from lftj.program.schema import Catalog, FunctionSignature, UserAggregateSignature
from lftj.program.source_rule import SourceRule, WrittenRule
from lftj.program.statistics_hints import Answers, Size
from lftj.syntax import tree
from lftj.syntax.parser import parse
from lftj.types import type_of_python
from lftj.types.sources import read_name

Description = dict[str, Any]
_SIZE, _RECURSIVE = -1, -2
"""Kinds of answers about a relation. Before sizes there was one for each column, by its number:
whether its values repeat. Such answers decide nothing any more.
"""


def relation_data(schema: RelationSchema, *, view: bool) -> Description:
    """A declaration as data."""
    return {
        "name": schema.name,
        "columns": [[name, str(type)] for name, type in schema.columns],
        "key": None if schema.key is None else list(schema.key),
        "functional": schema.functional,
        **({"choice": [list(domain) for domain in schema.choice]} if schema.choice else {}),
        **({"defaults": _defaults_data(schema)} if schema.defaults else {}),
        "view": view,
    }


def relation_schema_of(data: Mapping[str, Any]) -> RelationSchema:
    """The schema of a declaration again."""
    columns = tuple((name, type_of_python(text)) for name, text in data["columns"])
    key = None if data["key"] is None else tuple(data["key"])
    choice = tuple(map(tuple, data.get("choice", ())))
    schema = RelationSchema(data["name"], columns, key, data["functional"], choice=choice)
    if not (defaults := data.get("defaults")):
        return schema
    types = dict(columns)
    return with_defaults(
        schema, {name: default_of(types[name], each) for name, each in defaults.items()}
    )


def _defaults_data(schema: RelationSchema) -> Description:
    types = dict(schema.columns)
    return {name: default_data(types[name], value) for name, value in schema.defaults}


def function_data(signature: FunctionSignature) -> list[Any]:
    """A user's function as data."""
    rest = signature.path, signature.version, signature.columns
    return [signature.name, *_types_of(signature), *rest]


def function_signature_of(data: Sequence[Any]) -> FunctionSignature:
    """The signature of a user's function again."""
    name, arguments, result, *rest = data
    types = tuple(map(type_of_python, arguments))
    return FunctionSignature(name, types, type_of_python(result), *rest)


def described(program: Program, views: frozenset[str]) -> Description:
    """Declarations, rules with their numbers, and signatures of the aggregates of users."""
    catalog = program.catalog
    return {
        "relations": [
            relation_data(schema, view=schema.name in views)
            for schema in catalog.relations.values()
        ],
        "types": {name: str(type) for name, type in catalog.aliases.items()},
        "definitions": [str(each) for each in catalog.definitions.values()],
        "above": {name: sorted(names) for name, names in catalog.above.items()},
        "kinds": {name: list(names) for name, names in catalog.kinds.items()},
        "facts": sorted(catalog.fact_relations),
        "aggregates": [[each.name, *_types_of(each)] for each in catalog.aggregates.values()],
        "rules": [_rule_data(number, each) for number, each in program.sources.items()],
        "next": program.next_source,
        **_programs(catalog),
    }


def _types_of(signature: UserAggregateSignature | FunctionSignature) -> list[Any]:
    return [list(map(str, signature.argument_types)), str(signature.result_type)]


def _programs(catalog: Catalog) -> Description:
    """Functions of users, programs by name, when relations were dropped, and how schemas changed;
    nothing where there are none.
    """
    found: Description = {}
    if catalog.functions:
        found["functions"] = list(map(function_data, catalog.functions.values()))
    if catalog.programs:
        found["programs"] = {
            name: program_data(program, catalog.relations)
            for name, program in catalog.programs.items()
        }
    if catalog.dropped:
        found["dropped"] = dict(catalog.dropped)
    if catalog.alterations:
        found["alterations"] = [each.data() for each in catalog.alterations]
    return found


def restored(
    description: Mapping[str, Any], known: Program | None = None
) -> tuple[Program, frozenset[str]]:
    """The program and the names of its views. Rules of a `known` one that are the same stay the
    same objects. Raises LftjError, LookupError, TypeError or ValueError for what nobody described.
    """
    program, sources = Program(), {} if known is None else known.sources
    catalog = replace(
        program.catalog,
        aliases={name: type_of_python(text) for name, text in description["types"].items()},
        definitions={each.name: each for each in definitions_of(description)},
        above={name: frozenset(each) for name, each in description.get("above", {}).items()},
        kinds={name: tuple(each) for name, each in description.get("kinds", {}).items()},
        fact_relations=frozenset(description["facts"]),
    )
    program = replace(program, catalog=catalog)
    for name, arguments, result in description["aggregates"]:
        types = tuple(map(type_of_python, arguments))
        program = program.with_aggregate(
            UserAggregateSignature(name, types, type_of_python(result))
        )
    for each in description.get("functions", ()):
        program = program.with_function(function_signature_of(each))
    for each in description["relations"]:
        program = program.declare(relation_schema_of(each))
    programs = {
        name: program_of(data, program.catalog.relations)
        for name, data in description.get("programs", {}).items()
    }
    dropped = description.get("dropped", {})
    alterations = tuple(map(Alteration.of, description.get("alterations", ())))
    catalog = replace(program.catalog, programs=programs, dropped=dropped, alterations=alterations)
    program = replace(program, catalog=catalog)
    rules = list(map(_rule_of, description["rules"]))
    views = frozenset(each["name"] for each in description["relations"] if each["view"])
    return program.restored(rules, description["next"], sources), views


def definitions_of(description: Mapping[str, Any]) -> Iterator[tree.TypeAlias]:
    """The definitions of types; none where they were not described."""
    for clause in parse("\n".join(description.get("definitions", ()))).clauses:
        if not isinstance(clause, tree.TypeAlias):
            raise LftjError(f"{str(clause)!r} defines no type")
        yield replace(clause, span=None)


def _rule_data(number: int, source: SourceRule) -> list[Any]:
    answers = source.answers
    asked = [
        *([name, _SIZE, answer] for name, answer in answers.given.items()),
        *([name, _RECURSIVE, True] for name in sorted(answers.recursive)),
    ]
    data = [number, str(source.rule), asked, sorted(source.cycle), sorted(source.taken)]
    return [*data, dict(source.names)] if source.names else data


def _rule_of(data: list[Any]) -> WrittenRule:
    number, text, asked, cycle, taken, *shared = data
    clauses = parse(text).clauses
    if len(clauses) != 1 or not isinstance(clauses[0], tree.Rule):
        raise LftjError(f"{text!r} is no rule")
    given = {name: _size(answer) for name, about, answer in asked if about == _SIZE}
    recursive = frozenset(name for name, about, _ in asked if about == _RECURSIVE)
    answers = Answers(given, recursive)
    names = {read_name(own): read_name(name) for each in shared for own, name in each.items()}
    known = frozenset(map(read_name, cycle)), frozenset(map(read_name, taken))
    return WrittenRule(number, clauses[0], answers, *known, names)


def _size(data: Any) -> Size | None:
    """A size that was written down."""
    if data is None:
        return None
    rows, distinct, crowds, few = data
    return Size(rows, tuple(distinct), tuple(crowds), few)
