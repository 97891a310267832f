"""The commands and their options, with typer. What a command needs is imported when it runs, so
that `--help` is quick.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup


class _Commands(TyperGroup):
    """The commands, with a word for those who give a program alone, as to Soufflé."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in self.commands and Path(args[0]).suffix == ".dl":
            ctx.fail(f"No command before the program: lftj run {' '.join(args)}")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=_Commands,
    help="Datalog whose views stay true while the data changes.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

ProgramFile = Annotated[
    str,
    typer.Argument(metavar="PROGRAM", help="A file of rules; `-` reads them from standard input."),
]
FactFolder = Annotated[
    Path,
    typer.Option(
        "-F", "--fact-dir", metavar="DIR", help="Where the files of `.input` relations are."
    ),
]


def _version(wanted: bool) -> None:
    if wanted:
        from lftj import __version__

        typer.echo(f"lftj {__version__}")
        raise typer.Exit()


@app.callback()
def lftj(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version and end."
        ),
    ] = False,
) -> None:
    """Datalog whose views stay true while the data changes."""


@app.command()
def run(
    program: ProgramFile,
    fact_dir: FactFolder = Path(),
    output_dir: Annotated[
        str,
        typer.Option(
            "-D",
            "--output-dir",
            metavar="DIR",
            help="Where `.output` relations are written; `-` is standard output.",
        ),
    ] = ".",
    jobs: Annotated[
        str,
        typer.Option(
            "-j", "--jobs", metavar="N", help="How many threads evaluate; `auto`: one per core."
        ),
    ] = "1",
    allow_paths: Annotated[
        bool, typer.Option("--allow-paths", help="Let the program name and include files anywhere.")
    ] = False,
    no_warn: Annotated[bool, typer.Option("-w", "--no-warn", help="Print no warnings.")] = False,
    db: Annotated[
        Path | None,
        typer.Option(
            "--db",
            metavar="PATH",
            help="A workspace that keeps what is derived: the next run follows what changed.",
        ),
    ] = None,
) -> None:
    """Evaluate a program as Soufflé does: facts from files, results into files or to standard
    output.
    """
    from lftj.cli import run as command

    if jobs != "auto" and not (jobs.isdecimal() and int(jobs)):
        raise typer.BadParameter(
            f"{jobs!r} is neither a number of threads nor 'auto'", param_hint="-j"
        )
    threads = None if jobs == "auto" else int(jobs)
    command.run(
        program,
        fact_dir,
        output_dir,
        warn=not no_warn,
        threads=threads,
        allow_paths=allow_paths,
        db=db,
    )


@app.command()
def watch(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where the files of `.input` relations are.")
    ],
    program: Annotated[
        str | None,
        typer.Argument(
            metavar="[PROGRAM]",
            help="A file of rules; by default the one in DIR.",
            show_default=False,
        ),
    ] = None,
    db: Annotated[
        Path | None,
        typer.Option("--db", metavar="PATH", help="A workspace that keeps what is derived."),
    ] = None,
    output_dir: Annotated[
        str | None,
        typer.Option(
            "-D",
            "--output-dir",
            metavar="DIR",
            help="Write `.output` relations there after each commit.",
        ),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option("--interval", metavar="S", min=0.01, help="Seconds between two looks."),
    ] = 0.5,
) -> None:
    """Keep a program's views true while the files of its facts change: each change is a commit.
    Ctrl-C ends it.
    """
    from lftj.cli import watch as command

    command.watch(folder, program, db=db, output_dir=output_dir, seconds=seconds)


@app.command()
def check(
    program: Annotated[
        str,
        typer.Argument(
            metavar="PROGRAM",
            help="A file of rules, `-` for standard input, or the path of a workspace.",
        ),
    ],
    allow_paths: Annotated[
        bool, typer.Option("--allow-paths", help="Let the program include files anywhere.")
    ] = False,
    passes: Annotated[
        bool, typer.Option("--passes", help="Show each rule after each rewrite that changed it.")
    ] = False,
    deep: Annotated[
        bool, typer.Option("--deep", help="Recompute the views of a workspace and compare.")
    ] = False,
) -> None:
    """Print every error of a program; if there is none, its strata and the plan of each rule. Or
    every damage of a workspace: checksums, rows, and with `--deep` views.
    """
    if program != "-" and Path(program).is_dir():
        from lftj.cli import care

        raise typer.Exit(0 if care.check(Path(program), deep=deep) else 1)
    from lftj.cli import check as command

    command.check(program, allow_paths=allow_paths, passes=passes)


WorkspacePath = Annotated[
    Path, typer.Argument(metavar="PATH", help="The path of a workspace.", show_default=False)
]


