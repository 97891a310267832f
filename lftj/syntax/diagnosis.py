# SPDX-License-Identifier: Apache-2.0
"""Turns what the parser could not read into an error in the user's words: what was found, what was
expected, what to write instead.
"""

from __future__ import annotations

import re

from lark import Token, UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from lftj.errors import ParseError
from lftj.errors.nearest import closest
from lftj.functions.aggregates import IN_BRACES
from lftj.syntax import functors
from lftj.syntax.recovery import DIRECTIVE, PREPROCESSOR
from lftj.syntax.remedies import remedy
from lftj.syntax.source import Source

_TERM_STARTS = frozenset({"NAME", "INTEGER", "FLOAT", "IPV4", "STRING", "LPAR", "WILDCARD"})
_OTHER_STARTS = frozenset(
    {
        "TRUE",
        "FALSE",
        "AGGREGATE",
        "AGGREGATE_CALL",
        "LSQB",
        "DOLLAR",
        "AT",
        "MINUS",
        "PREFIX",
        "NOT",
        "AGG_OPEN",
    }
)
_WORDS: dict[str, str] = {
    "END": "`.`",
    "IF": "`:-`",
    "COMMA": "`,`",
    "SEMICOLON": "`;`",
    "COLON": "`:`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "VBAR": "`|`",
    "EQUALS": "`=`",
    "COMPARE": "a comparison",
    "SUBTYPE": "`<:`",
    "AGG_CLOSE": "`>>`",
    "MINUS": "an operator",
    "INFIX": "an operator",
    "NOT": "a condition",
    "NAME": "a name",
    "INTEGER": "a whole number",
    "STRING": "a string",
}
_ORDER = ("END", "IF", "COMMA", "SEMICOLON", "RPAR", "RSQB", "RBRACE")
_DIRECTIVE_LIKE = re.compile(r"\.([A-Za-z_]\w*)")
_MEANT: dict[str, str] = dict.fromkeys(("declare", "declaration", "relation"), "decl")
_ANNOTATION = re.compile(r"@!?\[")
_OWNER = re.compile(r"[^\W\d][\w?]*\Z")
_CALLED = re.compile(r"\s*[(\[]")
_TYPED = re.compile(r"(?:[:|]|\.type\b[^=]*=)\s*\Z")
_CAST = re.compile(r"\bas\s*\([^()]*,\s*\Z")
_QUOTED = re.compile(r"'((?:''|[^'\n])*)'|`(.*?)`|[´‘’](.*?)[´’]|[“”„](.*?)[“”]|«(.*?)»")
"""A string as other languages and texts write it."""
_NAMED_CHARACTERS = {"\0": "a null byte", "\ufffd": "a character that is not UTF-8"}


def diagnose(problem: UnexpectedInput, source: Source) -> tuple[ParseError, int, bool]:
    """The error to show for `problem`, the offset at which the text stopped making sense, and
    whether that is within a clause.
    """
    offset = _offset(problem, source)
    accepted = _accepted(problem)
    error = _dotted(source, offset, accepted) or _known(source, offset, _previous(problem))
    within = "DECL" not in accepted
    return error or _unexpected(problem, source, offset, accepted), offset, within


def _offset(problem: UnexpectedInput, source: Source) -> int:
    """Offset at which the unexpected part starts; the end of the text when that came too early."""
    token = getattr(problem, "token", None)
    if isinstance(token, Token):
        return _end(problem, source) if token.type == "$END" else token.start_pos or 0
    position = problem.pos_in_stream
    return _end(problem, source) if position is None or position < 0 else position


def _end(problem: UnexpectedInput, source: Source) -> int:
    """The end of the last token, so that the message points at a line with text."""
    last = _previous(problem)
    return len(source.text) if last is None or last.end_pos is None else last.end_pos


def _previous(problem: UnexpectedInput) -> Token | None:
    """The token before the unexpected part."""
    history = getattr(problem, "token_history", None)
    cursor = getattr(problem, "interactive_parser", None)
    at_end = isinstance(problem, UnexpectedToken) and problem.token.type == "$END"
    last = (
        history[-1]
        if history
        else cursor.lexer_thread.state.last_token
        if at_end and cursor is not None
        else None
    )
    return last if isinstance(last, Token) else None


