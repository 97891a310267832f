# SPDX-License-Identifier: Apache-2.0
"""A program as plain data, for the manifest and for workers, and back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from lftj.errors import Span
from lftj.program import Program, relation_data, relation_schema_of, type_clauses
from lftj.syntax import parse

LAYOUT = 4
"""Another number whenever parts tell other relations under the same rules: what another version of
lftj told is derived anew, once.
"""


def described(
    program: Program,
    views: frozenset[str],
    shared: Mapping[str, int],
    hubs: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Types, relations, rules as text in their order, the numbers of rows that decide what is too
    large to be shared, and hubs; see `Hubs`.
    """
    relations = [
        relation_data(schema, view=schema.name in views)
        for schema in program.catalog.relations.values()
    ]
    rules = [str(each.rule) for each in program.sources.values()]
    types = list(map(str, type_clauses(program.catalog)))
    return {
        **({"types": types} if types else {}),
        "relations": relations,
        "rules": rules,
        "sizes": dict(shared),
        "layout": LAYOUT,
        **({"hubs": dict(hubs)} if hubs else {}),
    }


def restored(description: Mapping[str, Any]) -> tuple[Program, frozenset[str]]:
    """The program and the names of its views. Rules are numbered from 1 in their order."""
    program = Program()
    for each in description.get("relations", ()):
        program = program.declare(relation_schema_of(each))
    if types := "\n".join(description.get("types", ())):
        program = program.add(parse(types))[0]
    if rules := "\n".join(description.get("rules", ())):
        program = program.add(parse(rules))[0]
    return program, frozenset(
        each["name"] for each in description.get("relations", ()) if each["view"]
    )


def place_in(program: Program, description: Mapping[str, Any], span: Span | None) -> Span | None:
    """A place in the user's text: the rule's, for a place in the text that workers have of it.
    Others stay what they are.
    """
    rules = description.get("rules", ())
    if span is None or span.source != "\n".join(rules):
        return span
    line = 0
    for text, source in zip(rules, program.sources.values(), strict=True):
        line += text.count("\n") + 1
        if span.line <= line:
            return source.rule.span
    return None


def digest(description: Mapping[str, Any]) -> str:
    """A short name for a description; equal descriptions have equal names."""
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()[:16]


def derives_otherwise(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Test for a description under which the views of another have to be derived anew; the first is
    empty where there was none.
    """
    said = ("rules", "hubs", "layout") if before else ("rules", "hubs")
    return any((before.get(what) or []) != (now.get(what) or []) for what in said)
