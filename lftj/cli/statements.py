# SPDX-License-Identifier: Apache-2.0
"""Statements of a shell, read from lines of text: where each ends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

MORE = "  ... "
"""Prompt of a terminal before further lines of a statement."""


_BEGINS = re.compile(r"\.[a-z]|\?\s")
"""The beginning of a line that goes on with no statement."""


def is_complete(text: str) -> bool:
    """Test for a statement that a line end finishes."""
    depth, quoted, escaped = 0, False, False
    bare: list[str] = []
    for line in text.splitlines():
        for place, letter in enumerate(line):
            if quoted:
                quoted = escaped or letter != '"'
                escaped = letter == "\\" and not escaped
                continue
            if line.startswith("//", place):
                break
            quoted = letter == '"'
            depth += (letter in "([{") - (letter in ")]}")
            bare.append(letter)
        bare.append("\n")
    left = "".join(bare).strip()
    if quoted or not left:
        return not quoted
    if left.startswith((".", "#", "+", "-")):
        return depth <= 0  # a declaration may go on in its brackets
    return left.endswith((".", "}"))


def statements(lines: Iterable[str]) -> Iterator[str]:
    """Yield complete statements of lines; the last one is yielded as it is, and so is one without a
    final dot before a command or a question.
    """
    waiting = ""
    for line in lines:
        if waiting.strip() and _BEGINS.match(line) and is_complete(f"{waiting}."):
            yield waiting
            waiting = ""
        waiting += line if line.endswith("\n") else f"{line}\n"
        if is_complete(waiting):
            yield waiting
            waiting = ""
    if waiting.strip():
        yield waiting
