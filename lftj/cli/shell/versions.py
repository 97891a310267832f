# SPDX-License-Identifier: Apache-2.0
"""Commands of the shell for versions, changes and branches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lftj.cli.asking import both, counted, difference, moment
from lftj.cli.shell.command import Group, ShellCommand, number, words
from lftj.errors import CommandError

if TYPE_CHECKING:
    from lftj.api.change_stream import Consumer
    from lftj.cli.shell.session import Session


def _at(session: Session, rest: str) -> None:
    (when,) = words(rest, ".at VERSION|MOMENT|now", 1, 1)
    session.require_no_transaction("the past")
    session.past = None if when == "now" else session.workspace.at(moment(when))


def _log(session: Session, _: str) -> None:
    session.show(session.workspace.log())


def _history(session: Session, rest: str) -> None:
    name, *bounds = words(rest, ".history NAME [SINCE [UNTIL]]", 1, 3)
    options: dict[str, Any] = dict(zip(("since", "until"), map(moment, bounds), strict=False))
    for change in session.workspace.history(name, **options).commits():
        for step in getattr(change, "steps", ()):
            session.say(f"version {change.version}: {step}")
        if change.kind != "schema":
            session.show(change)


def _changes(session: Session, rest: str) -> None:
    last = session.last
    changed = sorted(last.changes()) if last is not None else []
    for each in words(rest, ".changes [NAME …]", 0) or changed:
        if last is not None and each in changed:
            session.show(last.changes(each))
        else:
            session.say(f"{each}: no changes")


def _follow(session: Session, rest: str) -> None:
    """Until Ctrl-C, or until nothing has come for so many seconds."""
    form = ".follow NAME [SECONDS]"
    name, *seconds = words(rest, form, 1, 2)
    session.require_no_transaction("what others commit")
    try:
        timeout = float(seconds[0]) if seconds else None
    except ValueError:
        raise CommandError(
            f"{seconds[0]!r} is no number of seconds", hint=f"write {form}"
        ) from None
    for change in session.workspace.changes(name, timeout=timeout):
        session.show(change)


def _consumers(session: Session, _: str) -> None:
    last = session.workspace.version
    for name, consumer in session.workspace.consumers.items():
        behind = last - consumer.version
        state = f", {behind} behind" if behind else ""
        session.say(
            f"{name} of {consumer.relation}: acknowledged up to version {consumer.version}{state}"
        )


def _consumer(session: Session, name: str) -> Consumer:
    """A consumer that is there. Raises CommandError (E390)."""
    there = session.workspace.consumers
    if name not in there:
        hint = f"there are {', '.join(there)}" if there else "`.consume NAME RELATION` begins one"
        raise CommandError(f"there is no consumer {name!r}", hint=hint)
    return session.consumers.get((session.branch, name)) or there[name]


def _consume(session: Session, rest: str) -> None:
    """Show the changes that are there. Nothing is waited for, and nothing is acknowledged."""
    name, *more = words(rest, ".consume CONSUMER [NAME [SINCE]]", 1, 3)
    session.require_no_transaction("what a consumer reads")
    relation = more[0] if more else _consumer(session, name).relation
    since = moment(more[1]) if len(more) > 1 else None
    consumer = session.workspace.consumer(name, relation, since=since, timeout=0)
    session.consumers[session.branch, name] = consumer
    for change in consumer:
        for step in getattr(change, "steps", ()):
            session.say(f"version {change.version}: {step}")
        if change.kind != "schema":
            session.show(change)


def _ack(session: Session, rest: str) -> None:
    form = ".ack CONSUMER [VERSION]"
    name, *version = words(rest, form, 1, 2)
    consumer = _consumer(session, name)
    consumer.ack(number(version[0], form) if version else None, session.open)
    if session.open is None:
        session.say(f"{name}: acknowledged up to version {consumer.version}")


def _drop_consumer(session: Session, rest: str) -> None:
    (name,) = words(rest, ".drop-consumer CONSUMER", 1, 1)
    session.require_no_transaction("the end of a consumer")
    _consumer(session, name).drop()
    session.consumers.pop((session.branch, name), None)


def _branches(session: Session, _: str) -> None:
    for name, branch in session.root.branches.items():
        mark = "*" if name == session.branch else " "
        session.say(f"{mark} {name}, version {branch.version}")


def _branch(session: Session, rest: str) -> None:
    (name,) = words(rest, ".branch NAME", 1, 1)
    session.require_no_transaction("another branch")
    session.workspace = session.root if name == "main" else session.workspace.branch(name)
    session.past = None


def _merge(session: Session, rest: str) -> None:
    name, *message = words(rest, ".merge BRANCH [MESSAGE]", 1)
    session.require_no_transaction("a merge")
    before = session.workspace.version
    version = session.workspace.merge(name, message=" ".join(message) or None)
    session.last = None
    session.say(f"version {version}" if version > before else "there was nothing to merge")


def _diff(session: Session, rest: str) -> None:
    before, after, *names = words(rest, ".diff BEFORE AFTER [NAME …]", 2)
    for name in names or both(session.workspace, before, after):
        change = difference(session.workspace, before, after, name)
        if names:
            session.show(change)
        elif counts := counted(change):
            session.say(f"{name} {counts}")


def _drop_branch(session: Session, rest: str) -> None:
    (name,) = words(rest, ".drop-branch NAME", 1, 1)
    session.require_no_transaction("the end of a branch")
    if name == session.branch != "main":
        _branch(session, "main")
    branches = session.root.branches
    if name not in branches:
        raise CommandError(f"there is no branch {name!r}", hint=f"there are {', '.join(branches)}")
    branches[name].drop()


VERSIONS = Group(
    "Versions and branches",
    {
        ".log": ShellCommand("", "list the commits", _log),
        ".changes": ShellCommand(
            "[NAME …]", "show what the last commit of the shell changed", _changes, "r"
        ),
        ".at": ShellCommand(
            "VERSION|MOMENT|now",
            "read a past version in all that follows, or the last one again",
            _at,
            "w",
            ("now",),
        ),
        ".history": ShellCommand(
            "NAME [SINCE [UNTIL]]", "show the change of each commit", _history, "r"
        ),
        ".follow": ShellCommand(
            "NAME [SECONDS]",
            "show changes as they are committed elsewhere, until Ctrl-C",
            _follow,
            "r",
        ),
        ".consumers": ShellCommand(
            "", "list consumers, with the version that each has acknowledged", _consumers
        ),
        ".consume": ShellCommand(
            "CONSUMER [NAME [SINCE]]",
            "show the changes that a consumer has not acknowledged; begun if need be",
            _consume,
            "cr",
        ),
        ".ack": ShellCommand(
            "CONSUMER [VERSION]",
            "acknowledge what was shown, or what of it came up to a version; in a transaction "
            "with its commit",
            _ack,
            "c",
        ),
        ".drop-consumer": ShellCommand("CONSUMER", "end a consumer", _drop_consumer, "c"),
        ".branches": ShellCommand("", "list branches", _branches),
        ".branch": ShellCommand("NAME", "go to a branch, begun if need be", _branch, "b"),
        ".merge": ShellCommand(
            "BRANCH [MESSAGE]", "make the changes of another branch here too", _merge, "b"
        ),
        ".diff": ShellCommand(
            "BEFORE AFTER [NAME …]", "compare two versions or branches", _diff, "bbr"
        ),
        ".drop-branch": ShellCommand("NAME", "end a branch", _drop_branch, "b"),
    },
)
