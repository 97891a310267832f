# SPDX-License-Identifier: Apache-2.0
"""The row that a user asks about, in any of the ways to write one."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from lftj.engine.questions import question_body
from lftj.engine.versions import Result, State, name_of
from lftj.errors import ArityError, ExplanationError, LftjError, OptionError
from lftj.program import RelationSchema
from lftj.proofs import ArithmeticFailure, value_of
from lftj.syntax import Predicate, tree
from lftj.types import code_of

Row = tuple[Any, ...]


def asked_row(state: State, what: object, row: object) -> tuple[str, Row]:
    """The relation and the values of its columns. `what` alone is an atom, as text or expression;
    with `row` it is a relation or its name, or a result of which `row` is the number of a row.

    Raises ExplanationError (E362) for anything else, UnknownNameError, ArityError, ValueTypeError.
    """
    if isinstance(what, Result):
        relation, values = _of_result(state, what, row)
    elif row is None:
        relation, values = _of_atom(what)
    else:
        relation, values = name_of(what), _values(row)  # type: ignore[arg-type]
    schema = state.schema(relation)
    return relation, _fitting(schema, values)


def check_count(option: str, count: object) -> None:
    """Raise OptionError (E171) for a number of proofs or rows that is none."""
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise OptionError(
            f"`{option}` is {count!r}", code="E171", hint=f"write a number from 1 on: {option}=3"
        )


def _of_result(state: State, result: Result, row: object) -> tuple[str, Row]:
    if result.name not in state.program.catalog.relations:
        raise ExplanationError(
            f"the rows of `{result.name}` are of no relation",
            code="E362",
            hint="ask about a row of a relation or view: ws.explain(ws[name], 0)",
        )
    if result.version != state.version:
        raise ExplanationError(
            f"the result is of version {result.version}, and this is version {state.version}",
            code="E362",
            hint="take a snapshot before the next commit, and ask it: snapshot.explain(…)",
        )
    if isinstance(row, int) and not isinstance(row, bool):
        rows = result.fetchall()
        if not -len(rows) <= row < len(rows):
            raise ExplanationError(
                f"the result has {len(rows):,} rows, none of number {row}",
                code="E362",
                hint="rows are numbered from 0",
            )
        return result.name, rows[row]
    return result.name, _values(row)


def _of_atom(what: object) -> tuple[str, Row]:
    if isinstance(what, str) and (called := _called(what)) is not None:
        return called
    body = question_body(what)
    literal = body.literals[0]
    if len(body.literals) != 1 or not isinstance(literal, tree.Atom):
        raise _no_atom(what)
    try:
        return literal.relation, tuple(value_of(term, {}) for term in literal.terms)
    except (KeyError, TypeError, ArithmeticFailure):
        raise _no_atom(what) from None


def _called(text: str) -> tuple[str, Row] | None:
    """The atom that a text is as Python writes a call of constants; None for other texts."""
    try:
        call = ast.parse(text.strip().removesuffix("."), mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.keywords:
            return None
        return call.func.id, tuple(ast.literal_eval(arg) for arg in call.args)
    except (SyntaxError, ValueError):
        return None


def _no_atom(what: object) -> LftjError:
    hint = 'name a relation and a value for each column: \'may("ann", 1)\', or may, ("ann", 1)'
    return ExplanationError(f"`{what}` is not one row of a relation", code="E362", hint=hint)


def _values(row: object) -> Row:
    if isinstance(row, Sequence) and not isinstance(row, str | bytes):
        return tuple(row)
    if isinstance(row, Predicate) or row is None:
        raise _no_atom(row)
    return (row,)


def _fitting(schema: RelationSchema, values: Row) -> Row:
    if len(values) != schema.arity:
        message = f"`{schema.name}` has {schema.arity} columns, found {len(values)} values"
        raise ArityError(message, hint="give one value for each column")
    for (_, type), value in zip(schema.columns, values, strict=True):
        if type.name != "str" or not isinstance(value, str):
            code_of(type, value)  # raises for a value of another type
    return values
