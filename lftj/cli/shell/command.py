# SPDX-License-Identifier: Apache-2.0
"""Commands of the shell: how each is written, what it does, and what completes its words."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from lftj.errors import CommandError

if TYPE_CHECKING:
    from lftj.cli.shell.session import Session


class ShellCommand(NamedTuple):
    """One command. `run` takes what stands behind its name.

    `form`: its arguments, as help shows them; `completes`: what completes them, one letter each: r
    relations, b branches, c consumers, p programs, f files, q names in a question, w the words of
    `words`.
    """

    form: str
    summary: str
    run: Callable[[Session, str], None]
    completes: str = ""
    words: tuple[str, ...] = ()


class Group(NamedTuple):
    """Commands that help shows together, by name."""

    title: str
    commands: dict[str, ShellCommand]


def words(rest: str, form: str, least: int, most: int | None = None) -> list[str]:
    """The words behind a command, of which quotes keep spaces. Raises CommandError (E390) unless
    there are as many as its form says.
    """
    try:
        found = shlex.split(rest)
    except ValueError as problem:
        raise CommandError(f"{problem}: {rest}", hint=f"write {form}") from None
    if len(found) < least or (most is not None and len(found) > most):
        said = f"found {rest!r}" if found else "nothing follows"
        raise CommandError(f"expected {form}, {said}", hint=f"`.help {form.split()[0]}` tells more")
    return found


def number(text: str, form: str, least: int = 0) -> int:
    """A whole number. Raises CommandError (E390)."""
    if not text.isdecimal() or int(text) < least:
        raise CommandError(f"{text!r} is no whole number from {least} on", hint=f"write {form}")
    return int(text)
