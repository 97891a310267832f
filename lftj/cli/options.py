# SPDX-License-Identifier: Apache-2.0
"""Commands as the command line knows them, and options that several of them have."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

Options = argparse.Namespace
Parser = argparse.ArgumentParser


class Command(NamedTuple):
    """One command: its summary, what adds its options to a parser, what runs it, for its status."""

    summary: str
    describe: Callable[[Parser], None]
    run: Callable[[Options], int | None]


def add_program(
    parser: Parser, text: str = "a file of rules; - reads them from standard input"
) -> None:
    """Add the program that a command reads."""
    parser.add_argument("program", metavar="PROGRAM", help=text)


def add_path(parser: Parser, text: str = "the path of a workspace") -> None:
    """Add the path of a workspace."""
    parser.add_argument("path", metavar="PATH", type=Path, help=text)


def add_fact_dir(parser: Parser) -> None:
    """Add the folder of a program's facts."""
    parser.add_argument(
        "-F",
        "--fact-dir",
        metavar="DIR",
        type=Path,
        default=Path(),
        help="where the files of .input relations are (default: here)",
    )


def add_allow_paths(parser: Parser, text: str = "let the program include files anywhere") -> None:
    """Add the consent to read files anywhere."""
    parser.add_argument("--allow-paths", action="store_true", help=text)


def add_modules(parser: Parser) -> None:
    """Add the modules that are imported first, for the aggregates of a workspace."""
    parser.add_argument(
        "--import",
        dest="modules",
        metavar="MODULE",
        action="append",
        default=[],
        help="a module with aggregates of your own, imported before; may be given again",
    )


def import_modules(names: Iterable[str]) -> None:
    """Import modules, those of the current folder too. Raises ImportError."""
    from importlib import import_module

    for name in names:
        if os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())
        import_module(name)


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """Read a whole number within bounds."""

    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < least or (most is not None and int(text) > most):
            upper = "or more" if most is None else f"to {most}"
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number, {least} {upper}")
        return int(text)

    return number
