# SPDX-License-Identifier: Apache-2.0
"""Regular expressions of `match`, for RE2: time linear in the text, without holding the
interpreter.

RE2 reads the syntax of ECMAScript, which Soufflé's `match` has, but for what no automaton does:
backreferences and lookahead are errors. What RE2 takes for letters and ECMAScript refuses, such as
a brace that is no quantifier, is an error too.
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
import pyarrow as pa

from lftj.errors import ValueTypeError
from lftj.types import arrow_compute as pc
from lftj.types.arrow_arrays import arrow_array

_CLASSES = {"d": "0-9", "s": r"\t\n\v\f\r ", "w": "0-9A-Za-z_"}
"""Classes of ECMAScript's that RE2 does not know by these names."""
_PIECE = re.compile(r"\\.?|\[\^?\]?|\{(?:[0-9]+(?:,[0-9]*)?\})?|.", re.DOTALL)
_INSIDE = re.compile(r"\\.?|\[:(?P<name>[a-z]*):\]|\]|.", re.DOTALL)
_NO_ESCAPES = {r"\C": "one byte", r"\Q": "quoting"}
"""Escapes of RE2's own that would reach beyond a character, or beyond the pattern."""
_SHOWN = 60
_HINT = "patterns are those of ECMAScript, without backreferences and lookahead"


def matching(pattern: str, texts: pa.Array) -> np.ndarray:
    """Mark the texts that match as a whole. Raises ValueTypeError for a bad pattern."""
    found = pc.match_substring_regex(texts, pattern=rf"\A(?:{translated(pattern)})\z")
    return np.asarray(found.to_numpy(zero_copy_only=False), bool)


def matches(pattern: str, text: str) -> bool:
    """The same for one text."""
    return bool(matching(pattern, arrow_array([text], type=pa.large_string()))[0])


@lru_cache(maxsize=512)
def translated(pattern: str) -> str:
    """The pattern as RE2 reads it. Raises ValueTypeError, which says where it is wrong."""
    pieces: list[str] = []
    groups: list[int] = []
    position, opened = 0, -1
    while position < len(pattern):
        found = (_PIECE if opened < 0 else _INSIDE).match(pattern, position)
        assert found is not None
        piece = found.group()
        _refuse(pattern, position, found, outside=opened < 0)
        if opened < 0:
            opened = position if piece.startswith("[") else -1
            _count(pattern, position, piece, groups)
        elif piece == "]":
            opened = -1
        pieces.append(_CLASSES.get(found["name"], piece) if "name" in found.groupdict() else piece)
        position = found.end()
    if opened >= 0 or groups:
        still = opened if opened >= 0 else groups[-1]
        raise _bad(pattern, still, f"`{pattern[still]}` is not closed")
    _compile(pattern, text := "".join(pieces))
    return text


def _refuse(pattern: str, position: int, found: re.Match[str], *, outside: bool) -> None:
    """Refuse a piece of a pattern that RE2 would read otherwise than ECMAScript."""
    piece = found.group()
    if piece in _NO_ESCAPES:
        raise _bad(pattern, position, f"`{piece}` ({_NO_ESCAPES[piece]}) is not known")
    if outside and piece == "{":
        problem = r"`{` begins no number of times, as {2} or {2,3}; `\{` is the brace itself"
        raise _bad(pattern, position, problem)


def _count(pattern: str, position: int, piece: str, groups: list[int]) -> None:
    """Keep the places of the groups that are open."""
    if piece == "(":
        groups.append(position)
    elif piece == ")" and not groups:
        raise _bad(pattern, position, "`)` closes no `(`")
    elif piece == ")":
        groups.pop()


def _compile(pattern: str, text: str) -> None:
    one = arrow_array([""], type=pa.large_string())  # without any text, no pattern is looked at
    try:
        pc.match_substring_regex(one, pattern=text)
    except (pa.ArrowInvalid, UnicodeEncodeError) as problem:
        said = str(problem).removeprefix("Invalid regular expression: ")
        part = said.partition(": ")[2]
        raise _bad(pattern, max(pattern.find(part), 0), said[:_SHOWN]) from None


def _bad(pattern: str, position: int, problem: str) -> ValueTypeError:
    shown = f"{pattern[:_SHOWN]!r}{'…' if len(pattern) > _SHOWN else ''}"
    message = (
        f"match: {shown} is not a regular expression, at its character {position + 1}: {problem}"
    )
    return ValueTypeError(message, hint=_HINT)
