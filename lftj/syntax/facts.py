"""A short way for plain facts: programs may hold a hundred thousand of them, and the general parser takes some 0.15 ms for each.

A plain fact is `name(constants).` on one line, without comments inside. `segments` cuts the text at the ends of clauses into runs of plain
facts and the rest, which the general parser reads. Whatever looks unusual is left to the general parser, errors included.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lftj.attention import look
from lftj.errors import Span
from lftj.syntax import tree
from lftj.syntax.functors import BODY_AGGREGATES, RESERVED_RELATIONS
from lftj.syntax.recovery import DIRECTIVE_WORDS
from lftj.syntax.source import Source

_STRING = r'"(?:\\[^\n\r]|[^"\\\n\r])*+"'
_FLOAT = r"-?[0-9]+\.[0-9]+(?![\w.?])"
_INTEGER = r"-?[0-9]{1,18}(?![\w.?])"
_CONSTANT = rf"(?:{_STRING}|{_FLOAT}|{_INTEGER})"
_COMMENT = r"//[^\n\r]*+|/\*[^*]*\*++(?:[^/*][^*]*\*++)*+/"
_NO_DIRECTIVE = rf"(?!(?:{'|'.join(DIRECTIVE_WORDS)})(?![\w?]))"
_FACT = re.compile(rf"([^\W\d]\w*)\([ \t]*({_CONSTANT}(?:[ \t]*,[ \t]*{_CONSTANT})*+)[ \t]*\)\.{_NO_DIRECTIVE}")
_VALUE = re.compile(rf"({_STRING})|({_FLOAT})|(-?[0-9]+)")
_BETWEEN = re.compile(rf"(?:[\s\ufeff]++|{_COMMENT})++")
_CLAUSE = re.compile(rf'(?:[^"/.0-9]++|{_STRING}|{_COMMENT}|/|[0-9]++(?:\.[0-9]++)*+|\.(?!{_NO_DIRECTIVE}))*+\.')
"""Everything up to the dot that ends a clause; possessive throughout, so that no text makes it backtrack."""

_UNUSUAL = RESERVED_RELATIONS | BODY_AGGREGATES

_INFINITE = (float("inf"), float("-inf"))

Segment = tuple[int, int, list[tree.Clause] | None]
"""Start, end, and the facts between; None where the general parser must read."""


def segments(source: Source) -> Iterator[Segment]:
    """The text in pieces that end where clauses end; together they cover all of it. O(len(text))."""
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
        constant = string[1:-1] if string is not None else int(integer) if integer is not None else float(decimal)
        if constant in _INFINITE:
            return None
        constants.append(tree.Constant(constant, span=span(value.start(), value.end())))
    look(1 + len(constants))
    atom = tree.Atom(name, tuple(constants), span=span(found.start(), found.end() - 1))
    return tree.Rule((atom,), tree.Body(()), span=span(found.start(), found.end()))
