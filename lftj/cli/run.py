# SPDX-License-Identifier: Apache-2.0
"""`lftj run`: a program from a file, its facts from files, its results into files, in one
transaction.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from lftj.cli.directives import (
    check_directives,
    directives_of,
    ignored_parameters,
    layout_of,
    of_kind,
    rows_kept,
)
from lftj.cli.renewing import renew
from lftj.engine.transaction.program_draft import outside
from lftj.errors import FileMissingError, FrameError, LftjError, PathOutsideError
from lftj.frames import check_inside, confined, is_table_file, open_folder, write_table
from lftj.scantree.jit.announcing import said_by
from lftj.syntax import tree
from lftj.syntax.functors import PRAGMAS
from lftj.syntax.preprocess import preprocess

if TYPE_CHECKING:
    from lftj.api.transaction import Transaction
    from lftj.api.workspace import Workspace


@contextmanager
def progress() -> Generator[Callable[[str], None]]:
    """Gives a function that shows what the command is doing: one line of standard error, in place
    of the last one, and gone at the end. Silent where that is no terminal.
    """
    if sys.stderr is None or not sys.stderr.isatty():  # pyright: ignore[reportUnnecessaryComparison] -- a process may have none
        yield lambda text: None
        return

    def say(text: str) -> None:
        print(f"\r{text} …", end="\033[K", file=sys.stderr, flush=True)

    try:
        with said_by(say):
            yield say
    finally:
        print("\r", end="\033[K", file=sys.stderr, flush=True)


STANDARD_STREAM = "-"


def read_program(path: str, *, allow_paths: bool = False) -> tuple[str, str]:
    """The text of a program, preprocessed, and its name in messages; `-` is standard input.

    Without `allow_paths` only files below its folder are included. Raises FileMissingError,
    FrameError (E232), ParseError (E104).
    """
    text, name = _read_text(path)
    folder = Path() if path == STANDARD_STREAM else Path(path).parent
    return preprocess(text, name, folder, allow_paths=allow_paths), name


def _read_text(path: str) -> tuple[str, str]:
    name, source = ("<stdin>", None) if path == STANDARD_STREAM else (path, Path(path))
    try:
        data = standard_input().read() if source is None else source.read_bytes()
        return data.decode("utf-8-sig"), name
    except FileNotFoundError:
        raise FileMissingError(
            f"there is no program {path}", hint=f"paths start at {Path.cwd()}"
        ) from None
    except UnicodeDecodeError as reason:
        line = reason.object.count(b"\n", 0, reason.start) + 1
        raise FrameError(
            f"{name}, line {line}: the text is not UTF-8",
            code="E232",
            hint="save the file as UTF-8",
        ) from None
    except LftjError:
        raise
    except (OSError, ValueError) as reason:
        why = getattr(reason, "strerror", None) or reason
        raise FrameError(
            f"{path} cannot be read: {why}", code="E232", hint="name a file of rules"
        ) from None


def standard_input() -> BinaryIO:
    """Standard input as bytes. Raises FrameError (E232) where the process was started without."""
    if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise FrameError(
            "standard input is closed",
            code="E232",
            hint="write < FILE behind the command, or name the file",
        )
    return sys.stdin.buffer


def run(
    program: str,
    fact_dir: Path,
    output_dir: str,
    *,
    warn: bool = True,
    threads: int | None = 1,
    allow_paths: bool = False,
    db: Path | None = None,
    name: str = "main",
    drop: bool = False,
    alter: bool = False,
) -> None:
    """Evaluate a program and write what it outputs. Nothing is written when anything fails before.
    With `db` a workspace at this path keeps what is derived, and the next run follows what changed:
    there the text is the program of a `name`; `drop` and `alter`: see `Workspace.program`.

    Without `allow_paths` directives read files in `fact_dir` only, and write such in `output_dir`.
    `threads` evaluate, None: one per core. `output_dir` is a folder, made if need be, or `-` for
    standard output. Raises any LftjError.
    """
    import lftj
    from lftj.syntax.parser import parse

    text, file = read_program(program, allow_paths=allow_paths)
    parsed = parse(text, file)
    directives = directives_of(parsed)
    if (
        output_dir != STANDARD_STREAM
        and Path(output_dir).exists()
        and not Path(output_dir).is_dir()
    ):
        raise FrameError(
            f"-D {output_dir} is no folder",
            code="E232",
            hint="name a folder, which is made if need be, or - to print",
        )
    written_in = "." if output_dir == STANDARD_STREAM else output_dir
    inside = Folders(None, None) if allow_paths else Folders(fact_dir, Path(written_in))
    if warn and sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison]
        for directive in of_kind(directives, "limitsize"):  # before an evaluation without end
            print(
                f"warning: .limitsize {directive.relation} limits the rows that are written; "
                "it stops no recursion",
                file=sys.stderr,
            )
    with ExitStack() as closing:
        with progress() as say:
            workspace = lftj.connect(db, progress=say, executor=lftj.ThreadExecutor(threads))
            closing.callback(workspace.close)
            with workspace.transaction(message=f"run {file}") as tx:
                if db is None:
                    tx.add_rules(parsed)
                else:
                    inputs = [each.relation for each in of_kind(directives, "input")]
                    renew(workspace, tx, text, file, inputs, name=name, drop=drop, alter=alter)
                check_directives(directives, from_input=program == STANDARD_STREAM)
                for directive in of_kind(directives, "output"):
                    _check_place(directive, written_in, inside)
                for directive in of_kind(directives, "input"):
                    say(f"reading {directive.relation}")
                    with inside.reading(directive):
                        read_input(tx, directive, fact_dir, missing_is_empty=not warn)
        if warn:
            _warn(parsed, directives)
            _warn_of_others(workspace)
        write_outputs(workspace, directives, output_dir, inside)


def _warn(parsed: tree.ParsedProgram, directives: Sequence[tree.Directive]) -> None:
    """Say what a program asks for in vain."""
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]
        return
    if not of_kind(directives, "output", "printsize"):
        print(
            "warning: the program has no .output and no .printsize; nothing is written",
            file=sys.stderr,
        )
    warn_of_ignored(parsed, directives)


def warn_of_ignored(parsed: tree.ParsedProgram, directives: Sequence[tree.Directive]) -> None:
    """Say which parameters and pragmas mean nothing here."""
    if sys.stderr is None:  # pyright: ignore[reportUnnecessaryComparison]
        return
    for warning in ignored_parameters(directives):
        print(f"warning: {warning}", file=sys.stderr, flush=True)
    for pragma in (clause for clause in parsed.clauses if isinstance(clause, tree.Pragma)):
        print(
            f'warning: .pragma "{pragma.option}" is ignored: {PRAGMAS[pragma.option]}',
            file=sys.stderr,
            flush=True,
        )


def _warn_of_others(workspace: Workspace) -> None:
    """Say that a workspace has rules that no text of a program has."""
    programs = workspace._backend.current().program.catalog.programs.values()  # pyright: ignore[reportPrivateUsage]
    held = {number for program in programs for number in program.rules}
    others = sum(rule.source not in held for rule in workspace.rules)
    if programs and others and sys.stderr is not None:  # pyright: ignore[reportUnnecessaryComparison]
        print(
            f"warning: {others} rule{'s' if others > 1 else ''} of the workspace belong to no "
            "program, and stay",
            file=sys.stderr,
        )


def write_outputs(
    workspace: Workspace,
    directives: Sequence[tree.Directive],
    output_dir: str,
    inside: Folders,
) -> None:
    """Write what directives want, of what the workspace has."""
    limits = {
        directive.relation: rows_kept(directive) for directive in of_kind(directives, "limitsize")
    }
    for directive in of_kind(directives, "output", "printsize"):
        with inside.writing(directive):
            _write(workspace, directive, output_dir, limits.get(directive.relation))


class Folders(NamedTuple):
    """The folders that directives may name files in, or None for any."""

    read: Path | None
    written: Path | None

    def reading(self, directive: tree.Directive) -> AbstractContextManager[None]:
        """While an `.input` is read."""
        return _confined(directive, self.read)

    def writing(self, directive: tree.Directive) -> AbstractContextManager[None]:
        """While an `.output` is written."""
        return _confined(directive, self.written)


@contextmanager
def _confined(directive: tree.Directive, folder: Path | None) -> Generator[None]:
    """Raises PathOutsideError (E233) with the directive's place."""
    try:
        with confined(folder):
            yield
    except PathOutsideError as error:
        raise outside(
            error,
            f".{directive.kind}",
            directive.relation,
            directive.span,
            "run with --allow-paths",
        ) from None


