# SPDX-License-Identifier: Apache-2.0
"""Messages of errors kept to a length that can be read, whatever a user's names, values and texts
are.
"""

from __future__ import annotations

import re

_WORD = 240
"""Characters of a name or a value without spaces; the paths of most files have fewer."""

_TEXT = 2000
"""Characters of a message, or of a hint."""

_LONG = re.compile(rf"\S{{{_WORD + 1},}}")


def shortened(text: str) -> str:
    """The text, with the middle left out of each word, and of all of it, that is too long. A text
    that was shortened once is as it should be. O(len(text)).
    """
    if len(text) <= _WORD:
        return text
    text = _LONG.sub(lambda found: _ends(found[0], _WORD), text[:_TEXT] + _rest(text))
    return _ends(text, _TEXT) if len(text) > _TEXT else text


def _rest(text: str) -> str:
    """The text behind its first characters; where that is too much, its end."""
    if len(text) <= 2 * _TEXT:
        return text[_TEXT:]
    return "…" + text[-_TEXT:]


def _ends(text: str, most: int) -> str:
    """The beginning and the end of a text, `most` characters with the sign between them."""
    behind = most // 3
    return f"{text[: most - behind - 1]}…{text[len(text) - behind :]}"
