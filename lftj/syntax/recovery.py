# SPDX-License-Identifier: Apache-2.0
"""Recovery of the parser after an error, so that one run reports the errors of several clauses."""

from __future__ import annotations

import re

from lftj.syntax.functors import UNSUPPORTED_DIRECTIVES

DIRECTIVE_WORDS = (
    "decl", "type", "number_type", "symbol_type", "input", "output", "printsize", "limitsize",
    "plan", "pragma", *UNSUPPORTED_DIRECTIVES,
)  # fmt: skip
DIRECTIVE = re.compile(rf"\.({'|'.join(DIRECTIVE_WORDS)})(?![\w?])")
PREPROCESSOR = re.compile(r"#(?:\\\r?\n|[^\n\r])*+")
_PIECE = re.compile(
    r"""(?P<quiet> "[^"\\\n\r]*+(?:\\[^\n\r][^"\\\n\r]*+)*+"? | //[^\n\r]*
                 | /\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/)? | [0-9]+(?:\.[0-9]+)+ )
      | (?P<directive> \.[A-Za-z_]+(?![\w?]) )
      | (?P<end> \.(?=\s|//|/\*|\Z) )
      | (?P<open> \{ ) | (?P<close> \} )
      | (?P<other> [^"/.{}0-9]+ | . )""",
    re.VERBOSE | re.DOTALL,
)

_GAP = r"(?:\s+|//[^\n\r]*|/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/)*+"
_ORDER = r"[0-9]+\s*:\s*\([^()]*\)"
_PLAN = re.compile(rf"{_GAP}\.plan(?![\w?])(?:\s*{_ORDER}(?:\s*,\s*{_ORDER})*)?[^\n]*")
_BLANK = re.compile(r"\s*+")
_DOTS = re.compile(r"\.+(?!\w)")
_UNINDENTED = re.compile(rf"{_GAP}(?:(?<=[\n\r])(?=[^\s])|\Z)")


def resume_after(text: str, error: int, within: bool) -> int:
    """The offset of the next clause after an error at offset `error`; at most len(text). `within`:
    the error stands within a clause, not where one may begin.

    It is `error` itself when a directive starts there: the clause before it lacks its dot, and the
    directive will be read the next time.
    """
    alone = not within or starts_line(text, error)
    if (line := PREPROCESSOR.match(text, error)) is not None and alone:
        after = max(line.end(), error + 1)
        return _next_end(text, after) if within or _is_deeper(text, error, after) else after
    first = DIRECTIVE.match(text, error)
    if first is not None and alone:
        if first.group(1) in ("comp", "lattice"):
            return _after_braces(text, first.end())
        if first.group(1) in (*UNSUPPORTED_DIRECTIVES, "plan"):
            return _after_line(text, error, within)
        if starts_line(text, error):
            return error
    if first is None and (dots := _DOTS.match(text, error)) is not None:
        return _after_dots(text, error, dots.end(), within)
    return _next_end(text, error)


def _after_dots(text: str, error: int, end: int, within: bool) -> int:
    """The offset behind dots too many, or a dot too early: what follows on the line, or indented,
    belongs to the same clause.
    """
    if not within and end - error == 1 and text[error - 1 : error] != ".":
        return _next_end(text, error)
    if (plan := _PLAN.match(text, end)) is not None:
        return plan.end()
    return end if _UNINDENTED.match(text, end) is not None else _next_end(text, end)


def _after_line(text: str, error: int, within: bool) -> int:
    """The offset behind a directive that is left, and behind the clause that it stands within."""
    plan = _PLAN.match(text, error)
    end = plan.end() if plan is not None else text.find("\n", error)
    end = len(text) if end < 0 else end
    if within and (plan := _PLAN.match(text, end)) is not None:
        return plan.end()
    if (_UNINDENTED.match(text, end) is None) if within else _is_deeper(text, error, end):
        return _next_end(text, end)
    return end


def _is_deeper(text: str, error: int, end: int) -> bool:
    """Test whether the text after `end` is on a line indented deeper than the one of `error`."""
    next_text = _BLANK.match(text, end)
    assert next_text is not None
    return next_text.end() < len(text) and _indent(text, next_text.end()) > _indent(text, error)


def _indent(text: str, position: int) -> int:
    start = text.rfind("\n", 0, position) + 1
    blank = _BLANK.match(text, start)
    assert blank is not None
    return min(blank.end(), position) - start


def _next_end(text: str, error: int) -> int:
    """The offset behind the next final dot and the plan behind it, or of the next directive."""
    position = error
    while position < len(text):
        piece = _PIECE.match(text, position)
        assert piece is not None
        if piece.lastgroup == "end":
            plan = _PLAN.match(text, piece.end())  # of the clause that is left
            return plan.end() if plan is not None else piece.end()
        if (
            piece.lastgroup == "directive"
            and piece.start() > error
            and piece.group() != ".plan"
            and starts_line(text, piece.start())
        ):
            return piece.start()
        position = piece.end()
    return len(text)


def starts_line(text: str, position: int) -> bool:
    """Test whether nothing but space is before `position` on its line."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return not line.strip()


def _after_braces(text: str, position: int) -> int:
    """The offset after the closing brace of the next block in braces."""
    depth = 0
    while position < len(text):
        piece = _PIECE.match(text, position)
        assert piece is not None
        position = piece.end()
        if piece.lastgroup == "open":
            depth += 1
        elif piece.lastgroup == "close":
            depth -= 1
            if depth <= 0:
                break
    return position