# ── what has a name ───────────────────────────────────────────────────────────────────────────────
def _dotted(source: Source, offset: int, accepted: set[str]) -> ParseError | None:
    """The error for `graph.edge`, at its dot."""
    text = source.text
    rest = functors.DOTTED.match(text, offset)
    owner = _OWNER.search(text, max(offset - 100, 0), offset)
    if rest is None or owner is None or DIRECTIVE.match(text, offset) is not None:
        return None
    line = text.rfind("\n", 0, owner.start()) + 1
    before = text[line : owner.start()]
    kind: functors.Dotted = "term"
    if _CALLED.match(text, rest.end()) is not None:
        kind = "relation"
    elif ("INFIX" not in accepted and _TYPED.search(before)) or _CAST.search(before):
        kind = "type"
    elif DIRECTIVE.match(before.lstrip()) is not None:
        kind = "relation"
    message, hint, code = functors.of_dotted(owner.group() + rest.group(), kind)
    return ParseError(message, code=code, span=source.span(owner.start(), rest.end()), hint=hint)


def _known(source: Source, offset: int, previous: Token | None) -> ParseError | None:
    """The error for a construct or a mistake that can be named, else None."""
    text = source.text
    if (line := PREPROCESSOR.match(text, offset)) is not None:
        return _preprocessor(source, offset, line.end())
    if (directive := DIRECTIVE.match(text, offset)) is not None and directive.group(
        1
    ) in functors.UNSUPPORTED_DIRECTIVES:
        what, hint = functors.UNSUPPORTED_DIRECTIVES[directive.group(1)]
        return ParseError(
            f"{what} not supported",
            code="E101",
            span=source.span(offset, directive.end()),
            hint=hint,
        )
    if text.startswith("/*", offset) or (text[offset - 1 : offset + 1] == "/*" and offset > 0):
        start = offset if text.startswith("/*", offset) else offset - 1
        return ParseError(
            "the comment is not closed",
            span=source.span(start, start + 2),
            hint="write */ at its end",
        )
    if text.startswith('"', offset) and not re.compile(
        r'"[^"\\\n\r]*+(?:\\[^\n\r][^"\\\n\r]*+)*+"'
    ).match(text, offset):
        end = min(offset + len(text[offset:].splitlines()[0]), source.end)
        hint = 'close it with "; a line break is written \\n'
        return ParseError(
            "the string is not closed on its line", span=source.span(offset, end), hint=hint
        )
    if (quoted := _QUOTED.match(text, offset)) is not None:
        return _quoted(source, quoted)
    if (
        annotation := _ANNOTATION.match(text, offset) or _ANNOTATION.match(text, max(offset - 1, 0))
    ) is not None:
        hint = "leave it out: annotations change no rows"
        return ParseError(
            "annotations (`@[…]`) are not supported",
            code="E101",
            span=source.span(*annotation.span()),
            hint=hint,
        )
    if (
        (word := _DIRECTIVE_LIKE.match(text, offset)) is not None
        and previous is None
        and directive is None
    ):
        return _unknown_directive(source, offset, word)
    if previous is not None and previous.type == "AGGREGATE" and offset < len(text):
        return _reserved(source, previous)
    return _unexpected_number(source, offset, previous)


def _quoted(source: Source, found: re.Match[str]) -> ParseError:
    """A string in other quotes than the language's."""
    escaped = re.sub(r'(?<!\\)"', r"\"", found[found.lastindex or 0].replace("''", "'"))
    return ParseError(
        "strings are written in double quotes",
        span=source.span(*found.span()),
        hint=f'write "{escaped}"' if len(escaped) <= 40 else 'write "…"',
    )


def _reserved(source: Source, word: Token) -> ParseError:
    """The name of an aggregate without its body."""
    written = IN_BRACES[word].in_braces
    hint = (
        f"the aggregate is written {written}; choose another name for a variable, such as {word}_"
    )
    return ParseError(
        f"`{word}` is a word of the language",
        span=source.span(word.start_pos or 0, word.end_pos or 0),
        hint=hint,
    )


def _preprocessor(source: Source, offset: int, end: int) -> ParseError:
    word = re.match(r"#\s*\w*", source.text[offset:end])
    shown = word.group() if word else "#"
    span = source.span(offset, offset + len(shown))
    if shown[1:] in functors.BODY_AGGREGATES:
        return ParseError(
            f"unexpected `{shown}`",
            span=span,
            hint="aggregates have no `#`: n = count : { … } in a body, count() in a head",
        )
    hint = (
        "preprocessor lines are carried out by lftj run and lftj check, each on a line of its "
        "own; comments start with //"
    )
    return ParseError(
        f"a preprocessor line (`{shown}`) within rules", code="E101", span=span, hint=hint
    )


