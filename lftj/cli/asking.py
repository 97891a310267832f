# SPDX-License-Identifier: Apache-2.0
"""`lftj query`, `why`, `why-not`, `log` and `diff`: one question about a workspace at a path, or
about a program over its facts.
"""

from __future__ import annotations

import datetime
import shlex
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from lftj.cli.opening import opened
from lftj.cli.output import write
from lftj.engine.questions.question import Question
from lftj.errors import BranchError, CommandError, ExplanationError

if TYPE_CHECKING:
    from lftj.api.snapshot import Snapshot
    from lftj.api.workspace import Workspace
    from lftj.cli.options import Options
    from lftj.engine.versions.result import Result
    from lftj.types import Type


def moment(text: str) -> int | datetime.datetime:
    """A version by its number, or a moment: `2026-11-27`, `2026-11-27T10:00`. Raises CommandError
    (E390).
    """
    if text.isdecimal():
        return int(text)
    with suppress(ValueError):
        return datetime.datetime.fromisoformat(text)
    raise CommandError(
        f"{text!r} is neither a version nor a moment", hint="write 7, or 2026-11-27T10:00"
    )


# ── commands ──────────────────────────────────────────────────────────────────────────────────────
def query(options: Options) -> None:
    """Print the answers to a question."""
    with _version(options) as version:
        question = Question(options.question)
        values = _values(version, question, options.values)
        found = version._read().query(question, values)  # pyright: ignore[reportPrivateUsage]
        write(found, options.format, options.output, options.rows, options.null)


def why(options: Options) -> None:
    """Print why a row is there."""
    with _version(options) as version, remedies(f"lftj why-not {options.program}", _atom(options)):
        print(version.explain(_atom(options)))


def why_not(options: Options) -> None:
    """Print why a row is not there."""
    with _version(options) as version, remedies(f"lftj why {options.program}", _atom(options)):
        print(version.why_not(_atom(options)))


def log(options: Options) -> None:
    """Print the commits."""
    with _workspace(options) as workspace:
        write(workspace.log(), options.format, options.output, options.rows, options.null)


def diff(options: Options) -> None:
    """Print the change of relations from one version or branch to another: numbers of rows, of a
    relation that is named the rows.
    """
    with opened(options.program) as workspace:
        before, after = options.before, options.after
        if options.relation is not None:
            found = difference(workspace, before, after, options.relation)
            write(found, options.format, options.output, options.rows, options.null)
            return
        if options.format is not None or options.output is not None:
            raise CommandError(
                "only the rows of one relation have a format", hint="name it behind the versions"
            )
        for name in both(workspace, before, after):
            if counts := counted(difference(workspace, before, after, name)):
                print(f"{name} {counts}")


# ── versions ──────────────────────────────────────────────────────────────────────────────────────
@contextmanager
def _workspace(options: Options) -> Generator[Workspace]:
    """The workspace, or one of its branches."""
    with opened(options.program, options.fact_dir, allow_paths=options.allow_paths) as workspace:
        yield workspace if options.branch == "main" else branch_of(workspace, options.branch)


@contextmanager
def _version(options: Options) -> Generator[Workspace | Snapshot]:
    """The version that is asked: the last one, or that of `--at`."""
    with _workspace(options) as workspace:
        yield workspace if options.at is None else workspace.at(moment(options.at))


def branch_of(workspace: Workspace, name: str) -> Workspace:
    """A branch that is there. Raises BranchError (E380)."""
    found = workspace.branches
    if name not in found:
        raise BranchError(f"there is no branch {name!r}", hint=f"there are {', '.join(found)}")
    return found[name]


def _are_versions(workspace: Workspace, *places: str) -> bool:
    """Test for versions or moments, where other places are branches."""
    with suppress(CommandError):
        for each in places:
            moment(each)
        return not any(each in workspace.branches for each in places)
    return False


def difference(workspace: Workspace, before: str, after: str, relation: str) -> Result:
    """The change of a relation between two versions, moments or branches. Raises BranchError,
    PastError, UnknownNameError.
    """
    if not _are_versions(workspace, before, after):
        return workspace.diff(before, after, relation)
    return workspace.history(relation, since=moment(before), until=moment(after))


def both(workspace: Workspace, before: str, after: str) -> list[str]:
    """The relations that both of two versions or branches have. Raises BranchError, PastError."""
    if _are_versions(workspace, before, after):
        one, other = (workspace.at(moment(each)).relations for each in (before, after))
    else:
        one, other = (branch_of(workspace, each).relations for each in (before, after))
    return sorted(one.keys() & other.keys())


def counted(change: Result) -> str:
    """The numbers of rows that came and went; empty where there are none."""
    signs = change.arrow().column("__diff__").to_pylist()
    counts = {"+": sum(sign > 0 for sign in signs), "-": sum(sign < 0 for sign in signs)}
    return " ".join(f"{sign}{count:,}" for sign, count in counts.items() if count)


# ── rows and values ───────────────────────────────────────────────────────────────────────────────
def _atom(options: Options) -> str:
    return str(options.atom).strip().removesuffix(".")


@contextmanager
def remedies(command: str, atom: str) -> Generator[None]:
    """Have the error of a row that is missing, or there, name the command that tells of it."""
    try:
        yield
    except ExplanationError as error:
        if error.code == "E361":
            error.hint = f"write {command} {shlex.quote(atom) if ' ' in command else atom}"
        raise


def _values(
    version: Workspace | Snapshot, question: Question, texts: Sequence[str]
) -> tuple[object, ...]:
    """The values of a question's parameters, of the types that it wants. Raises ArityError (E120),
    and what reading the question raises.
    """
    question.parametrised.require(texts)
    if not texts:
        return ()
    read: Any = version._read()  # pyright: ignore[reportPrivateUsage]
    types = [type for _, type in question.parametrised.schema(read.program.catalog).columns]
    return tuple(map(_value, types, texts))


def _value(type: Type, text: str) -> object:
    """A text as a value of a type; the text itself where it is none, which the question refuses."""
    if type.name == "bool":
        return {"true": True, "false": False}.get(text, text)
    reading: dict[str, Any] = {
        "int": int,
        "unsigned": int,
        "float": float,
        "decimal": Decimal,
        "date": datetime.date.fromisoformat,
        "timestamp": datetime.datetime.fromisoformat,
    }
    with suppress(ValueError, InvalidOperation):
        return reading.get(type.name, str)(text)
    return text
