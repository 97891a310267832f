# SPDX-License-Identifier: Apache-2.0
"""Common parts of all errors: a code, a place in the source, and what to write instead."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

from lftj.errors.shortening import shortened

_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
"""The beginning of the names of our own files."""

_MOST_SHOWN = 120
"""Characters of a line that an error shows."""


@dataclass(frozen=True, slots=True)
class Span:
    """A place in rule text. Lines and columns count from 1; `end_column` is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int
    file: str | None = None
    source: str | None = None
    """The whole source text, kept by reference so that an error can show the line."""

    @property
    def written(self) -> Span:
        """The place in the file that a preprocessor found the text in; the place itself where there
        was none.
        """
        written_at = getattr(self.source, "written_at", None)
        return self if written_at is None else written_at(self)

    def __str__(self) -> str:
        place = self.written
        return f"{place.file or '<rules>'}:{place.line}:{place.column}"

    @property
    def line_of_text(self) -> str:
        """The source line without its indentation; empty when the source is not known."""
        place = self.written
        lines = lines_of(place.source) if place.source is not None else []
        return lines[place.line - 1].strip() if 1 <= place.line <= len(lines) else ""

    @property
    def text(self) -> str:
        """The text at this place; empty when the source is not known."""
        lines = lines_of(self.source or "")[self.line - 1 : self.end_line]
        if not lines:
            return ""
        lines[-1] = lines[-1][: self.end_column - 1]
        lines[0] = lines[0][self.column - 1 :]
        return "\n".join(lines)

    def caret(self) -> str:
        """The source line with the span underlined; empty when the source is not known."""
        return self.written._caret()

    def _caret(self) -> str:
        if self.source is None:
            return ""
        lines = lines_of(self.source)
        if not 1 <= self.line <= len(lines):
            return ""
        text = "".join(char if char.isprintable() else " " for char in lines[self.line - 1])
        last = self.end_column if self.end_line == self.line else len(text) + 1
        first = max(0, self.column - 1 - _MOST_SHOWN // 2) if len(text) > _MOST_SHOWN else 0
        shown = text[first : first + _MOST_SHOWN]
        gutter = f"{self.line:>4} | {'…' if first else ''}"
        indent = self.column - 1 - first
        width = max(1, min(last - self.column, len(shown) - indent))
        return (
            f"{gutter}{shown}{'…' if len(text) > first + _MOST_SHOWN else ''}\n"
            f"{' ' * (len(gutter) + indent)}{'^' * width}"
        )


@lru_cache(maxsize=1)
def lines_of(text: str) -> list[str]:
    """The lines of a text. They are kept for the other errors of one text."""
    return text.splitlines()


class LftjError(Exception):
    """Base of every error this library raises on purpose.

    `code` is stable and may be matched on; `span` is the place in rule text, or None; `hint` says
    what to write instead.
    """

    code = "E000"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        span: Span | None = None,
        hint: str | None = None,
    ):
        self.message = shortened(message)
        super().__init__(self.message)
        self.code = code or type(self).code
        self.span = span
        self.hint = hint if hint is None else shortened(hint)

    @property
    def reason(self) -> str:
        """The message as a part of another one's."""
        return self.message

    def __str__(self) -> str:
        place = f"{self.span}: " if self.span else ""
        parts = [f"{place}error[{self.code}]: {shortened(self.message)}"]
        if self.span and (caret := self.span.caret()):
            parts.append(caret)
        if self.hint:
            parts.append(f"  help: {shortened(self.hint)}")
        return "\n".join(parts)

    def _render_traceback_(self) -> list[str]:
        """Lines for IPython and notebooks: the message first, then the frames that are not the
        engine's own. Python itself shows all of them.
        """
        import traceback  # only where an error is shown so

        frames = [
            frame
            for frame in traceback.extract_tb(self.__traceback__)
            if not (frame.filename.startswith(_OWN) or _is_machinery(frame.filename))
        ]
        lines = [f"{type(self).__name__}: {self}".rstrip()]
        if frames:
            lines += ["", "Traceback (most recent call last):"]
            lines += "".join(traceback.format_list(frames)).rstrip().split("\n")
        return lines


def _is_machinery(filename: str) -> bool:
    """Test for files whose frames stand between cells, decorators and what is called."""
    return f"{os.sep}IPython{os.sep}" in filename or filename == contextmanager.__code__.co_filename


class ProgramErrors(LftjError, ValueError):
    """Errors of one program, in the order of the text. `errors` holds them one by one; the message
    shows the first `shown`.
    """

    code = "E001"
    shown = 20
    """Errors in a message, and the most that are looked for in the syntax of a text."""

    def __init__(self, errors: list[LftjError]):
        self.errors = errors
        super().__init__(f"{len(errors)} error{'s' if len(errors) != 1 else ''} in the program")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.errors,)

    @property
    def reason(self) -> str:
        """The first error's message, with its line of text, and how many more there are."""
        first, more = self.errors[0], len(self.errors) - 1
        line = first.span.line_of_text if first.span else ""
        others = f", and {more} more error{'s' if more > 1 else ''}" if more else ""
        return f"{first.reason}{f', in  {line}' if line else ''}{others}"

    def __str__(self) -> str:
        more = f"; the first {self.shown} are shown" if len(self.errors) > self.shown else ""
        return "\n".join([*map(str, self.errors[: self.shown]), f"{self.message}{more}"])