def _unknown_directive(source: Source, offset: int, word: re.Match[str]) -> ParseError:
    if word.group(1) == "plan":
        span = source.span(offset, word.end())
        return ParseError(
            "a plan stands behind the rule that it is for",
            span=span,
            hint="leave it out: it has no effect",
        )
    near = _MEANT.get(word.group(1)) or closest(
        word.group(1), ("decl", "type", "input", "output", "printsize", "limitsize")
    )
    hint = (
        f"did you mean .{near}?"
        if near
        else "directives are .decl, .type, .input, .output, .printsize and .limitsize"
    )
    return ParseError(
        f"unknown directive .{word.group(1)[:40]}", span=source.span(offset, word.end()), hint=hint
    )


def _unexpected_number(source: Source, offset: int, previous: Token | None) -> ParseError | None:
    """A name that starts with a digit."""
    if (
        previous is None
        or previous.type not in ("INTEGER", "FLOAT", "IPV4")
        or previous.end_pos != offset
    ):
        return None
    rest = re.compile(r"[\w?]+").match(source.text, offset)
    if rest is None:
        return None
    start = previous.start_pos or 0
    shown = source.text[start : rest.end()][:40]
    return ParseError(
        f"`{shown}` is neither a number nor a name",
        span=source.span(start, rest.end()),
        hint="names start with a letter",
    )


# ── everything else ───────────────────────────────────────────────────────────────────────────────
def _unexpected(
    problem: UnexpectedInput, source: Source, offset: int, accepted: set[str]
) -> ParseError:
    token = getattr(problem, "token", None)
    length = 1 if not isinstance(token, Token) else 0 if token.type == "$END" else len(token)
    end = min(offset + length, source.end)
    found = _found(source.text[offset:end])
    previous, expected = _previous(problem), _expected(problem, accepted)
    if source.end < len(source.text):  # a part of a clause: what ends it is not the user's
        expected = expected.replace(_WORDS["END"], "the end of the text", 1)
        previous = (
            None if previous is None or (previous.start_pos or 0) < source.start else previous
        )
    if expected == "a clause" and (word := _DIRECTIVE_LIKE.match(source.text, offset)) is not None:
        return _unknown_directive(source, offset, word)
    message = f"expected {expected}, found {found}" if expected else f"unexpected {found}"
    span = source.span(offset, max(end, offset))
    return ParseError(
        message,
        span=span,
        hint=remedy(source.text[: source.end], offset, expected, previous),
    )


def _found(piece: str) -> str:
    if not piece:
        return "the end of the text"
    if piece in _NAMED_CHARACTERS:
        return _NAMED_CHARACTERS[piece]
    shown = piece if piece.isprintable() else ascii(piece)[1:-1]
    return f"`{shown[:40]}{'…' if len(shown) > 40 else ''}`"


def _accepted(problem: UnexpectedInput) -> set[str]:
    """The names of the tokens that could stand there."""
    cursor = getattr(problem, "interactive_parser", None)
    if cursor is not None:
        return set(cursor.accepts())
    if isinstance(problem, UnexpectedToken):
        return set(problem.expected)
    return set(problem.allowed or ()) if isinstance(problem, UnexpectedCharacters) else set()


def _expected(problem: UnexpectedInput, accepted: set[str]) -> str:
    """Name the tokens that would be accepted there, most useful first."""
    if "DECL" in accepted:
        return "a clause"
    words: list[str] = []
    if accepted >= _TERM_STARTS:
        words.append("a condition" if "NOT" in accepted else "a term")
        accepted -= _TERM_STARTS | _OTHER_STARTS
    if accepted & set(_ORDER):
        accepted -= {
            "MINUS",
            "INFIX",
            *(("COMPARE", "EQUALS", "LPAR", "LSQB") if not _is_name(_previous(problem)) else ()),
        }
    if accepted >= {"COMMA", "RPAR", "EQUALS"} and "COMPARE" not in accepted:
        accepted -= {"EQUALS", "LPAR", "LSQB"}  # after the name of a variable, or of a column
    if "COMPARE" in accepted:
        accepted.discard("EQUALS")
    for name in [name for name in _ORDER if name in accepted] + sorted(accepted - set(_ORDER)):
        word = _WORDS.get(name)
        if word is not None and word not in words:
            words.append(word)
    return (
        words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}" if words else ""
    )


def _is_name(token: Token | None) -> bool:
    return token is not None and token.type == "NAME"
