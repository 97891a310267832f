"""Reads rule text into the syntax tree.

The grammar is in `grammar.lark`; `ClauseActions` builds the tree while the table-driven parser runs, without recursion. After a syntax
error, reading goes on with the next clause, and all errors are raised together.
"""

from __future__ import annotations

import threading
from functools import cache
from importlib.resources import files

from lark import Lark, Token, UnexpectedInput
from lark.utils import TextSlice

from lftj.attention import look
from lftj.errors import LftjError, ProgramErrors
from lftj.syntax import tree
from lftj.syntax.clause_actions import ClauseActions
from lftj.syntax.collector import no_cyclic_garbage
from lftj.syntax.diagnosis import diagnose
from lftj.syntax.facts import segments
from lftj.syntax.recovery import resume_after
from lftj.syntax.source import Source
from scantree.forking import held_while_forking

MOST_ERRORS = 20
"""After this many errors the rest of the text is not read."""

_WATCHED = (
    "NAME",
    "INTEGER",
    "FLOAT",
    "STRING",
    "LPAR",
    "LSQB",
    "LBRACE",
    "COMMA",
    "NOT",
    "MINUS",
    "INFIX",
    "PREFIX",
    "WILDCARD",
    "COMMENT",
)
"""Words without which no text is long."""

_one_at_a_time = threading.Lock()
held_while_forking(_one_at_a_time)


@cache
def _reader() -> tuple[Lark, ClauseActions]:
    """The parser and the actions that it calls; made at the first use, in about a tenth of a second."""
    actions = ClauseActions()
    grammar = files("lftj.syntax").joinpath("grammar.lark").read_text(encoding="utf-8")
    watched = dict.fromkeys(_WATCHED, _seen)
    lark = Lark(grammar, parser="lalr", lexer="contextual", maybe_placeholders=True, transformer=actions, lexer_callbacks=watched)
    return lark, actions


def _seen(token: Token) -> Token:
    """Limits are looked at while a text is read."""
    look()
    return token


def parse(text: str, file: str | None = None, within: tuple[str, str] = ("", "")) -> tree.ParsedProgram:
    """The program that `text` holds; `file` is its name in messages, `within` what else is read (see `Source`).

    Raises ProgramErrors with every error found, in the order of the text; nothing else, whatever the text. Costs time linear in the text,
    some 0.2 ms a rule.
    """
    source = Source(text, file, within)
    with _one_at_a_time, no_cyclic_garbage():
        lark, actions = _reader()
        actions.begin(source)
        clauses = _read(lark, actions, source)
        errors = list(actions.errors)
    if errors:
        raise ProgramErrors(sorted(errors, key=_place)[:MOST_ERRORS])
    return tree.ParsedProgram(tuple(clauses))


def _read(lark: Lark, actions: ClauseActions, source: Source) -> list[tree.Clause]:
    """The clauses of the text; errors go to `actions.errors`."""
    clauses: list[tree.Clause] = []
    for start, end, facts in segments(source):
        before = len(actions.errors)
        try:
            clauses.extend(_read_piece(lark, source, start, end) if facts is None else facts)
        except UnexpectedInput:
            del actions.errors[before:]
            actions.unplaced.clear()
            _read_on(lark, actions, source, start)
            break
    return clauses


def _read_piece(lark: Lark, source: Source, start: int, end: int) -> list[tree.Clause]:
    return lark.parse(TextSlice(source.text, start, end))  # type: ignore[arg-type, return-value]


def _read_on(lark: Lark, actions: ClauseActions, source: Source, position: int) -> None:
    """Collect the errors from `position` on, clause by clause after each syntax error."""
    while position <= len(source.text) and len(actions.errors) < MOST_ERRORS:
        try:
            _read_piece(lark, source, position, len(source.text))
            return
        except UnexpectedInput as problem:
            error, offset = diagnose(problem, source)
            actions.errors.append(error)
            actions.unplaced.clear()
            position = max(position + 1, resume_after(source.text, offset))


def _place(error: LftjError) -> tuple[int, int]:
    return (error.span.line, error.span.column) if error.span else (0, 0)
