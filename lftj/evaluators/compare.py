# SPDX-License-Identifier: Apache-2.0
"""`lftj.compare`: the same program and history by several evaluators, and the least that tells them
apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from lftj.api.connect import connect
from lftj.errors import LftjError, OptionError, SqlError
from lftj.evaluators.evaluate import (
    Functions,
    check_evaluator,
    checked,
    declarations,
    evaluate,
    names,
    with_calls_of,
)
from lftj.syntax import tree
from lftj.syntax.parser import parse
from lftj.syntax.user_function import UserFunction

Row = tuple[Any, ...]
Rows = Mapping[str, Sequence[Row]]


@dataclass(frozen=True)
class Step:
    """A transaction: rows that go, then rows that come, by relation."""

    insert: Rows = field(default_factory=dict[str, Sequence[Row]])
    delete: Rows = field(default_factory=dict[str, Sequence[Row]])


@dataclass(frozen=True)
class Difference:
    """The first thing that two evaluators disagree on, after as little as shows it.

    `step`: the transaction after which they differ, from 0; `relation`: the first that differs,
    None where one of them raised an error; `only`: by evaluator the rows that it alone has, or the
    error; where the engine's change set is not the difference of its states, the signed rows that
    "changes" and "states" alone have; `program` and `history`: what is left when every rule, row
    and step that can go is gone.
    """

    by: tuple[str, str]
    step: int
    relation: str | None
    only: Mapping[str, object]
    program: str
    history: tuple[Step, ...]

    def __str__(self) -> str:
        """The disagreement, the program, and the history."""
        what = "raise" if self.relation is None else f"in `{self.relation}` have"
        by = tuple(self.only)
        lines = [f"{by[0]} and {by[1]} differ after step {self.step}; alone they {what}:"]
        lines += [f"  {name}: {found}" for name, found in self.only.items()]
        lines += ["program:", *(f"  {line}" for line in self.program.splitlines()), "history:"]
        for number, step in enumerate(self.history):
            lines.append(f"  {number}: delete {dict(step.delete)}, insert {dict(step.insert)}")
        return "\n".join(lines)


def compare(
    program: str | tree.ParsedProgram,
    history: Sequence[Step | Mapping[str, Rows]],
    *,
    by: Sequence[str] = ("triejoin", "substitution"),
    functions: Iterable[UserFunction] = (),
) -> Difference | None:
    """Follow a history by several evaluators: None where they agree after every step, else the
    first difference, minimised.

    `history`: transactions, each a mapping with `insert` and `delete`, both from relation to rows.
    "triejoin" maintains one workspace, and its change sets have to be the differences of its
    states; the others evaluate from nothing after every step. A transaction that all refuse is
    rolled back. Floats count as equal within 1e-9 of their size, since databases round sums
    otherwise. `functions`: those of the user's that rules call.

    Raises ProgramErrors, SqlError (E370) for a program that has no SQL, OptionError (E171). Cost:
    an evaluation for each step and evaluator; where they differ, one for each rule and row besides.
    """
    parsed = parse(program) if isinstance(program, str) else program
    called = tuple(functions)
    checked(parsed, called)
    if len(by) < 2:
        raise OptionError("compare needs two evaluators", code="E171", hint="by=[…, …]")
    for each in by:
        check_evaluator(each)
    steps = tuple(each if isinstance(each, Step) else _step(each) for each in history)
    for other in by[1:]:
        pair = (by[0], other)
        found = _first_difference(parsed, steps, pair, called)
        if found is not None:
            return _least(found, parsed, steps[: found.step + 1], called)
    return None


def _step(given: Mapping[str, Rows]) -> Step:
    unknown = sorted(given.keys() - {"insert", "delete"})
    if unknown:
        hint = 'a step is {"insert": {relation: rows}, "delete": {relation: rows}}'
        raise OptionError(f"a step has no part `{unknown[0]}`", code="E171", hint=hint)
    return Step(dict(given.get("insert", {})), dict(given.get("delete", {})))


# ── evaluators that follow a history ──────────────────────────────────────────────────────────────
class _State(NamedTuple):
    """Rows by relation after a transaction. `reported`: relations whose change set is not the
    difference from the state before, with the signed rows that the change set alone has, and those
    that the difference has.
    """

    rows: Mapping[str, set[Row]]
    reported: Mapping[str, tuple[list[Row], list[Row]]] = {}


Outcome = _State | LftjError
Follower = Callable[[Step], Outcome]


def _maintaining(program: tree.ParsedProgram, functions: Functions) -> Follower:
    """The engine, which keeps its views up to date and reports how they changed."""
    workspace = with_calls_of(functions) if functions else connect()
    workspace.add_rules(str(program))
    read = names(program)
    before = {name: set(workspace[name].fetchall()) for name in read}

    def follow(step: Step) -> Outcome:
        nonlocal before
        try:
            with workspace.transaction() as transaction:
                for name, rows in step.delete.items():
                    transaction.delete(name, list(rows))
                for name, rows in step.insert.items():
                    transaction.insert(name, list(rows))
        except LftjError as error:
            return error
        after = {name: set(workspace[name].fetchall()) for name in read}
        wrong: dict[str, tuple[list[Row], list[Row]]] = {}
        for name in read:
            # The last column of a change set is the version.
            changes = {row[:-1] for row in transaction.changes(name).fetchall()}
            states = {(*row, 1) for row in after[name] - before[name]}
            states |= {(*row, -1) for row in before[name] - after[name]}
            if changes != states:
                wrong[name] = _apart({row: row for row in changes}, {row: row for row in states})
        before = after
        return _State(after, wrong)

    return follow


def _evaluating(program: tree.ParsedProgram, by: str, functions: Functions) -> Follower:
    """An evaluator that begins anew after every step."""
    with connect() as workspace:  # facts become what columns hold
        workspace.add_rules(str(declarations(program)))
        base = {name: set[Row]() for name in names(program)}

    def follow(step: Step) -> Outcome:
        after = {name: set(rows) for name, rows in base.items()}
        for name, rows in step.delete.items():
            after[name] -= set(map(tuple, rows))
        for name, rows in step.insert.items():
            after[name] |= set(map(tuple, rows))
        try:
            given = {name: list(rows) for name, rows in after.items() if rows}
            found = evaluate(program, given, by=by, functions=functions)
        except SqlError:
            raise
        except LftjError as error:
            return error
        base.update(after)
        return _State({name: set(result.fetchall()) for name, result in found.items()})

    return follow


def _follower(program: tree.ParsedProgram, by: str, functions: Functions) -> Follower:
    if by == "triejoin":
        return _maintaining(program, functions)
    return _evaluating(program, by, functions)


def _first_difference(
    program: tree.ParsedProgram,
    steps: Sequence[Step],
    by: tuple[str, str],
    functions: Functions,
) -> Difference | None:
    followers = [_follower(program, each, functions) for each in by]
    for number, step in enumerate(steps):
        one, other = (follow(step) for follow in followers)
        disagreement = _disagreement(one, other, by)
        if disagreement is not None:
            relation, only = disagreement
            return Difference(by, number, relation, only, str(program), tuple(steps))
    return None


def _disagreement(
    one: Outcome, other: Outcome, by: tuple[str, str]
) -> tuple[str | None, Mapping[str, object]] | None:
    """The relation that differs, None for errors, and what each has alone."""
    if isinstance(one, LftjError) or isinstance(other, LftjError):
        if isinstance(one, LftjError) and isinstance(other, LftjError):
            return None
        return None, {
            name: str(each).splitlines()[0] if isinstance(each, LftjError) else "no error"
            for name, each in zip(by, (one, other), strict=True)
        }
    for name, rows in one.rows.items():
        found = ({_rounded(row): row for row in each} for each in (rows, other.rows[name]))
        alone = _apart(*found)
        if any(alone):
            return name, dict(zip(by, alone, strict=True))
    for name, alone in (*one.reported.items(), *other.reported.items()):
        return name, dict(zip(("changes", "states"), alone, strict=True))
    return None


def _apart(one: Mapping[Row, Row], other: Mapping[Row, Row]) -> tuple[list[Row], list[Row]]:
    """Rows that each has alone, by keys that may be rounded."""
    return (
        [one[key] for key in sorted(one.keys() - other.keys(), key=repr)],
        [other[key] for key in sorted(other.keys() - one.keys(), key=repr)],
    )


def _rounded(row: Row) -> Row:
    """A row by which floats are compared."""
    return tuple(float(f"{value:.9g}") if isinstance(value, float) else value for value in row)


# ── the least history ─────────────────────────────────────────────────────────────────────────────
def _least(
    found: Difference,
    program: tree.ParsedProgram,
    steps: tuple[Step, ...],
    functions: Functions,
) -> Difference:
    """Drop rules, steps and rows, one after the other, while a difference stays."""
    smaller = True
    while smaller:
        smaller = False
        for program_less, steps_less in _less(program, steps):
            try:
                again = _first_difference(program_less, steps_less, found.by, functions)
            except LftjError:
                continue  # what is left is no program, or has no SQL
            if again is not None:
                found, program, steps = again, program_less, steps_less[: again.step + 1]
                smaller = True
                break
    return replace(found, program=str(program), history=steps)


def _less(
    program: tree.ParsedProgram, steps: tuple[Step, ...]
) -> Iterator[tuple[tree.ParsedProgram, tuple[Step, ...]]]:
    """Programs and histories that are one rule, step, row, or half of some rows smaller."""
    for number, clause in enumerate(program.clauses):
        if isinstance(clause, tree.Rule):
            clauses = (*program.clauses[:number], *program.clauses[number + 1 :])
            yield tree.ParsedProgram(clauses), steps
    for number, step in enumerate(steps):
        before, after = steps[:number], steps[number + 1 :]
        if len(steps) > 1:
            yield program, (*before, *after)
        for smaller in _less_of(step):
            yield program, (*before, smaller, *after)


def _less_of(step: Step) -> Iterator[Step]:
    for part in ("insert", "delete"):
        changed: Rows = getattr(step, part)
        for name, rows in changed.items():
            for left in _shorter(list(rows)):
                yield replace(step, **{part: {**changed, name: left}})


def _shorter(rows: list[Row]) -> Iterator[list[Row]]:
    if len(rows) > 3:
        half = len(rows) // 2
        yield rows[half:]
        yield rows[:half]
    for place in range(len(rows)):
        yield rows[:place] + rows[place + 1 :]
