# SPDX-License-Identifier: Apache-2.0
"""Commands of the shell that change rows, rules, programs and schemas, and transactions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lftj.cli.shell.asking import rule_of
from lftj.cli.shell.command import Group, ShellCommand, words
from lftj.cli.shell.declaring import ALTER, alteration
from lftj.cli.shell.typed import TYPED
from lftj.engine.questions.atom_rows import AtomRows
from lftj.errors import CommandError, StillNeededError

if TYPE_CHECKING:
    from lftj.cli.shell.session import Session


# ── rows ──────────────────────────────────────────────────────────────────────────────────────────
def delete(session: Session, text: str) -> None:
    """Delete the rows of the first atom of a question that its answers have."""
    catalog = session.reader._read().program.catalog  # pyright: ignore[reportPrivateUsage]
    wanted = AtomRows.of(text, catalog)
    rows = wanted.rows(session.reader.query(wanted.body))
    with session.writing() as tx:
        tx.delete(wanted.relation, rows)
    if not rows:
        session.say(f"no row of {wanted.relation} matches")


def insert(session: Session, text: str) -> None:
    """Insert what `.why-not` proposes, `+edge(1, 2)`."""
    session.add(text if text.rstrip().endswith(".") else f"{text}.")


def _file_of(text: str) -> Path:
    return Path(text).expanduser()


def _load(session: Session, rest: str) -> None:
    name, file = words(rest, ".load NAME FILE", 2, 2)
    with session.writing() as tx:
        tx.insert(name, _file_of(file))


def _unload(session: Session, rest: str) -> None:
    name, file = words(rest, ".unload NAME FILE", 2, 2)
    with session.writing() as tx:
        tx.delete(name, _file_of(file))


def _upsert(session: Session, rest: str) -> None:
    name, file = words(rest, ".upsert NAME FILE", 2, 2)
    with session.writing() as tx:
        tx.upsert(name, _file_of(file))


def _sync(session: Session, rest: str) -> None:
    name, file, *by = words(rest, ".sync NAME FILE [COLUMN …]", 2)
    with session.writing() as tx:
        found = tx.sync(name, _file_of(file), by=by or None)
    counts = f"{found.inserted:,} inserted, {found.updated:,} updated, {found.deleted:,} deleted"
    session.say(f"{name}: {counts}")


def _apply(session: Session, rest: str) -> None:
    form = ".apply NAME FILE [FEED POSITION]"
    name, file, *feed = words(rest, form, 2, 4)
    if len(feed) == 1:
        raise CommandError(f"the feed {feed[0]} has no position", hint=f"write {form}")
    options: dict[str, Any] = dict(zip(("feed", "position"), feed, strict=False))
    with session.writing() as tx:
        count = tx.apply_changes(name, _file_of(file), **options)
    session.say(f"{name}: {count:,} changes applied")


# ── rules and schemas ─────────────────────────────────────────────────────────────────────────────
def _remove(session: Session, rest: str) -> None:
    found = [rule_of(session, each) for each in words(rest, ".remove NUMBER …", 1)]
    with session.writing() as tx:
        tx.remove_rule(found)
    held = session.reader._read().program.catalog.programs  # pyright: ignore[reportPrivateUsage]
    for name, program in held.items():
        if not program.whole and name != TYPED:
            session.say(f"the text of the program {name} still has what was removed")


def _program(session: Session, rest: str) -> None:
    given = words(rest, ".program [FILE [NAME]] [--drop] [--alter]", 0)
    found = [each for each in given if each not in ("--drop", "--alter")]
    if not found:
        for each, text in session.reader.programs.items():
            session.say(f"{each}: {len(text.splitlines()):,} lines")
        return
    from lftj.cli.run import read_program

    file, name, *_ = [*found, "main"]
    text, shown = read_program(file)
    with StillNeededError.in_options(), session.writing() as tx:
        changed = tx.program(
            text, name=name, file=shown, drop="--drop" in given, alter="--alter" in given
        )
        if changed:
            session.say(str(changed))


def _text(session: Session, rest: str) -> None:
    (name,) = words(rest, ".text PROGRAM", 1, 1)
    programs = session.reader.programs
    if name not in programs:
        hint = f"there are {', '.join(programs)}" if programs else "there is none yet"
        raise CommandError(f"there is no program {name}", hint=hint)
    session.say(programs[name].rstrip("\n"))


def _alter(session: Session, rest: str) -> None:
    name, options = alteration(rest)
    with session.writing() as tx:
        tx.alter(name, **options)


def _drop(session: Session, rest: str) -> None:
    with session.writing() as tx:
        for name in words(rest, ".drop NAME …", 1):
            tx.drop_relation(name)


# ── transactions ──────────────────────────────────────────────────────────────────────────────────
def _begin(session: Session, rest: str) -> None:
    session.require_no_transaction("another")
    if session.past is not None:
        with session.writing():
            pass
    session.begin(rest or None)


def _preview(session: Session, _: str) -> None:
    found = session.require_transaction().preview()
    if text := str(found.rules):
        session.say(text)
    for name in found:
        session.show(found[name])


def _commit(session: Session, rest: str) -> None:
    session.commit(rest or None)


def _rollback(session: Session, _: str) -> None:
    session.require_transaction()
    session.close()


CHANGING = Group(
    "Changing",
    {
        ".delete": ShellCommand(
            "ATOM [, BODY]",
            "delete rows: .delete edge(x, _), x > 3; also -edge(1, 2).",
            delete,
            "q",
        ),
        ".load": ShellCommand("NAME FILE", "insert a file's rows into a relation", _load, "rf"),
        ".unload": ShellCommand("NAME FILE", "delete a file's rows from a relation", _unload, "rf"),
        ".upsert": ShellCommand(
            "NAME FILE", "insert rows in place of those of one key", _upsert, "rf"
        ),
        ".sync": ShellCommand(
            "NAME FILE [COLUMN …]",
            "make a relation equal to a file; columns tell rows apart",
            _sync,
            "rf",
        ),
        ".apply": ShellCommand(
            "NAME FILE [FEED POSITION]", "apply changes that were captured elsewhere", _apply, "rf"
        ),
        ".remove": ShellCommand("NUMBER …", "remove rules, by the numbers of `.rules`", _remove),
        ".program": ShellCommand(
            "[FILE [NAME]] [--drop] [--alter]",
            "have a file be the program of a name; or list programs",
            _program,
            "fp",
        ),
        ".text": ShellCommand("PROGRAM", "show the text of a program", _text, "p"),
        ".alter": ShellCommand(
            "NAME CHANGE",
            f"change a schema: {'; '.join(ALTER)}",
            _alter,
            "rw",
            tuple(each.split()[0] for each in ALTER),
        ),
        ".drop": ShellCommand("NAME …", "drop relations with their rows", _drop, "r"),
        ".begin": ShellCommand("[MESSAGE]", "begin a transaction, for all that follows", _begin),
        ".preview": ShellCommand("", "show what its commit would change", _preview),
        ".commit": ShellCommand("[MESSAGE]", "commit it", _commit),
        ".rollback": ShellCommand("", "take all of it back", _rollback),
    },
)
