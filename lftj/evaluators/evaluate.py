# SPDX-License-Identifier: Apache-2.0
"""`lftj.evaluate`: every relation of a program over some facts, by the evaluator that one names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lftj.api.connect import connect, local_spark
from lftj.api.workspace import Workspace
from lftj.engine.versions.result import Result
from lftj.errors import (
    KeyViolationError,
    MissingDependencyError,
    OptionError,
    SqlError,
    UserFunctionError,
    ValueRangeError,
)
from lftj.program.program import Program
from lftj.program.schema import with_functions
from lftj.syntax import tree
from lftj.syntax.parser import parse
from lftj.syntax.user_function import UserFunction

if TYPE_CHECKING:
    import pyarrow as pa

    from lftj.proofs.kinds import Value

Facts = Mapping[str, Any]
"""Rows by relation: whatever `Workspace.load` takes."""
Functions = Sequence[UserFunction]


def evaluate(
    program: str | tree.ParsedProgram,
    facts: Facts | None = None,
    *,
    by: str = "triejoin",
    functions: Iterable[UserFunction] = (),
) -> dict[str, Result]:
    """Every declared relation of a program over these facts, as one evaluator finds it.

    `facts`: rows by relation, each what `Workspace.load` takes. `by`: "triejoin", the engine;
    "substitution", the meaning of the language as plain Python, for small data; "sql-duckdb" and
    "sql-spark", the rules as SQL (`to_sql`). All give the same rows, but for what the page on
    second opinions says of floats. `functions`: those of the user's that rules call, which have no
    SQL.

    Raises what `add_rules` and `load` raise, SqlError (E370) for what cannot be said in SQL,
    MissingDependencyError (E250), OptionError (E171). Cost: an evaluation from nothing.
    """
    check_evaluator(by)
    parsed = parse(program) if isinstance(program, str) else program
    called = tuple(functions)
    added = checked(parsed, called)
    if called and by.startswith("sql") and added.calling([each.name for each in called]):
        raise _no_sql(called)
    return _EVALUATORS[by](parsed, facts or {}, called)


def checked(program: tree.ParsedProgram, functions: Iterable[UserFunction]) -> Program:
    """A program whose rules may call these functions. Raises ProgramErrors, DeclarationError."""
    catalog = with_functions(Program().catalog, functions)
    return replace(Program(), catalog=catalog).add(program)[0]


def _no_sql(functions: Sequence[UserFunction]) -> SqlError:
    names = ", ".join(f"`{each.name}`" for each in functions)
    return SqlError(
        f"rules call functions of Python: {names}",
        hint='evaluate by="triejoin" or by="substitution"',
    )


def check_evaluator(name: str) -> None:
    """Raise OptionError (E171) for a name that is no evaluator's."""
    if name not in _EVALUATORS:
        hint = f"use {', '.join(map(repr, _EVALUATORS))}"
        raise OptionError(f"by={name!r} is no evaluator", code="E171", hint=hint)


def declarations(program: tree.ParsedProgram) -> tree.ParsedProgram:
    """The relations of a program, without rules, facts and directives."""
    return tree.ParsedProgram(
        tuple(
            clause
            for clause in program.clauses
            if isinstance(clause, tree.Declaration | tree.TypeAlias)
        )
    )


def names(program: tree.ParsedProgram) -> list[str]:
    """The relations of a program that can be read, in the order of their declarations."""
    return [
        clause.name
        for clause in program.clauses
        if isinstance(clause, tree.Declaration) and "inline" not in clause.qualifiers
    ]


def with_calls_of(functions: Iterable[UserFunction]) -> Workspace:
    """An empty workspace whose rules may call these functions."""
    workspace = connect()
    with workspace.transaction() as transaction:
        for each in functions:
            transaction.add_function(each)
    return workspace


def _loaded(program: tree.ParsedProgram, facts: Facts, functions: Functions = ()) -> Workspace:
    """A workspace with these rows. They are checked and become what columns hold."""
    workspace = with_calls_of(functions) if functions else connect()
    workspace.add_rules(str(program))
    for name, rows in facts.items():
        workspace.load(name, rows)
    return workspace


def _results(program: tree.ParsedProgram, rows: Mapping[str, Any]) -> dict[str, Result]:
    """Rows of another evaluator as results of ours."""
    plain = declarations(program)
    with closing(_loaded(plain, {name: rows[name] for name in names(program)})) as workspace:
        return {name: workspace[name] for name in names(program)}


def _by_triejoin(
    program: tree.ParsedProgram, facts: Facts, functions: Functions = ()
) -> dict[str, Result]:
    with closing(_loaded(program, facts, functions)) as workspace:
        return {name: workspace[name] for name in names(program)}


def _by_substitution(
    program: tree.ParsedProgram, facts: Facts, functions: Functions = ()
) -> dict[str, Result]:
    with closing(_loaded(declarations(program), facts)) as workspace:
        rows = {name: set(workspace[name].fetchall()) for name in facts}
    found = substituted(program, rows, functions)
    return _results(program, {name: list(found.get(name, ())) for name in names(program)})


def substituted(
    program: tree.ParsedProgram,
    facts: Mapping[str, set[tuple[Value, ...]]],
    functions: Functions = (),
) -> dict[str, set[tuple[Value, ...]]]:
    """All relations by substitution: every rule is run again until nothing is new."""
    from lftj.proofs.kinds import ArithmeticFailure, of_users
    from lftj.proofs.program import FunctionConflict
    from lftj.proofs.program import evaluate as naively

    try:
        return naively(program, facts, functions=of_users(functions))
    except ArithmeticFailure as problem:
        raise ValueRangeError(str(problem)) from problem
    except FunctionConflict as problem:
        raise KeyViolationError(f"two rows of `{problem}` have one key") from problem
    except KeyError as problem:
        raise UserFunctionError(f"substitution knows no function {problem}") from problem


def _by_sql(connection: Any, program: tree.ParsedProgram, facts: Facts) -> dict[str, Result]:
    from lftj.sql.run import run

    nothing = dict.fromkeys(_without_rules(program), ())  # a database may have a table of the name
    found = run(connection, program, {**nothing, **facts})
    return _results(
        program,
        {name: table if table.num_columns else _unit(table) for name, table in found.items()},
    )


def _unit(table: pa.Table) -> list[tuple[()]]:
    return [()] * bool(table.num_rows)


def _without_rules(program: tree.ParsedProgram) -> list[str]:
    """The relations that no rule derives, so that a database has none of them."""
    derived = {
        head.relation
        for clause in program.clauses
        if isinstance(clause, tree.Rule) and not clause.is_fact
        for head in clause.heads
    }
    return [name for name in names(program) if name not in derived]


def _by_duckdb(
    program: tree.ParsedProgram, facts: Facts, functions: Functions = ()
) -> dict[str, Result]:
    try:
        import duckdb
    except ImportError as problem:
        raise MissingDependencyError.of("duckdb") from problem
    with duckdb.connect() as connection:
        return _by_sql(connection, program, facts)


def _by_spark(
    program: tree.ParsedProgram, facts: Facts, functions: Functions = ()
) -> dict[str, Result]:
    return _by_sql(local_spark(), program, facts)


_EVALUATORS: Mapping[str, Callable[[tree.ParsedProgram, Facts, Functions], dict[str, Result]]] = {
    "triejoin": _by_triejoin,
    "substitution": _by_substitution,
    "sql-duckdb": _by_duckdb,
    "sql-spark": _by_spark,
}
