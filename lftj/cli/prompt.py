# SPDX-License-Identifier: Apache-2.0
"""Statements typed at a terminal, with history, completion and several lines, by prompt_toolkit;
without that extra, line by line.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lftj.cli.statements import MORE, is_complete, statements

HISTORY = Path("~/.lftj_history")


Completing = Callable[[str], list[tuple[str, int]]]
"""Words for the end of a text, each with the number of letters in whose place it comes."""


def typed(completing: Completing, prompt: Callable[[], str]) -> Iterator[str]:
    """Yield complete statements until the end of input. `prompt`: what stands before each."""
    try:
        session = _session(completing)
    except ImportError:
        print(
            "for history and completion: pip install 'lftj[shell]'; .help lists commands",
            file=sys.stderr,
        )
        yield from statements(_plain_lines(prompt))
        return
    while True:
        try:
            yield session.prompt(prompt())
        except KeyboardInterrupt:
            continue
        except EOFError:
            return


def _plain_lines(prompt: Callable[[], str]) -> Iterator[str]:
    while True:
        try:
            yield input(prompt())
        except KeyboardInterrupt:
            print()
        except EOFError:
            return


def _session(completing: Completing) -> Any:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import Completer, Completion
    from prompt_toolkit.history import FileHistory
    from prompt_toolkit.key_binding import KeyBindings

    class Names(Completer):
        def get_completions(self, document: Any, complete_event: Any) -> Any:
            for word, letters in completing(document.text_before_cursor):
                yield Completion(word, -letters)

    keys = KeyBindings()

    @keys.add("enter")
    def finish(event: Any) -> None:
        buffer = event.current_buffer
        if is_complete(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n")

    _ = finish
    session: PromptSession[str] = PromptSession(
        history=FileHistory(str(HISTORY.expanduser())),
        completer=Names(),
        complete_while_typing=False,
        key_bindings=keys,
        multiline=True,
        prompt_continuation=MORE,
    )
    return session
