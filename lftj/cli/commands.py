# SPDX-License-Identifier: Apache-2.0
"""The commands and their options. What a command needs is imported when it runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from lftj.cli.options import (
    Command,
    Options,
    Parser,
    add_allow_paths,
    add_fact_dir,
    add_modules,
    add_path,
    add_program,
    whole,
)
from lftj.cli.question_commands import QUESTIONS


def _describe_run(parser: Parser) -> None:
    add_program(parser)
    add_fact_dir(parser)
    parser.add_argument(
        "-D",
        "--output-dir",
        metavar="DIR",
        default=".",
        help="where .output relations are written; - is standard output (default: here)",
    )
    parser.add_argument(
        "-j",
        "--jobs",
        metavar="N",
        type=_threads,
        default=1,
        help="how many threads evaluate; auto: one per core (default: 1)",
    )
    add_allow_paths(parser, "let the program name and include files anywhere")
    parser.add_argument(
        "-w",
        "--no-warn",
        action="store_true",
        help="print no warnings; an .input whose file is missing has no facts",
    )
    parser.add_argument(
        "--db",
        metavar="PATH",
        type=Path,
        help="a workspace that keeps what is derived: the next run follows what changed",
    )
    parser.add_argument(
        "--name",
        metavar="NAME",
        default="main",
        help="the name of the program in that workspace, beside others (default: main)",
    )
    parser.add_argument(
        "--drop",
        action="store_true",
        help="drop relations that are not declared any more, with rows and rules that need them",
    )
    parser.add_argument(
        "--alter",
        action="store_true",
        help="alter relations that are declared otherwise, so that their rows stay",
    )


def _threads(text: str) -> int | None:
    if text != "auto" and not (text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is neither a number of threads nor 'auto'")
    return None if text == "auto" else int(text)


def _run(options: Options) -> None:
    from lftj.cli import run as command

    command.run(
        options.program,
        options.fact_dir,
        options.output_dir,
        warn=not options.no_warn,
        threads=options.jobs,
        allow_paths=options.allow_paths,
        db=options.db,
        name=options.name,
        drop=options.drop,
        alter=options.alter,
    )


def _describe_watch(parser: Parser) -> None:
    parser.add_argument(
        "folder", metavar="DIR", type=Path, help="where the files of .input relations are"
    )
    parser.add_argument(
        "program", metavar="PROGRAM", nargs="?", help="a file of rules (default: the one in DIR)"
    )
    parser.add_argument(
        "--db", metavar="PATH", type=Path, help="a workspace that keeps what is derived"
    )
    parser.add_argument(
        "-D",
        "--output-dir",
        metavar="DIR",
        help="write .output relations there after each commit",
    )
    parser.add_argument(
        "--interval",
        metavar="S",
        type=_interval,
        default=0.5,
        help="seconds between two looks (default: 0.5)",
    )


def _interval(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.01 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds, 0.01 or more")
    return seconds


def _watch(options: Options) -> None:
    from lftj.cli import watch as command

    command.watch(
        options.folder,
        options.program,
        db=options.db,
        output_dir=options.output_dir,
        seconds=options.interval,
    )


def _describe_check(parser: Parser) -> None:
    add_program(parser, "a file of rules, - for standard input, or the path of a workspace")
    add_allow_paths(parser)
    parser.add_argument(
        "--passes", action="store_true", help="show each rule after each rewrite that changed it"
    )
    parser.add_argument(
        "--deep", action="store_true", help="recompute the views of a workspace and compare"
    )
    add_modules(parser)


def _check(options: Options) -> int:
    if options.program != "-" and Path(options.program).is_dir():
        from lftj.cli import workspace_files

        return 0 if workspace_files.check(Path(options.program), deep=options.deep) else 1
    from lftj.cli import check as command

    command.check(options.program, allow_paths=options.allow_paths, passes=options.passes)
    return 0


def _describe_files(parser: Parser) -> None:
    add_path(parser)
    add_modules(parser)


def _info(options: Options) -> None:
    from lftj.cli import workspace_files

    workspace_files.info(options.path)


def _describe_report(parser: Parser) -> None:
    add_program(parser, "a file of rules, - for standard input, or the path of a workspace")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        default=Path("report.html"),
        help="where the page is written (default: report.html)",
    )
    add_fact_dir(parser)
    parser.add_argument(
        "--samples",
        metavar="N",
        type=whole(0),
        default=8,
        help="how many rows of each relation it shows (default: 8)",
    )
    add_allow_paths(parser, "let the program name and include files anywhere")
    add_modules(parser)


def _report(options: Options) -> None:
    from lftj.cli import report as command

    command.write(
        options.program,
        options.output,
        options.fact_dir,
        options.samples,
        allow_paths=options.allow_paths,
    )


def _describe_serve(parser: Parser) -> None:
    add_path(parser)
    parser.add_argument(
        "--port",
        metavar="N",
        type=whole(0, 65535),
        default=0,
        help="0: any that is free (default)",
    )
    add_modules(parser)


def _serve(options: Options) -> None:
    from lftj.cli import report as command

    command.serve(options.path, options.port)


def _compact(options: Options) -> None:
    from lftj.cli import workspace_files

    workspace_files.compact(options.path)


def _describe_dump(parser: Parser) -> None:
    add_path(parser)
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="a folder, made for it")
    parser.add_argument(
        "--salvage", action="store_true", help="write what is left of damaged files; status 1"
    )
    parser.add_argument(
        "--branch", metavar="NAME", default="main", help="the branch to write (default: main)"
    )
    add_modules(parser)


def _dump(options: Options) -> int:
    from lftj.cli import workspace_files

    whole = workspace_files.dump(
        options.path, options.folder, salvage=options.salvage, branch=options.branch
    )
    return 0 if whole else 1


def _describe_load(parser: Parser) -> None:
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="what `lftj dump` wrote")
    add_path(parser, "the path of the workspace")
    add_modules(parser)


def _load(options: Options) -> None:
    from lftj.cli import workspace_files

    workspace_files.load(options.folder, options.path)


def _describe_sql(parser: Parser) -> None:
    add_program(parser)
    parser.add_argument(
        "--dialect", metavar="NAME", default="duckdb", help="duckdb (default) or spark"
    )
    add_allow_paths(parser)


def _sql(options: Options) -> None:
    from lftj.cli.run import read_program
    from lftj.sql.program import to_sql
    from lftj.syntax.parser import parse

    text, name = read_program(options.program, allow_paths=options.allow_paths)
    print(to_sql(parse(text, name), options.dialect), end="")


def _describe_shell(parser: Parser) -> None:
    parser.add_argument(
        "path",
        metavar="PATH",
        type=Path,
        nargs="?",
        help="a workspace, begun if need be; none: in memory",
    )
    parser.add_argument(
        "--read-only", action="store_true", help="open the workspace to read; others may write"
    )
    parser.add_argument(
        "--keep",
        metavar="N",
        type=_kept,
        help="how many versions are kept for .at and .history, or all (default in memory: 100)",
    )
    add_modules(parser)


def _kept(text: str) -> int | str:
    return text if text == "all" else whole(1)(text)


def _shell(options: Options) -> int:
    from lftj.cli import shell as command

    keep = options.keep or (100 if options.path is None else None)
    return 0 if command.run(options.path, read_only=options.read_only, keep=keep) else 1


def _warmup(options: Options) -> None:
    from lftj.cli import warmup as command

    command.warmup()


def _describe_demo(parser: Parser) -> None:
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        default=Path(),
        help="where picture and page are saved (default: here)",
    )
    parser.add_argument(
        "--days",
        metavar="N",
        type=whole(1, 30),
        default=7,
        help="how many days of September 2013 to commit (default: 7)",
    )
    parser.add_argument(
        "--spark",
        action="store_true",
        help="do it on Spark, in this machine, and compare; needs the extra spark",
    )
    parser.add_argument(
        "--keep",
        metavar="PATH",
        type=Path,
        help="where the workspace lasts, with its past; not with --spark",
    )


def _demo(options: Options) -> None:
    from rich.console import Console

    from lftj.demo import show
    from lftj.scantree.jit.announcing import said_by

    if options.spark and options.keep is not None:
        Parser(prog="lftj demo").error("--keep: what Spark holds is not kept")
    console = Console()
    if not console.is_terminal:
        console = Console(width=max(console.width, 120))
    with said_by(lambda text: None):  # the demo has lines of its own for that
        if options.spark:
            from lftj.demo import on_spark

            on_spark.run(console, options.days)
        else:
            show.run(console, options.out, options.days, keep=options.keep)


def _nothing(parser: Parser) -> None:
    """No options but --help."""


COMMANDS = {
    "run": Command(
        "Evaluate a program as Soufflé does: facts from files, results into files or to standard "
        "output.",
        _describe_run,
        _run,
    ),
    "watch": Command(
        "Keep a program's views true while the files of its facts change. Each change is a "
        "commit; Ctrl-C ends it.",
        _describe_watch,
        _watch,
    ),
    "check": Command(
        "Print the errors of a program, or every damage of a workspace. If a program has none, "
        "print its strata and the plan of each rule; of a workspace, compare checksums, rows, and "
        "with --deep views.",
        _describe_check,
        _check,
    ),
    "info": Command(
        "Print what a workspace holds, and how large its files are.", _describe_files, _info
    ),
    **QUESTIONS,
    "report": Command(
        "Write one page about a program or workspace: relations, rules with plans, commits, "
        "memory, and why rows are there.",
        _describe_report,
        _report,
    ),
    "serve": Command(
        "Serve that page about a workspace while others commit to it. It is read-only, and "
        "served to this machine, at the address that is printed.",
        _describe_serve,
        _serve,
    ),
    "compact": Command(
        "Make the files of a workspace as small as they can be. Nobody else writes meanwhile.",
        _describe_files,
        _compact,
    ),
    "dump": Command(
        "Write a workspace as Parquet files and rule text, which any version of lftj loads.",
        _describe_dump,
        _dump,
    ),
    "load": Command("Begin a workspace with what a dump has.", _describe_load, _load),
    "sql": Command(
        "Print a program as SQL: a query for each rule, views in the order of strata.",
        _describe_sql,
        _sql,
    ),
    "shell": Command(
        "Type rules, facts and queries, or pipe them in; `.help` lists commands.",
        _describe_shell,
        _shell,
    ),
    "warmup": Command(
        "See that kernels are compiled for this machine: for images, and before tests.",
        _nothing,
        _warmup,
    ),
    "demo": Command(
        "Keep views over the 2013 flights from New York true, one committed day after another.",
        _describe_demo,
        _demo,
    ),
}
"""All commands by their names, in the order of the help."""
