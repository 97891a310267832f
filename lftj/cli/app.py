# SPDX-License-Identifier: Apache-2.0
"""The command line with argparse. A command's options are described when it is the one asked for:
`--help` describes nothing else.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from lftj.cli.commands import COMMANDS
from lftj.cli.options import Parser, import_modules


def app(arguments: Sequence[str]) -> int:
    """Run one command and return its status. Raises SystemExit after help and on wrong usage,
    LftjError, OSError, ImportError.
    """
    if not arguments or arguments[0] not in COMMANDS:
        _without_command(arguments)
    chosen, *rest = arguments
    command = COMMANDS[chosen]
    own = Parser(
        prog=f"lftj {chosen}",
        description=command.summary,
        allow_abbrev=False,
    )
    command.describe(own)
    options = own.parse_intermixed_args(rest)
    import_modules(getattr(options, "modules", ()))
    return command.run(options) or 0


def _without_command(arguments: Sequence[str]) -> NoReturn:
    """Print help, the version, or what is wrong, and raise SystemExit."""
    parser = _commands()
    if not arguments:
        parser.print_help(sys.stderr)
        parser.exit(2)
    wrong: str = parser.parse_args(arguments[:1]).command
    if Path(wrong).suffix == ".dl":  # given alone, as to Soufflé
        parser.error(f"no command before the program: lftj run {' '.join(arguments)}")
    parser.error(f"there is no command {wrong!r}: it is one of {', '.join(COMMANDS)}")


def _commands() -> Parser:
    """The parser of what stands before a command's own words."""
    lines = (_line(name, each.summary) for name, each in COMMANDS.items())
    parser = Parser(
        prog="lftj",
        usage="lftj [-h] [--version] COMMAND …",
        description="Datalog whose views stay true while the data changes.",
        epilog="\n".join(["commands:", *lines, "", "lftj COMMAND --help tells of its options."]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and end")
    parser.add_argument("command", metavar="COMMAND", help="one of those below")
    return parser


def _line(name: str, summary: str) -> str:
    """A command and the first sentence about it, as wide as the terminal."""
    import shutil
    import textwrap

    start = f"  {name:{max(map(len, COMMANDS))}}  "
    return textwrap.fill(
        f"{start}{summary.split('. ')[0].rstrip('.')}.",
        shutil.get_terminal_size().columns - 2,
        subsequent_indent=" " * len(start),
    )


class _Version(argparse.Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: Parser, *_rest: object) -> None:
        from lftj import __version__

        print(f"lftj {__version__}")
        parser.exit()
