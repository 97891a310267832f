# SPDX-License-Identifier: Apache-2.0
"""File directives of a program. All are checked before anything is evaluated, so that nothing is
written by halves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from lftj.errors import FrameError, LftjError, ProgramErrors
from lftj.frames import (
    FactsLayout,
    check_table_parameters,
    is_table_file,
    known_parameters,
    unknown_parameters,
)
from lftj.syntax import tree

_INWARD = ("file", "stdin")
_OUTWARD = ("file", "stdout", "stdoutprintsize")


def directives_of(program: tree.ParsedProgram) -> list[tree.Directive]:
    """The directives in the order of the text."""
    return [clause for clause in program.clauses if isinstance(clause, tree.Directive)]


def of_kind(directives: Iterable[tree.Directive], *kinds: str) -> list[tree.Directive]:
    """Select the directives of these kinds."""
    return [directive for directive in directives if directive.kind in kinds]


def check_directives(directives: Iterable[tree.Directive], *, from_input: bool = False) -> None:
    """Raise ProgramErrors with every directive (FrameError E231) whose parameters mean nothing, or
    that would undo another one.

    `from_input`: the program came from standard input.
    """
    errors: list[LftjError] = []
    used: dict[object, Any] = {"stdin": "the program"} if from_input else {}
    limited: set[str] = set()
    for directive in directives:
        try:
            if directive.kind == "limitsize":
                if directive.relation in limited:
                    problem = "there is such a .limitsize already"
                    raise _refused(directive, problem, "leave one of them out")
                rows_kept(directive)
                limited.add(directive.relation)
            else:
                _check_use(directive, layout_of(directive)[1], used)
        except FrameError as error:
            errors.append(error)
    if errors:
        raise ProgramErrors(errors)


def ignored_parameters(directives: Iterable[tree.Directive]) -> Iterator[str]:
    """Warnings of parameters that no directive has, which Soufflé ignores without a word."""
    for directive in directives:
        if directive.kind != "limitsize":
            for problem, hint in unknown_parameters(dict(directive.parameters)).values():
                yield f".{directive.kind} {directive.relation}: {problem} is ignored; {hint}"


def _check_use(directive: tree.Directive, layout: FactsLayout, used: dict[object, Any]) -> None:
    """Standard input ends once it was read, and of two relations, or layouts, in one file only the
    second is there. `used`: by whom they are.
    """
    relation = directive.relation
    if directive.kind == "input" and layout.io == "stdin":
        if (other := used.setdefault("stdin", f".input {relation}")) != f".input {relation}":
            raise _refused(
                directive,
                f"standard input is read by {other} already",
                "read one of them from a file",
            )
    elif directive.kind == "output" and layout.io == "file":
        path = layout.path(relation, ".", output=True)
        wanted = f".output {relation}", replace(layout, filename=None)
        other = used.setdefault(path, wanted)
        if other != wanted and (path.is_file() or not path.exists()):  # devices take all
            raise _refused(
                directive,
                f"{path} is written by {other[0]} already",
                "give each directive a file of its own",
            )


def layout_of(directive: tree.Directive) -> tuple[dict[str, str | int], FactsLayout]:
    """The parameters of an `.input`, `.output` or `.printsize`, and what they say. Raises
    FrameError (E231) with the directive's place.
    """
    parameters = known_parameters(dict(directive.parameters))
    try:
        layout = FactsLayout.of(parameters)
        if layout.filename is not None and is_table_file(Path(layout.filename)):
            check_table_parameters(parameters, Path(layout.filename))
    except FrameError as error:
        raise _refused(directive, error.message, error.hint) from None
    if layout.io not in (ways := _INWARD if directive.kind == "input" else _OUTWARD):
        hint = f"use {' or '.join(f'IO={way}' for way in ways[:2])}"
        raise _refused(directive, f"IO={layout.io} is not for .{directive.kind}", hint)
    return parameters, layout


def rows_kept(directive: tree.Directive) -> int:
    """Number of rows that a `.limitsize` lets be written. Raises FrameError (E231) with its
    place.
    """
    rows = dict(directive.parameters).get("n")
    if not isinstance(rows, int) or rows < 0 or len(directive.parameters) > 1:
        raise _refused(
            directive, "how many rows is not said", f"write .limitsize {directive.relation}(n=10)"
        )
    return rows


def _refused(directive: tree.Directive, problem: str, hint: str | None) -> FrameError:
    return FrameError(
        f".{directive.kind} {directive.relation}: {problem}",
        code="E231",
        span=directive.span,
        hint=hint,
    )
