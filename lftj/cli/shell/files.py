# SPDX-License-Identifier: Apache-2.0
"""Commands of the shell for files, the form of answers, and the shell itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lftj.cli.output import FORMATS
from lftj.cli.shell.command import Group, ShellCommand, number, words
from lftj.errors import CommandError

if TYPE_CHECKING:
    from lftj.cli.shell.session import Session


class QuitShell(Exception):
    """`.quit` was typed."""


def _path(text: str) -> Path:
    return Path(text).expanduser()


def _write(session: Session, rest: str) -> None:
    form = ".write FILE NAME|? QUESTION"
    file, _, what = rest.partition(" ")
    (file,) = words(file, form, 1, 1)
    what = what.strip()
    if not what:
        raise CommandError(f"expected {form}, found {rest!r}", hint="write .write rows.csv edge")
    if what.startswith("?"):
        from lftj.cli.shell.asking import ask

        ask(session, what[1:], _path(file))
    else:
        session.show(session.reader[what], _path(file))


def _format(session: Session, rest: str) -> None:
    shown = [each for each in FORMATS if each != "parquet"]
    if rest not in shown:
        raise CommandError(
            f"answers are shown as {', '.join(shown)}, found {rest!r}",
            hint="`.write FILE NAME` writes files, Parquet too",
        )
    session.format = rest


def _rows(session: Session, rest: str) -> None:
    form = ".rows NUMBER|all"
    (text,) = words(rest, form, 1, 1)
    session.rows = 2**62 if text == "all" else number(text, form)


def _limit(session: Session, rest: str) -> None:
    form = ".limit SECONDS|none"
    (text,) = words(rest, form, 1, 1)
    try:
        session.seconds = None if text == "none" else float(text)
    except ValueError:
        raise CommandError(f"{text!r} is no number of seconds", hint=f"write {form}") from None


def _report(session: Session, rest: str) -> None:
    (file,) = words(rest, ".report FILE", 1, 1)
    session.say(str(session.workspace.report(_path(file))))


def _backup(session: Session, rest: str) -> None:
    (path,) = words(rest, ".backup PATH", 1, 1)
    session.root.backup(_path(path))


def _save(session: Session, rest: str) -> None:
    (path,) = words(rest, ".save PATH", 1, 1)
    session.require_no_transaction("saving")
    session.root.save_as(_path(path))


def _compact(session: Session, _: str) -> None:
    session.require_no_transaction("compacting")
    session.root.compact()


def _refresh(session: Session, _: str) -> None:
    session.say(f"version {session.root.refresh()}")


def _prepare(session: Session, _: str) -> None:
    session.require_no_transaction("preparing")
    session.workspace.prepare()


def _import(_: Session, rest: str) -> None:
    from lftj.cli.options import import_modules

    import_modules(words(rest, ".import MODULE …", 1))


def _aggregate(session: Session, rest: str) -> None:
    form = ".aggregate MODULE:NAME"
    module, _, name = words(rest, form, 1, 1)[0].partition(":")
    from importlib import import_module

    _import(session, module)
    found = getattr(import_module(module), name, None) if name else None
    if found is None:
        raise CommandError(f"{rest} names nothing that a module has", hint=f"write {form}")
    with session.writing() as tx:
        tx.add_aggregate(found)


def leave(_session: Session, _: str) -> None:
    """End the shell. Raises QuitShell."""
    raise QuitShell


FILES = Group(
    "Files and forms",
    {
        ".write": ShellCommand(
            "FILE NAME|? QUESTION", "write rows as .csv, .json, .jsonl or .parquet", _write, "fr"
        ),
        ".format": ShellCommand(
            "NAME", "show answers as table, csv, json or jsonl", _format, "w", FORMATS[:-1]
        ),
        ".rows": ShellCommand(
            "NUMBER|all", "show so many rows of a table at a terminal", _rows, "w", ("all",)
        ),
        ".limit": ShellCommand("SECONDS|none", "end what takes longer", _limit, "w", ("none",)),
        ".import": ShellCommand("MODULE …", "import modules of your own", _import),
        ".aggregate": ShellCommand(
            "MODULE:NAME", "let rules use an aggregate of your own", _aggregate
        ),
        ".report": ShellCommand("FILE", "write a page about the workspace", _report, "f"),
        ".save": ShellCommand("PATH", "have a workspace in memory go on at a path", _save, "f"),
        ".backup": ShellCommand("PATH", "write the workspace to another path", _backup, "f"),
        ".compact": ShellCommand("", "make its files as small as they can be", _compact),
        ".prepare": ShellCommand("", "make ready what first changes need", _prepare),
        ".refresh": ShellCommand(
            "", "read what others have committed, where opened to read", _refresh
        ),
    },
)
