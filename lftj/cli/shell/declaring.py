# SPDX-License-Identifier: Apache-2.0
"""Declarations as text, and alterations as they are typed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lftj.cli.shell.command import words
from lftj.errors import CommandError
from lftj.program.declaration import declaration_of
from lftj.syntax import tree
from lftj.syntax.parser import parse

if TYPE_CHECKING:
    from lftj.api.backend import Version

ALTER = (
    "add COLUMN: TYPE = VALUE|EXPRESSION",
    "drop COLUMN …",
    "rename COLUMN to COLUMN",
    "retype COLUMN: TYPE [= EXPRESSION]",
    "default COLUMN = VALUE",
    "default COLUMN none",
    "key COLUMN …",
    "key none",
    "to NAME",
)
"""Forms of an alteration, behind the name of a relation."""
_COLUMN = re.compile(r"\s*([\w?]+)\s*:\s*([\w?.]+(?:\([\d\s,]*\))?)\s*(?:=\s*(.+?)\s*)?", re.DOTALL)
_DEFAULT = re.compile(r"\s*([\w?]+)\s*=\s*(.+?)\s*", re.DOTALL)


def declaration(version: Version, name: str) -> str:
    """The declaration of a relation as text that can be read again, and what else is known of it.
    Raises UnknownNameError.
    """
    text = declaration_of(version.program.catalog, name)
    return f"{text}  // view" if name in version.views else str(text)


def alteration(rest: str) -> tuple[str, dict[str, Any]]:
    """The relation, and the arguments of `Transaction.alter`. Raises CommandError (E390)."""
    name, _, change = rest.partition(" ")
    verb, _, what = change.strip().partition(" ")
    if verb in ("add", "retype"):
        return name, _column(verb, what)
    if verb == "default" and (given := _DEFAULT.fullmatch(what)):
        value = _constant(given[2])
        if value is not None:
            return name, {"default": {given[1]: value}}
    found = words(what, f".alter NAME {verb} …", 0)
    match verb, found:
        case "default", [column, "none"]:
            return name, {"default": {column: None}}
        case "drop", [_, *_]:
            return name, {"drop": found}
        case "rename", [before, "to", after]:
            return name, {"rename": {before: after}}
        case "key", ["none"]:
            return name, {"key": None}
        case "key", [_, *_]:
            return name, {"key": [each.removesuffix(",") for each in found]}
        case "to", [after]:
            return name, {"to": after}
        case _:
            raise _refused(rest)


def _column(verb: str, what: str) -> dict[str, Any]:
    """A column with its type, and a value or an expression."""
    found = _COLUMN.fullmatch(what)
    if found is None:
        raise _refused(f"… {verb} {what}")
    column, type, text = found.groups()
    options: dict[str, Any] = {verb: {column: type}}
    if text is None:
        return options
    value = _constant(text)
    if verb == "add" and value is not None:
        return options | {"default": {column: value}}
    return options | {"compute": {column: text}}


def _constant(text: str) -> object:
    """The value of a constant; None for any other expression. Raises ProgramErrors."""
    rule = parse(f"value({text}).", "<shell>").clauses[0]
    if isinstance(rule, tree.Rule) and len(rule.heads) == 1 and len(rule.heads[0].terms) == 1:
        term = rule.heads[0].terms[0]
        return term.value if isinstance(term, tree.Constant) else None
    return None


def _refused(rest: str) -> CommandError:
    return CommandError(
        f"`.alter {rest}` is no change of a schema",
        hint="\n".join(["write one of", *(f"    .alter NAME {form}" for form in ALTER)]),
    )