def _check_place(directive: tree.Directive, folder: str, inside: Folders) -> None:
    """Raise PathOutsideError (E233) for an `.output` into another folder, before anything is
    evaluated.
    """
    _, layout = layout_of(directive)
    if layout.io == "file":
        with inside.writing(directive):
            check_inside(layout.path(directive.relation, folder, output=True))


def read_input(
    tx: Transaction, directive: tree.Directive, fact_dir: Path, *, missing_is_empty: bool = False
) -> None:
    """Insert the facts that an `.input` names. `missing_is_empty`: a file that is not there has
    none, as for Soufflé's `-w`.
    """
    parameters, layout = layout_of(directive)
    source = (
        standard_input()
        if layout.io == "stdin"
        else layout.path(directive.relation, fact_dir, output=False)
    )
    try:
        tx.insert(directive.relation, source, facts=parameters)
    except FileMissingError as error:
        if missing_is_empty:
            return
        remedy = (
            f'say where it is with -F DIR, or name it: .input {directive.relation}(filename="…")'
        )
        hint = (
            f"{error.hint}; or {remedy}"
            if error.hint and error.hint.startswith("did you mean")
            else remedy
        )
        raise FileMissingError(
            f".input {directive.relation}: {error.message}", span=directive.span, hint=hint
        ) from None
    except FrameError as error:
        if error.code == "E231":  # all others name the file
            error.message, error.span = (
                f".input {directive.relation}: {error.message}",
                directive.span,
            )
        raise


