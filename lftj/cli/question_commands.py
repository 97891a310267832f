# SPDX-License-Identifier: Apache-2.0
"""Commands that ask one question, and their options."""

from __future__ import annotations

from pathlib import Path

from lftj.cli.options import (
    Command,
    Options,
    Parser,
    add_allow_paths,
    add_fact_dir,
    add_modules,
    add_program,
    whole,
)

_OF = "the path of a workspace, a file of rules, or - for rules from standard input"


def _add_source(parser: Parser) -> None:
    add_program(parser, _OF)


def _add_reading(parser: Parser) -> None:
    """Add what tells a version, and where the facts of a program are."""
    parser.add_argument(
        "--at", metavar="VERSION", help="a past version, by number or as 2026-11-27T10:00"
    )
    _add_branch(parser)


def _add_branch(parser: Parser) -> None:
    parser.add_argument(
        "--branch", metavar="NAME", default="main", help="the branch that is read (default: main)"
    )
    add_fact_dir(parser)
    add_allow_paths(parser, "let the program name and include files anywhere")
    add_modules(parser)


def _add_form(parser: Parser) -> None:
    """Add the form of rows that are printed."""
    parser.add_argument(
        "--format",
        choices=("table", "csv", "json", "jsonl", "parquet"),
        help="default: table, or what the ending of FILE says",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="write rows there, not to the screen"
    )
    parser.add_argument(
        "--rows",
        metavar="N",
        type=whole(0),
        help="so many rows of a table (default: 40 at a terminal, all elsewhere)",
    )
    parser.add_argument("--null", metavar="TEXT", help="the field of CSV that stands for NULL")


def _describe_query(parser: Parser) -> None:
    _add_source(parser)
    parser.add_argument(
        "question", metavar="QUESTION", help="an atom or a body: 'reach(1, y), y != 3'"
    )
    parser.add_argument(
        "values", metavar="VALUE", nargs="*", help="a value for each ? of the question"
    )
    _add_form(parser)
    _add_reading(parser)


def _describe_why(parser: Parser) -> None:
    _add_source(parser)
    parser.add_argument("atom", metavar="ATOM", help='one row: \'may("ann", "x")\'')
    _add_reading(parser)


def _describe_log(parser: Parser) -> None:
    _add_source(parser)
    _add_form(parser)
    _add_branch(parser)


def _describe_diff(parser: Parser) -> None:
    parser.add_argument("program", metavar="PATH", help="the path of a workspace")
    parser.add_argument("before", metavar="BEFORE", help="a version, a moment or a branch")
    parser.add_argument("after", metavar="AFTER", help="another one of the same kind")
    parser.add_argument(
        "relation", metavar="RELATION", nargs="?", help="whose rows are shown (default: counts)"
    )
    _add_form(parser)
    add_modules(parser)


def _query(options: Options) -> None:
    from lftj.cli import asking

    asking.query(options)


def _why(options: Options) -> None:
    from lftj.cli import asking

    asking.why(options)


def _why_not(options: Options) -> None:
    from lftj.cli import asking

    asking.why_not(options)


def _log(options: Options) -> None:
    from lftj.cli import asking

    asking.log(options)


def _diff(options: Options) -> None:
    from lftj.cli import asking

    asking.diff(options)


QUESTIONS = {
    "query": Command(
        "Print the answers to a question, as a table or as CSV, JSON or Parquet. It is asked of a "
        "workspace, at any version or branch, or of a program over its facts.",
        _describe_query,
        _query,
    ),
    "why": Command("Print why a row is there, down to base facts.", _describe_why, _why),
    "why-not": Command(
        "Print why a row is not there, and the smallest changes that bring it.",
        _describe_why,
        _why_not,
    ),
    "log": Command("Print the commits of a workspace.", _describe_log, _log),
    "diff": Command(
        "Print what changed between two versions or branches of a workspace.",
        _describe_diff,
        _diff,
    ),
}
