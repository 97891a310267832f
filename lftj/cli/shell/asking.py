# SPDX-License-Identifier: Apache-2.0
"""Commands of the shell that read: rows, rules, plans, and why rows are there or are not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lftj.cli.asking import remedies
from lftj.cli.shell.command import Group, ShellCommand, number, words
from lftj.cli.shell.declaring import declaration
from lftj.errors import CommandError, TransactionError

if TYPE_CHECKING:
    from lftj.cli.shell.session import Session
    from lftj.engine.programs.handles import RuleHandle


def ask(session: Session, question: str, file: Path | None = None) -> None:
    """Show the answers to a question."""
    session.show(session.reader.query(question.strip().removesuffix(".")), file)


def rule_of(session: Session, text: str) -> RuleHandle:
    """The rule of a number of `.rules`. Raises CommandError (E390)."""
    rules = session.reader.rules
    if not (text.isdecimal() and int(text) in range(1, len(rules) + 1)):
        raise CommandError(f"there is no rule {text!r}", hint="`.rules` numbers the rules")
    return rules[int(text) - 1]


def _relations(session: Session, _: str) -> None:
    for name in session.reader.relations:
        session.say(f"{name}: {len(session.reader[name]):,} rows")


def _schema(session: Session, rest: str) -> None:
    chosen = words(rest, ".schema [NAME …]", 0)
    version = session.reader._read()  # pyright: ignore[reportPrivateUsage] -- views are known to it
    for name in chosen or version.program.catalog.relations:
        session.say(declaration(version, name))


def _rules(session: Session, _: str) -> None:
    for place, rule in enumerate(session.reader.rules, 1):
        session.say(f"{place}  {rule}")


def _plan(session: Session, rest: str) -> None:
    session.say(str(session.workspace.plan(rule_of(session, rest) if rest else None)))


def _passes(session: Session, rest: str) -> None:
    session.say(str(session.workspace.plan(rule_of(session, rest) if rest else None, passes=True)))


def _analyze(session: Session, rest: str) -> None:
    words(rest, ".analyze NUMBER|QUESTION", 1)
    what = rule_of(session, rest) if rest.isdecimal() else rest.removesuffix(".")
    session.say(str(session.reader.explain_plan(what, analyze=True)))


def _profile(session: Session, rest: str) -> None:
    commits = number(rest, ".profile [COMMITS]", 1) if rest else 1
    session.say(str(session.workspace.profile(last=commits)))


def _memory(session: Session, _: str) -> None:
    session.show(session.workspace.memory())


def _atom(rest: str, form: str) -> str:
    if not rest:
        raise CommandError(f"expected {form}, nothing follows", hint='write .why may("ann", "x")')
    return rest.removesuffix(".")


def _why(session: Session, rest: str) -> None:
    atom = _atom(rest, ".why ATOM")
    with remedies(".why-not", atom):
        session.say(str(session.reader.explain(atom)))


def _proofs(session: Session, rest: str) -> None:
    count, _, atom = rest.partition(" ")
    most = number(count, ".proofs NUMBER ATOM", 1)
    found = session.reader.explain(_atom(atom.strip(), ".proofs NUMBER ATOM"), proofs=most)
    for proof in found:
        session.say(str(proof))


def _why_not(session: Session, rest: str) -> None:
    atom = _atom(rest, ".why-not ATOM")
    with remedies(".why", atom):
        session.say(str(session.reader.why_not(atom)))


def _why_changed(session: Session, rest: str) -> None:
    tx = session.open or session.last
    if tx is None:
        raise TransactionError(
            "nothing was committed in this shell", code="E320", hint="change something first"
        )
    session.say(str(tx.explain_change(_atom(rest, ".why-changed ATOM"))))


def _verify(session: Session, _: str) -> None:
    found = session.reader.verify()
    for each in found:
        session.say(str(each))
    if found:
        raise CommandError(
            f"{len(found)} view{'s differ' if len(found) > 1 else ' differs'} from the rules",
            hint="report it; `lftj dump` keeps the base rows, and a load derives views anew",
        )
    session.say("every view is what its rules derive")


ASKING = Group(
    "Asking",
    {
        ".relations": ShellCommand("", "list relations and views with their rows", _relations),
        ".schema": ShellCommand("[NAME …]", "show declarations and keys", _schema, "r"),
        ".rules": ShellCommand("", "list the rules with their numbers", _rules),
        ".why": ShellCommand("ATOM", "explain why a row is there", _why, "q"),
        ".why-not": ShellCommand(
            "ATOM", "say why a row is missing, and what brings it", _why_not, "q"
        ),
        ".why-changed": ShellCommand(
            "ATOM",
            "say why the last commit, or the open one, brought or took a row",
            _why_changed,
            "q",
        ),
        ".proofs": ShellCommand("NUMBER ATOM", "show that many proofs of a row", _proofs, "q"),
        ".plan": ShellCommand(
            "[NUMBER]", "show the plan of all rules, or of one of `.rules`", _plan
        ),
        ".passes": ShellCommand("[NUMBER]", "show the plan and each rewrite before it", _passes),
        ".analyze": ShellCommand(
            "NUMBER|QUESTION",
            "evaluate a rule or question, and show what each level took",
            _analyze,
            "q",
        ),
        ".profile": ShellCommand(
            "[COMMITS]", "show the work of the last commit, or of so many", _profile
        ),
        ".memory": ShellCommand("", "show rows and bytes of what is kept", _memory),
        ".verify": ShellCommand("", "derive all views anew, and compare", _verify),
    },
)
