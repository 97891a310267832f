# SPDX-License-Identifier: Apache-2.0
"""The C preprocessor's lines in a program, as Soufflé has them: `#include`, `#define`, `#if`; and
`.include`, `.once`.

pcpp expands them. The expanded text remembers, line by line, where it comes from, so that errors
show what the user wrote.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NoReturn

from lftj.errors import FileMissingError, FrameError, LftjError, ParseError, Span
from lftj.syntax.expanded import ExpandedText, Origin

_NEEDED = re.compile(
    r"^[ \t]*#|(?<!\w)(?:__(?:LINE|FILE|COUNTER)__|RAM_DOMAIN_SIZE)(?!\w)"
    r"|^[ \t]*\.(?:include|once)(?![\w?])",
    re.MULTILINE,
)
_INCLUDE = re.compile(r'^([ \t]*)\.include([ \t]*"[^"\n]*")', re.MULTILINE)
_ONCE = re.compile(r"^([ \t]*)\.once(?![\w?])", re.MULTILINE)
_OF_C = ("__DATE__", "__TIME__", "__PCPP__")
_OF_SOMETHING = ("include", "define", "undef", "ifdef", "ifndef", "if", "elif")
_KNOWN = (
    "include",
    "define",
    "undef",
    "ifdef",
    "ifndef",
    "if",
    "elif",
    "else",
    "endif",
    "error",
    "warning",
    "pragma",
    "line",
)


def preprocess(text: str, file: str, folder: Path, *, allow_paths: bool = False) -> str:
    """The text with its preprocessor lines carried out; the text itself where it has none.

    `file` is its name in messages, `folder` where names of included files start and, unless
    `allow_paths`, where the files must be. Raises ParseError (E104), FileMissingError, FrameError
    (E232), with the place. About 10 µs a word.
    """
    if _NEEDED.search(text) is None:
        return text
    return _Expansion(text, file, folder.resolve(), allow_paths).expanded()


class _Expansion:
    """One run of pcpp. `texts`: every file that was read, by its name in messages."""

    def __init__(self, text: str, file: str, folder: Path, allow_paths: bool):
        self.texts = {file: text}
        self._file, self._folder, self._allow_paths = file, folder, allow_paths
        self._pcpp = self._preprocessor()

    def expanded(self) -> ExpandedText:
        """The whole text."""
        lines: list[str] = []
        origins: list[Origin] = []
        split = {name: text.splitlines() for name, text in self.texts.items()}
        for source, number, line in self._lines():
            if source not in split:
                split[source] = self.texts[source].splitlines()
            written = split[source][number - 1] if 0 < number <= len(split[source]) else ""
            lines.append(line)
            origins.append(Origin(source, number, written))
        return ExpandedText("".join(f"{line}\n" for line in lines), tuple(origins), self.texts)

    def _lines(self) -> Iterator[tuple[str, int, str]]:
        """The lines that are left: file, number and text. Raises LftjError."""
        place: tuple[str, int] = (self._file, 1)
        line = io.StringIO()
        try:
            self._pcpp.parse(
                _translated(self.texts[self._file]), str(self._folder / Path(self._file).name)
            )
            while (token := self._pcpp.token()) is not None:
                here = (str(token.source or self._file), int(token.lineno))
                if here != place and token.value.strip():
                    if line.getvalue().strip():
                        yield place[0], place[1], line.getvalue().rstrip("\n")
                    place, line = here, io.StringIO()
                line.write(
                    token.value.replace("\n", " ")
                    if token.value.strip()
                    else token.value.strip("\r\n")
                )
        except RecursionError:
            raise self.refused(
                self._file,
                1,
                "files include one another without end",
                "write .once or #pragma once into each",
            ) from None
        except (LftjError, OSError):
            raise
        except Exception as reason:  # of pcpp's own, about a line that it takes to be well formed
            directive = getattr(self._pcpp, "lastdirective", None)
            source, number = (
                (directive.source, directive.lineno) if directive is not None else place
            )
            raise self.refused(
                source, number, f"the preprocessor cannot read this: {reason}", None
            ) from None
        if line.getvalue().strip():
            yield place[0], place[1], line.getvalue().rstrip("\n")

    def refused(self, source: str | None, line: int, message: str, hint: str | None) -> ParseError:
        """The error about one line."""
        return ParseError(message.strip(), code="E104", span=self._span(source, line), hint=hint)

    def _span(self, source: str | None, line: int) -> Span:
        shown = source or self._file
        text = self.texts.get(shown, "")
        written = text.splitlines()[line - 1 : line] or [""]
        first = len(written[0]) - len(written[0].lstrip()) + 1
        return Span(line, first, line, max(first + 1, len(written[0].rstrip()) + 1), shown, text)

    # ── files ─────────────────────────────────────────────────────────────────────────────────────
    def open(self, path: str, line: int, source: str | None) -> io.StringIO:
        """An included file. Raises OSError where there is none, LftjError where it may
        not be read.
        """
        resolved = Path(path).resolve()
        if not (self._allow_paths or resolved.is_relative_to(self._folder)):
            hint = f"only files below {self._folder} are included, or any with --allow-paths"
            raise self.refused(source, line, f"{path} is outside the program's folder", hint)
        if resolved.is_dir():
            raise IsADirectoryError(path)
        try:
            text = resolved.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as reason:
            number = reason.object.count(b"\n", 0, reason.start) + 1
            message = f"{path}, line {number}: the text is not UTF-8"
            raise FrameError(
                message, code="E232", span=self._span(source, line), hint="save the file as UTF-8"
            ) from None
        inside = Path(path).is_relative_to(self._folder)
        self.texts[
            str(Path(self._file).parent / Path(path).relative_to(self._folder)) if inside else path
        ] = text
        return io.StringIO(_translated(text))

    def _preprocessor(self) -> Any:
        from pcpp.preprocessor import Action, OutputDirective, Preprocessor

        outer = self

        class Reader(Preprocessor):
            lastdirective: Any

            def on_file_open(self, is_system_include: bool, includepath: str) -> Any:
                return outer.open(includepath, self.lastdirective.lineno, self.lastdirective.source)

            def on_error(self, file: str, line: int, msg: str) -> None:
                raise outer.refused(file, line, msg[:1].lower() + msg[1:], None)

            def on_directive_handle(
                self, directive: Any, toks: Any, ifpassthru: bool, precedingtoks: Any
            ) -> Literal[True]:
                self.lastdirective = directive
                if directive.value in _OF_SOMETHING and not any(
                    token.value.strip() for token in toks
                ):
                    raise outer.refused(
                        directive.source,
                        directive.lineno,
                        f"#{directive.value} needs something behind it",
                        None,
                    )
                return True

            def on_include_not_found(
                self, is_malformed: bool, is_system_include: bool, curdir: str, includepath: str
            ) -> NoReturn:
                place = self.lastdirective
                if is_malformed:
                    raise outer.refused(
                        place.source,
                        place.lineno,
                        "#include names no file",
                        'write #include "file.dl"',
                    )
                hint = "paths start at the folder of the file that includes"
                raise FileMissingError(
                    f"there is no file {includepath}",
                    span=outer._span(place.source, place.lineno),
                    hint=hint,
                )

            def on_directive_unknown(
                self, directive: Any, toks: Any, ifpassthru: bool, precedingtoks: Any
            ) -> Literal[True]:
                name = directive.value
                said = "".join(token.value for token in toks).strip()
                if name == "error":
                    raise outer.refused(directive.source, directive.lineno, said or "#error", None)
                if name not in _KNOWN:
                    raise outer._unknown(directive)
                if name == "line":
                    raise OutputDirective(Action.IgnoreAndRemove)
                return True

        reader = Reader()
        reader.define("RAM_DOMAIN_SIZE 64")  # as Soufflé does: the bits of a number
        for name in _OF_C:  # what differs from day to day has no place in a program
            reader.undef(name)
        main, beside = (
            str(self._folder / Path(self._file).name),
            str(Path(self._file).parent / "_")[:-1],
        )
        reader.rewrite_paths = [  # to the names in messages
            (re.escape(main) + "$", self._file.replace("\\", r"\\")),
            (re.escape(f"{self._folder}{os.sep}") + "(.*)", beside.replace("\\", r"\\") + r"\1"),
        ]
        reader.path = [str(self._folder)]
        reader.auto_pragma_once_enabled = False
        return reader

    def _unknown(self, directive: Any) -> LftjError:
        from lftj.errors.nearest import closest
        from lftj.syntax.functors import BODY_AGGREGATES

        name = directive.value
        near = closest(name, _KNOWN)
        hint = (
            f"did you mean #{near}?"
            if near
            else f"known are {', '.join(f'#{each}' for each in _KNOWN[:9])}; comments start with //"
        )
        if name in BODY_AGGREGATES:
            hint = "aggregates have no `#`: n = count : { … } in a body, count() in a head"
        return self.refused(
            directive.source, directive.lineno, f"unknown preprocessor line #{name}", hint
        )


def _translated(text: str) -> str:
    """Soufflé's own `.include` and `.once` as the preprocessor's, without a change of lines."""
    return _ONCE.sub(r"\1#pragma once", _INCLUDE.sub(r"\1#include\2", text))
