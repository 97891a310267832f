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

_PLAN = re.compile(r"\s*\.plan(?![\w?])[^\n]*")


def resume_after(text: str, error: int) -> int:
    """The offset of the next clause after an error at offset `error`; at most len(text).

    It is `error` itself when a directive starts there: the clause before it lacks its dot, and the
    directive will be read the next time.
    """
    if (line := PREPROCESSOR.match(text, error)) is not None:
        return max(line.end(), error + 1)
    first = DIRECTIVE.match(text, error)
    if first is not None and first.group(1) in ("comp", "lattice"):
        return _after_braces(text, first.end())
    if first is not None and first.group(1) in (*UNSUPPORTED_DIRECTIVES, "plan"):
        return len(text) if (end := text.find("\n", error)) < 0 else end
    if first is not None and _starts_line(text, error):
        return error
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
            and _starts_line(text, piece.start())
        ):
            return piece.start()
        position = piece.end()
    return len(text)


def _starts_line(text: str, position: int) -> bool:
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
