"""Regular expressions of `match`: those of Python's `re`, and besides the classes of POSIX, `[[:digit:]_]`, which Soufflé knows."""

from __future__ import annotations

import re
from functools import lru_cache

from lftj.errors import ValueTypeError

_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "d": "0-9",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"!-/:-@\[-`{-~",
    "s": r" \t\n\r\f\v",
    "space": r" \t\n\r\f\v",
    "upper": "A-Z",
    "w": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_PIECE = re.compile(r"\\.|\[\^?\]?|\[|\]|.", re.DOTALL)
_INSIDE = re.compile(r"\\.|\[:(?P<name>[a-z]*):\]|\]|.", re.DOTALL)


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    """The expression that `pattern` is. Raises ValueTypeError for what is none."""
    try:
        return re.compile(_with_classes(pattern) if "[" in pattern else pattern)
    except (re.error, RecursionError, OverflowError) as problem:
        raise ValueTypeError(f"match: {pattern[:60]!r} is not a regular expression: {problem}", hint="as in Python's re module") from None


def _with_classes(pattern: str) -> str:
    """`pattern` with the characters of POSIX's classes in their place. O(len(pattern))."""
    pieces: list[str] = []
    position, inside = 0, False
    while position < len(pattern):
        found = (_INSIDE if inside else _PIECE).match(pattern, position)
        assert found is not None
        piece = found.group()
        if not inside:
            inside = piece.startswith("[")
        elif piece == "]":
            inside = False
        elif found["name"] is not None:
            if found["name"] not in _CLASSES:
                raise re.error(f"there is no class {piece}")
            piece = _CLASSES[found["name"]]
        elif piece == "[":
            piece = r"\["  # the same character, but no warning of Python's that a class may stand in a class one day
        pieces.append(piece)
        position = found.end()
    return "".join(pieces)
