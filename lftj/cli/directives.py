"""What the directives of a program say about files: looked at before anything is evaluated, so that nothing is written by halves."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lftj.errors import FrameError, LftjError, ProgramErrors
from lftj.frames import FactsLayout, check_table_parameters, is_table_file
from lftj.syntax import tree


def directives_of(program: tree.ParsedProgram) -> list[tree.Directive]:
    """The directives in the order of the text."""
    return [clause for clause in program.clauses if isinstance(clause, tree.Directive)]


def of_kind(directives: Iterable[tree.Directive], *kinds: str) -> list[tree.Directive]:
    """Those of these kinds."""
    return [directive for directive in directives if directive.kind in kinds]


def check_directives(directives: Iterable[tree.Directive]) -> None:
    """Raise ProgramErrors with every directive (FrameError E231) whose parameters mean nothing."""
    errors: list[LftjError] = []
    for directive in directives:
        try:
            _ = rows_kept(directive) if directive.kind == "limitsize" else layout_of(directive)
        except FrameError as error:
            errors.append(error)
    if errors:
        raise ProgramErrors(errors)


def layout_of(directive: tree.Directive) -> tuple[dict[str, str | int], FactsLayout]:
    """The parameters of an `.input`, `.output` or `.printsize`, and what they say. Raises FrameError (E231) with the directive's place."""
    parameters = dict(directive.parameters)
    try:
        layout = FactsLayout.of(parameters)
        if layout.filename is not None and is_table_file(Path(layout.filename)):
            check_table_parameters(parameters, Path(layout.filename))
    except FrameError as error:
        raise _refused(directive, error.message, error.hint) from None
    return parameters, layout


def rows_kept(directive: tree.Directive) -> int:
    """How many rows a `.limitsize` lets be written. Raises FrameError (E231) with its place."""
    rows = dict(directive.parameters).get("n")
    if not isinstance(rows, int) or rows < 0 or len(directive.parameters) > 1:
        raise _refused(directive, "how many rows is not said", f"write .limitsize {directive.relation}(n=10)")
    return rows


def _refused(directive: tree.Directive, problem: str, hint: str | None) -> FrameError:
    return FrameError(f".{directive.kind} {directive.relation}: {problem}", code="E231", span=directive.span, hint=hint)