@app.command()
def info(path: WorkspacePath) -> None:
    """Print what a workspace holds, and how large its files are."""
    from lftj.cli import care

    care.info(path)


@app.command()
def report(
    program: Annotated[
        str,
        typer.Argument(
            metavar="PROGRAM",
            help="A file of rules, `-` for standard input, or the path of a workspace.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="Where the page is written.")
    ] = Path("report.html"),
    fact_dir: FactFolder = Path(),
    samples: Annotated[
        int, typer.Option("--samples", min=0, help="How many rows of each relation it shows.")
    ] = 8,
    allow_paths: Annotated[
        bool, typer.Option("--allow-paths", help="Let the program name and include files anywhere.")
    ] = False,
) -> None:
    """Write one page about a program or workspace: relations, rules with plans, commits, memory,
    and why rows are there.
    """
    from lftj.cli import report as command

    command.write(program, output, fact_dir, samples, allow_paths=allow_paths)


@app.command()
def serve(
    path: WorkspacePath,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any that is free.")] = 0,
) -> None:
    """Serve that page about a workspace while others commit to it, read-only, to this machine, at
    the address that is printed.
    """
    from lftj.cli import report as command

    command.serve(path, port)


@app.command()
def compact(path: WorkspacePath) -> None:
    """Make the files of a workspace as small as they can be. Nobody else writes meanwhile."""
    from lftj.cli import care

    care.compact(path)


@app.command()
def dump(
    path: WorkspacePath,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder, made for it.")],
    salvage: Annotated[
        bool, typer.Option("--salvage", help="Write what is left of damaged files; status 1.")
    ] = False,
    branch: Annotated[
        str, typer.Option("--branch", metavar="NAME", help="The branch to write.")
    ] = "main",
) -> None:
    """Write a workspace as Parquet files and rule text, which any version of lftj loads."""
    from lftj.cli import care

    raise typer.Exit(0 if care.dump(path, folder, salvage=salvage, branch=branch) else 1)


@app.command()
def load(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="What `lftj dump` wrote.")],
    path: WorkspacePath,
) -> None:
    """Begin a workspace with what a dump has."""
    from lftj.cli import care

    care.load(folder, path)


@app.command()
def sql(
    program: ProgramFile,
    dialect: Annotated[
        str, typer.Option("--dialect", metavar="NAME", help="`duckdb` or `spark`.")
    ] = "duckdb",
    allow_paths: Annotated[
        bool, typer.Option("--allow-paths", help="Let the program include files anywhere.")
    ] = False,
) -> None:
    """Print a program as SQL: a query for each rule, views in the order of strata."""
    from lftj.cli.run import read_program
    from lftj.sql.program import to_sql
    from lftj.syntax.parser import parse

    text, name = read_program(program, allow_paths=allow_paths)
    typer.echo(str(to_sql(parse(text, name), dialect)), nl=False)


@app.command()
def shell(
    path: Annotated[
        Path | None,
        typer.Argument(metavar="[PATH]", help="A workspace, begun if need be; none: in memory."),
    ] = None,
) -> None:
    """Type rules, facts and queries, or pipe them in; `.help` lists commands."""
    from lftj.cli import shell as command

    raise typer.Exit(0 if command.run(path) else 1)


@app.command()
def warmup() -> None:
    """See that kernels are compiled for this machine: for images, and before tests."""
    from lftj.cli import warmup as command

    command.warmup()


@app.command()
def demo(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where the picture is saved.")
    ] = Path(),
    days: Annotated[
        int,
        typer.Option("--days", min=1, max=30, help="How many days of September 2013 to commit."),
    ] = 14,
    spark: Annotated[
        bool,
        typer.Option(
            "--spark", help="Do it on Spark, in this machine, and compare; needs the extra `spark`."
        ),
    ] = False,
    keep: Annotated[
        Path | None,
        typer.Option("--keep", metavar="PATH", help="Where the workspace lasts, with its past."),
    ] = None,
) -> None:
    """Keep views over the 2013 flights from New York true, one committed day after another."""
    from rich.console import Console

    from lftj.demo import show
    from scantree.jit.announcing import said_by

    if spark and keep is not None:
        raise typer.BadParameter("what Spark holds is not kept", param_hint="--keep")
    console = Console()
    if not console.is_terminal:
        console = Console(width=max(console.width, 120))
    with said_by(lambda text: None):  # the demo has lines of its own for that
        if spark:
            from lftj.demo import on_spark

            on_spark.run(console, days)
        else:
            show.run(console, out, days, keep=keep)
