# SPDX-License-Identifier: Apache-2.0
"""Results of users' functions: what is known is looked up, and a function is called once for the
arguments that are left.

Results are kept in a hidden relation for each function, arguments first. It is stored, and logged,
as rows that users insert, so that nobody who opens the files or follows the log calls a function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lftj.errors import DurableError, LftjError, LimitError, UserFunctionError
from lftj.frames.arrow_columns import code_arrow
from lftj.frames.frame import CodedColumn, Target, with_null_codes
from lftj.frames.out import decode_column, to_values
from lftj.frames.python_columns import code_values
from lftj.join.context import Context
from lftj.program.schema import FunctionSignature, bound_as
from lftj.scantree.process.garbage import resume_in_time
from lftj.scantree.rows import difference, sort_rows, union
from lftj.storage.delta import Columns, Delta
from lftj.storage.relation import RelationVersion
from lftj.syntax.user_function import UserFunction, found_at

_ROWS, _ARRAY_ROWS = 64, 1 << 17
"""Rows between looks at limits: of a function of single values, and of one of columns."""
_STEPS = 100
"""Kernel steps in the time that calling a function once takes at least."""


class CalledFunctions:
    """The functions of one evaluation: their signatures by name, and the results that `relations`
    have of them.
    """

    def __init__(
        self,
        signatures: Mapping[str, FunctionSignature],
        context: Context,
        relations: Mapping[str, RelationVersion],
    ):
        self._known: Mapping[tuple[str, str], UserFunction] = context.resources.functions
        self._of = {
            name: _Results(each, relations.get(each.results.name))
            for name, each in signatures.items()
        }

    def codes(self, name: str, arguments: Columns, context: Context) -> np.ndarray:
        """The codes of a function's results for sorted, distinct arguments. Raises
        UserFunctionError (E223), DurableError (E357) or LimitError.
        """
        results = self._of[name]
        codes, there = results.look_up(arguments)
        if not there.all():
            lacking = [column[~there] for column in arguments]
            found = _called(self._function(results.signature), lacking, context)
            results.add([*lacking, found])
            codes[~there] = found
        return codes

    def learned(self) -> dict[str, Columns]:
        """The results that were not known before, by relation: sorted rows."""
        return {
            each.signature.results.name: each.added
            for each in self._of.values()
            if len(each.added[0])
        }

    def _function(self, signature: FunctionSignature) -> UserFunction:
        """The function itself. Raises DurableError (E357) where it is not there."""
        found = self._known.get((signature.name, signature.version))
        return function_at(signature) if found is None else found


def function_at(signature: FunctionSignature) -> UserFunction:
    """The function that a module has under the import path. Raises DurableError (E357) where there
    is none, or another one.
    """
    module = signature.path.partition(":")[0]
    found = found_at(signature.path)
    if callable(found) and not isinstance(found, UserFunction):
        carrier: Any = signature.columns or None
        types, result = signature.argument_types, signature.result_type
        found = UserFunction(found, types, result, carrier, signature.name)
    if isinstance(found, UserFunction) and bound_as(found, signature):
        return found
    if isinstance(found, UserFunction):
        problem, hint = (
            f"{signature.path} is another function now, or has other code",
            "register it again, ws.function(…), and what calls it is derived anew",
        )
    elif found_at(f"{module}:__name__") is None:
        problem, hint = (
            f"`{module}` is not imported",
            f"import {module}; the command line has --import {module}",
        )
    else:
        problem, hint = (
            f"{signature.path} is no function that was registered",
            "register it: @ws.function above its definition",
        )
    raise DurableError(
        f"the function `{signature.name}` is not here, so its views can be read and not changed: "
        f"{problem}",
        code="E357",
        hint=hint,
    )


class _Results:
    """Results of one function: those of a relation, and those that were added."""

    def __init__(self, signature: FunctionSignature, relation: RelationVersion | None):
        self.signature, self._relation = signature, relation
        width = len(signature.argument_types) + 1
        self.added: Columns = [np.empty(0, np.int64) for _ in range(width)]

    def look_up(self, arguments: Columns) -> tuple[np.ndarray, np.ndarray]:
        """The results for sorted arguments, and which of them are known."""
        codes = np.zeros(len(arguments[0]), np.int64)
        there = np.zeros(len(arguments[0]), np.bool_)
        if self._relation is not None and self._relation.count:
            there, found, _ = self._relation.identity.edge_rows(arguments)
            codes = found[-1]
        if len(self.added[0]) and not there.all():
            places = np.flatnonzero(~there)
            known, results = _matching(self.added, [each[places] for each in arguments])
            there[places[known]], codes[places[known]] = True, results
        return codes, there

    def add(self, rows: Columns) -> None:
        """Keep rows, sorted."""
        self.added = union(self.added, rows) if len(self.added[0]) else rows


def _matching(rows: Columns, keys: Columns) -> tuple[np.ndarray, np.ndarray]:
    """Marks of those sorted, distinct keys that begin one of the sorted rows, and the last
    columns of these rows. O(n log n).
    """
    both = [np.concatenate(pair) for pair in zip(rows, keys, strict=False)]
    last = np.arange(len(rows[0]) + len(keys[0]))  # rows come before the keys that they begin with
    *columns, places = sort_rows([*both, last])
    alike = np.ones(len(places) - 1, np.bool_)
    for column in columns:
        alike &= column[1:] == column[:-1]
    first, second = places[:-1][alike], places[1:][alike]
    known = np.zeros(len(keys[0]), np.bool_)
    known[second - len(rows[0])] = True
    return known, rows[-1][first]


def unused(
    signature: FunctionSignature, results: RelationVersion, read: Sequence[RelationVersion]
) -> Delta | None:
    """The results that no relation of calls has any more; None where they are not yet the larger
    part. O(relations), and O(results) where they are.
    """
    if results.count <= _SPARE + 2 * sum(each.count for each in read):
        return None
    rows = results.columns()
    for each in read:
        rows = difference(rows, each.columns())
    return Delta([column[:0] for column in rows], rows)


_SPARE = 1 << 10


# ── calls ─────────────────────────────────────────────────────────────────────────────────────────
def _called(function: UserFunction, arguments: Columns, context: Context) -> np.ndarray:
    """The codes of the results, some rows at a time. Raises as `CalledFunctions.codes`."""
    resume_in_time()  # a user's function may take long and make cycles
    call = _by_rows if function.columns is None else _by_columns
    size = _ROWS if function.columns is None else _ARRAY_ROWS
    pieces = [np.empty(0, np.int64)]
    for some in _slices(arguments, size):
        pieces.append(call(function, some, context))
        context.budget.spend(_STEPS * len(some[0]))
        context.budget.check_memory(8 * len(arguments[0]))
    return np.concatenate(pieces)


def _slices(columns: Columns, rows: int) -> Iterator[Columns]:
    for first in range(0, len(columns[0]), rows):
        yield [column[first : first + rows] for column in columns]


def _values(function: UserFunction, arguments: Columns, context: Context) -> list[tuple[Any, ...]]:
    dictionary = context.resources.dictionary
    columns = [
        to_values(type, column, dictionary)
        for type, column in zip(function.argument_types, arguments, strict=True)
    ]
    return list(zip(*columns, strict=True))


def _by_rows(function: UserFunction, arguments: Columns, context: Context) -> np.ndarray:
    rows = _values(function, arguments, context)
    found: list[object] = []
    for row in rows:
        try:
            found.append(function.function(*row))
        except Exception as problem:
            raise _raised(function, row, problem)  # noqa: B904 — it knows its cause
    return _coded(function, found, rows.__getitem__, context)


def _by_columns(function: UserFunction, arguments: Columns, context: Context) -> np.ndarray:
    """The codes of the results for whole columns; of a failure, the first row that fails alone."""
    try:
        found = _array(function, arguments, context)
    except Exception as problem:
        if isinstance(problem, (MemoryError, LimitError)):
            raise
        row, problem = _first_failure(function, arguments, context, problem)
        raise _raised(function, row, problem)  # noqa: B904 — it knows its cause

    def name(row: int) -> tuple[Any, ...]:
        return _values(function, [column[row : row + 1] for column in arguments], context)[0]

    rows = len(arguments[0])
    if not isinstance(found, pa.Array | pa.ChunkedArray | np.ndarray) or len(found) != rows:
        size = f" of {len(found)}" if hasattr(found, "__len__") else ""
        raise UserFunctionError(
            f"the function `{function.name}` gave a {type(found).__name__}{size} for columns of "
            f"{rows} rows, the first of them {_call(function, name(0))}",
            hint="let it give an array with one result for each row, in their order",
        )
    as_list = isinstance(found, np.ndarray) and found.dtype == object
    return _coded(function, found.tolist() if as_list else found, name, context)


def _array(function: UserFunction, arguments: Columns, context: Context) -> Any:
    texts = context.resources.dictionary.texts()
    columns: list[Any] = []
    for type_, codes in zip(function.argument_types, arguments, strict=True):
        column = decode_column(type_, codes.copy(), texts).combine_chunks()
        columns.append(
            column if function.columns == "arrow" else column.to_numpy(zero_copy_only=False)
        )
    return function.function(*columns)


def _first_failure(
    function: UserFunction, arguments: Columns, context: Context, problem: Exception
) -> tuple[tuple[Any, ...], Exception]:
    """The first row that fails, as far as halves of the rows tell, and its failure."""
    while len(arguments[0]) > 1:
        half = len(arguments[0]) // 2
        for piece in ([each[:half] for each in arguments], [each[half:] for each in arguments]):
            try:
                _array(function, piece, context)
            except Exception as other:
                arguments, problem = piece, other
                break
        else:
            break
    return _values(function, arguments, context)[0], problem


def _coded(
    function: UserFunction,
    found: Any,
    row: Callable[[int], tuple[Any, ...]],
    context: Context,
) -> np.ndarray:
    """Codes of results. Raises UserFunctionError (E223) for what is no value of the type."""
    assert function.result_type is not None
    target = Target(function.name, function.result_type, context.resources.dictionary)
    place: int | None = None
    try:
        if isinstance(found, np.ndarray):
            found = pa.array(found)
        coded = _code(found, target)
        absent = coded.absent()
        if absent is None:
            return coded.codes
        place = int(np.flatnonzero(absent)[0])
    except LimitError:
        raise
    except (LftjError, pa.ArrowException):
        values: Any = found if isinstance(found, list) else found.tolist()
        place = next((at for at, value in enumerate(values) if not _fits(value, target)), None)
    given = f"an array of {getattr(found, 'type', None)}"
    if place is not None:
        value = found[place]
        given = repr(value if isinstance(found, list) else value.as_py())
    raise UserFunctionError(
        f"the function `{function.name}` gave {given}, no {function.result_type}, for "
        f"{_call(function, row(place or 0))}",
        hint=f"let it give a value of its result type, {function.result_type}, for all arguments",
    )


def _code(found: Any, target: Target) -> CodedColumn:
    """Codes of results, NULL among them where the type has it. Raises LftjError."""
    coded = code_values(found, target) if isinstance(found, list) else code_arrow(found, target)
    return with_null_codes(coded, target.place, target.name, target.type)


def _fits(value: object, target: Target) -> bool:
    """Test for a value of the type that is wanted."""
    try:
        return _code([value], target).absent() is None
    except LftjError:
        return False


def _raised(function: UserFunction, row: Sequence[object], problem: Exception) -> Exception:
    """The error for what a function raised. What ends an evaluation stays what it is."""
    if isinstance(problem, (MemoryError, LimitError)):
        return problem
    said = f": {problem}" if str(problem) else ""
    error = UserFunctionError(
        f"the function `{function.name}` raised {type(problem).__name__}{said}, for "
        f"{_call(function, row)}",
        hint="the traceback above shows where; let the function take all values that the arguments "
        "can have, or leave them out before it",
    )
    error.__cause__ = problem
    return error


def _call(function: UserFunction, row: Sequence[object]) -> str:
    return f"{function.name}({', '.join(map(repr, row))})"