def _write(
    workspace: Workspace, directive: tree.Directive, output_dir: str, limit: int | None
) -> None:
    """Write a relation as an `.output` or `.printsize` wants it."""
    relation = directive.relation
    result = workspace[relation]
    parameters, layout = layout_of(directive)
    if directive.kind == "printsize" or layout.io == "stdoutprintsize":
        print(f"{relation}\t{len(result)}")
        return
    to_screen = output_dir == STANDARD_STREAM and "IO" not in parameters
    if layout.io == "stdout" or to_screen:
        with _placed(directive):
            _print(result, relation, parameters | ({"headers": "true"} if to_screen else {}), limit)
        return
    path = layout.path(relation, "." if output_dir == STANDARD_STREAM else output_dir, output=True)
    try:
        if output_dir != STANDARD_STREAM:
            Path(output_dir).mkdir(parents=True, exist_ok=True)
        with open_folder(check_inside(path.parent), make=True):
            pass
    except OSError as reason:
        hint = "name a folder with -D, or - to print"
        raise FrameError(
            f"the folder {path.parent} cannot be made: {reason.strerror}", code="E232", hint=hint
        ) from None
    with _placed(directive):
        if is_table_file(path):
            _write_table(path, result, limit)
        else:
            result.write_facts(path, parameters, limit=limit)


@contextmanager
def _placed(directive: tree.Directive) -> Generator[None]:
    """Errors in what is written show their directive: columns of several relations have
    one name.
    """
    try:
        yield
    except FrameError as error:
        error.span = directive.span
        raise


def _write_table(path: Path, result: Any, limit: int | None) -> None:
    table = result.arrow()
    if result.columns:
        table = table.sort_by([(column, "ascending") for column in result.columns])
    write_table(path, table[:limit])


def _print(result: Any, relation: str, parameters: dict[str, str | int], limit: int | None) -> None:
    """A relation between Soufflé's lines; the column names stand above the rows, not among them."""
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise FrameError(
            "standard output is closed",
            code="E232",
            hint="name a folder with -D, and leave IO=stdout out",
        )
    headers = str(parameters.pop("headers", "false")).casefold() in ("true", "1")
    delimiter = str(parameters.get("delimiter", "\t"))
    header = str(parameters.get("attributeNames", delimiter.join(result.columns)))
    print(
        "---------------",
        relation,
        *([header] if headers else []),
        "===============",
        sep="\n",
    )
    result.write_facts(sys.stdout, parameters, limit=limit)
    print("===============")
