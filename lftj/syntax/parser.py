# SPDX-License-Identifier: Apache-2.0
"""Reads rule text into the syntax tree.

The grammar is in `grammar.lark`; `ClauseActions` builds the tree while the table-driven parser
runs, without recursion. After a syntax error, reading goes on with the next clause, and all errors
are raised together.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from functools import cache

from lark import Lark, Token, UnexpectedInput
from lark.utils import TextSlice

from lftj.errors import LftjError, ParseError, ProgramErrors, Span
from lftj.scantree.process.forking import held_while_forking
from lftj.scantree.process.garbage import collector_paused
from lftj.syntax import tree
from lftj.syntax.attention import look
from lftj.syntax.clause_actions import ClauseActions
from lftj.syntax.functors import (
    AGGREGATE_WORDS,
    BODY_AGGREGATES,
    KEYED_AGGREGATES,
    RESERVED_RELATIONS,
)
from lftj.syntax.parse_tables import parser
from lftj.syntax.recovery import DIRECTIVE_WORDS, resume_after, starts_line
from lftj.syntax.source import Source

# A short way for plain facts: programs may hold a hundred thousand of them, and the general parser
# takes some 0.15 ms for each.
#
# A plain fact is `name(constants).` on one line, without comments inside. `segments` cuts the text
# at the ends of clauses into runs of plain facts and the rest, which the general parser reads.
# Whatever looks unusual is left to the general parser, errors included.

_STRING = r'"(?:\\[^\n\r]|[^"\\\n\r])*+"'
_FLOAT = r"-?[0-9]+\.[0-9]+(?![\w.?])"
_INTEGER = r"-?[0-9]{1,18}(?![\w.?])"
_CONSTANT = rf"(?:{_STRING}|{_FLOAT}|{_INTEGER})"
_COMMENT = r"//[^\n\r]*+|/\*[^*]*\*++(?:[^/*][^*]*\*++)*+/"
_NO_DIRECTIVE = rf"(?!(?:{'|'.join(DIRECTIVE_WORDS)})(?![\w?]))"
_FACT = re.compile(
    rf"([^\W\d]\w*)\([ \t]*({_CONSTANT}(?:[ \t]*,[ \t]*{_CONSTANT})*+)[ \t]*\)\.{_NO_DIRECTIVE}"
)
_VALUE = re.compile(rf"({_STRING})|({_FLOAT})|(-?[0-9]+)")
_BETWEEN = re.compile(rf"(?:[\s\ufeff]++|{_COMMENT})++")
_CLAUSE = re.compile(
    rf'(?:[^"/.0-9]++|{_STRING}|{_COMMENT}|/|[0-9]++(?:\.[0-9]++)*+|\.(?!{_NO_DIRECTIVE})'
    r"|(?<=[\w?])\.(?=[^\W\d]))*+\."
)
"""Everything up to a dot that ends a clause, and stands between no two names; possessive
throughout, so that no text makes it backtrack.
"""

_LINE = re.compile(
    r"\.(?:decl[ \t]++[\w?]++[ \t]*+"
    r"(?:\([^()]*+\)(?:[ \t]*+key\([^()]*+\))?+|\[[^\[\]]*+\][ \t]*+:[ \t]*+[\w?]++)"
    r"|(?:input|output|printsize)[ \t]++[\w?]++|type[ \t]++[\w?]++[ \t]*+<:[ \t]*+[\w?]++)"
    r"[ \t]*+(?=[\n\r]|//)"
)
"""A plain declaration or directive on lines of its own. What may still belong to it behind the end
of the line is no clause by itself.
"""

_UNUSUAL = RESERVED_RELATIONS | BODY_AGGREGATES

WORDS = {
    "AGGREGATE_WORDS": AGGREGATE_WORDS,
    "OTHER_AGGREGATES": BODY_AGGREGATES - AGGREGATE_WORDS,
    "KEYED_AGGREGATES": KEYED_AGGREGATES,
}
"""Names that the grammar has words for."""

_INFINITE = (float("inf"), float("-inf"))

Segment = tuple[int, int, list[tree.Clause] | None]
"""Start, end, and the facts between; None where the general parser must read."""


def segments(source: Source) -> Iterator[Segment]:
    """The text in pieces that end where clauses end; together they cover all of it.
    O(len(text)).
    """
    text, position, start = source.text, 0, 0
    facts: list[tree.Clause] = []
    while position < len(text):
        gap = _BETWEEN.match(text, position)
        begin = gap.end() if gap is not None else position
        found = _FACT.match(text, begin)
        if found is not None and (made := _fact(source, found)) is not None:
            if start < position and not facts:
                yield start, position, None
                start = position
            facts.append(made)
            position = found.end()
            continue
        if facts:
            yield start, position, facts
            start, facts = position, []
        clause = _CLAUSE.match(text, begin)
        position = clause.end() if clause is not None else len(text)
    if start < len(text) or not text:
        yield start, len(text), facts or None


def _fact(source: Source, found: re.Match[str]) -> tree.Rule | None:
    """The fact that `_FACT` found, or None when its name or a value in it is unusual."""
    name, arguments = found.group(1, 2)
    if name in _UNUSUAL or "\\" in arguments or len(arguments.splitlines()) > 1:
        return None
    line, column = source.place(found.start())
    shift = column - found.start()

    def span(start: int, end: int) -> Span:
        return Span(line, start + shift, line, end + shift, source.file, source.shown)

    constants: list[tree.Term] = []
    for value in _VALUE.finditer(source.text, found.start(2), found.end(2)):
        string, decimal, integer = value.groups()
        constant = (
            string[1:-1]
            if string is not None
            else int(integer)
            if integer is not None
            else float(decimal)
        )
        if constant in _INFINITE:
            return None
        constants.append(tree.Constant(constant, span=span(value.start(), value.end())))
    look(1 + len(constants))
    atom = tree.Atom(name, tuple(constants), span=span(found.start(), found.end() - 1))
    return tree.Rule((atom,), tree.Body(()), span=span(found.start(), found.end()))


MOST_ERRORS = ProgramErrors.shown
"""After this many errors the rest of the text is not read."""

_WATCHED = (
    "NAME",
    "INTEGER",
    "FLOAT",
    "STRING",
    "LPAR",
    "LSQB",
    "LBRACE",
    "RPAR",
    "RSQB",
    "RBRACE",
    "COMMA",
    "NOT",
    "MINUS",
    "INFIX",
    "PREFIX",
    "WILDCARD",
    "COMMENT",
)
"""Words without which no text is long; the closing brackets are where most of a tree is built."""

_one_at_a_time = threading.Lock()
held_while_forking(_one_at_a_time)


@cache
def _reader() -> tuple[Lark, ClauseActions]:
    """The parser and the actions that it calls; made at the first use."""
    actions = ClauseActions()
    watched = dict.fromkeys(_WATCHED, _seen)
    return parser(WORDS, transformer=actions, lexer_callbacks=watched), actions


def _seen(token: Token) -> Token:
    """Limits are looked at while a text is read."""
    look()
    return token


def parse(
    text: str,
    file: str | None = None,
    within: tuple[str, str] = ("", ""),
    *,
    whole: bool = False,
) -> tree.ParsedProgram:
    """The program that `text` holds; `file` is its name in messages, `within` what else is read
    (see `Source`); with `whole` an `if(…)` stays as it is read.

    Raises ProgramErrors with every error found, in the order of the text; nothing else, whatever
    the text. Costs time linear in the text, some 0.2 ms a rule.
    """
    source = Source(text, file, within)
    with _one_at_a_time, collector_paused():
        lark, actions = _reader()
        actions.begin(source)
        actions.whole = whole
        clauses = _read(lark, actions, source)
        errors = list(actions.errors)
    if errors:
        raise ProgramErrors(sorted(errors, key=_place)[:MOST_ERRORS])
    return tree.ParsedProgram(tuple(clauses))


def cut(text: str) -> list[tuple[int, int]]:
    """Start and end of each clause of a text, without what stands between; an unusual declaration
    is with the clause behind it. O(len(text)).
    """
    found: list[tuple[int, int]] = []
    position = 0
    while True:
        gap = _BETWEEN.match(text, position)
        begin = gap.end() if gap is not None else position
        if begin == len(text):
            return found
        clause = _LINE.match(text, begin) if text[begin] == "." else _FACT.match(text, begin)
        clause = clause or _CLAUSE.match(text, begin)
        position = clause.end() if clause is not None else len(text)
        found.append((begin, position))


def parse_parts(
    text: str, parts: Sequence[tuple[int, int]], file: str | None = None
) -> list[tree.Clause] | None:
    """The clauses of some parts of a text that `cut` gave, with their places in all of it; None
    where `parse` has to say what is wrong.
    """
    source = Source(text, file)
    clauses: list[tree.Clause] = []
    with _one_at_a_time, collector_paused():
        lark, actions = _reader()
        actions.begin(source)
        for start, end in parts:
            plain = _FACT.fullmatch(text, start, end)
            fact = _fact(source, plain) if plain is not None else None
            try:
                clauses += _read_piece(lark, source, start, end) if fact is None else [fact]
            except UnexpectedInput:
                return None
        return None if actions.errors else clauses


def _read(lark: Lark, actions: ClauseActions, source: Source) -> list[tree.Clause]:
    """The clauses of the text; errors go to `actions.errors`."""
    clauses: list[tree.Clause] = []
    for start, end, facts in segments(source):
        before = len(actions.errors)
        try:
            clauses.extend(_read_piece(lark, source, start, end) if facts is None else facts)
        except UnexpectedInput:
            del actions.errors[before:]
            actions.next_clause()
            _read_on(lark, actions, source, start)
            break
    return clauses


def _read_piece(lark: Lark, source: Source, start: int, end: int) -> list[tree.Clause]:
    return lark.parse(TextSlice(source.text, start, end))  # type: ignore[arg-type, return-value]


def _read_on(lark: Lark, actions: ClauseActions, source: Source, position: int) -> None:
    """Collect the errors from `position` on, clause by clause after each syntax error. Of a clause
    that cannot be read the first error is kept: the next ones may follow from it.
    """
    from lftj.syntax.diagnosis import diagnose

    while position <= len(source.text) and len(actions.errors) < MOST_ERRORS:
        try:
            _read_piece(lark, source, position, len(source.text))
            return
        except UnexpectedInput as problem:
            error, offset, within = diagnose(problem, source)
            plan = source.text.startswith(".plan", offset)
            apart = not within and not plan and starts_line(source.text, offset)
            actions.unread(error, within, apart)
            position = max(position + 1, resume_after(source.text, offset, within))


def _place(error: LftjError) -> tuple[int, int]:
    return (error.span.line, error.span.column) if error.span else (0, 0)


def expression_of(text: str) -> tree.Term:
    """The tree of an expression. Raises ParseError (E103) for anything else."""
    try:
        clauses = parse(f"q(x) :- computed_value_ = {text}.", whole=True).clauses
    except ProgramErrors as error:
        condition = f"a condition as a value is if({text}, true, false)"
        raise ParseError(
            f"{text!r} is no expression of columns: {error.errors[0].message}",
            code="E103",
            hint=condition if re.search("[<>=]", text) else error.errors[0].hint,
        ) from None
    if len(clauses) == 1 and isinstance(rule := clauses[0], tree.Rule):
        literals = rule.body.literals
        if len(literals) == 1 and isinstance(literals[0], tree.Comparison):
            return literals[0].right
    raise ParseError(
        f"expected an expression of columns, found {text!r}",
        code="E103",
        hint='write what a row\'s value is, as in a rule: "price * quantity"',
    )
