# SPDX-License-Identifier: Apache-2.0
"""Tables of the parser, made of the grammar by the build step: reading them is ten times quicker.

They are a JSON file beside the grammar, which begins with a hash of the grammar and of Lark's
version. Where there is none that fits, as after an edit, the parser is made from the grammar. This
module imports nothing of ours: the build step runs it by itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import lark
from lark.grammar import Rule
from lark.lexer import TerminalDef

_FOLDER = Path(__file__).parent
_KIND: Any = {"parser": "lalr", "lexer": "contextual", "maybe_placeholders": True}


def grammar() -> str:
    """The text of the grammar."""
    return (_FOLDER / "grammar.lark").read_text(encoding="utf-8")


def tables() -> str:
    """The content of the file for the grammar as it is."""
    text = grammar()
    data, memo = lark.Lark(text, **_KIND).memo_serialize([TerminalDef, Rule])
    content = json.dumps([_fits(text), data, memo], separators=(",", ":"))
    _load(content, text)  # what Lark cannot read again is not kept
    return content


def parser(words: Mapping[str, Iterable[str]] = MappingProxyType({}), **actions: Any) -> lark.Lark:
    """A parser with these actions (`transformer`, `lexer_callbacks`). `words`: the names that the
    grammar has these words for. Costs a hundredth of a second with tables, else a tenth.
    """
    text = grammar()
    with suppress(OSError, ValueError):
        content = (_FOLDER / "parse_tables.json").read_text(encoding="utf-8")
        if (found := _load(_with(words, content), text, **actions)) is not None:
            return found
    return lark.Lark(_with(words, text), **_KIND, **actions)


def _with(words: Mapping[str, Iterable[str]], text: str) -> str:
    for word, names in words.items():
        text = text.replace(word, "|".join(sorted(names)))
    return text


def _load(content: str, text: str, **actions: Any) -> lark.Lark | None:
    """The parser of these tables, or None where they are of another grammar. Raises ValueError."""
    fits, data, memo = json.loads(content)
    if fits != _fits(text):
        return None
    table = data["parser"]["parser"]
    table["states"] = _numbered(table["states"])
    found: Any = lark.Lark._load_from_dict(data, _numbered(memo), **actions)
    _share_actions(found.parser.parser.parser.parse_table.states)
    return found


def _share_actions(states: dict[int, dict[str, tuple[Any, Any]]]) -> None:
    """Make one object of actions that are alike: of 3,800, which the collector of cyclic garbage
    looks at each time, 480 are left.
    """
    once: dict[int, tuple[Any, Any]] = {}
    for actions in states.values():
        for token, (action, what) in actions.items():
            number = what if isinstance(what, int) else id(what)  # a state, or a rule
            actions[token] = once.setdefault(number, (action, what))


def _fits(text: str) -> str:
    return hashlib.sha256(f"{lark.__version__}\n{text}".encode()).hexdigest()


def _numbered(read: dict[str, Any]) -> dict[int, Any]:
    """The same by numbers: JSON makes strings of all keys."""
    return {int(key): value for key, value in read.items()}
