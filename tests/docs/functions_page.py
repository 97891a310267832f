"""The page of built-in functions, made from their records.

`python -m tests.docs.functions_page` writes it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

from lftj.functions import FUNCTIONS, Function
from lftj.functions.aggregates import AGGREGATES, Aggregate

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "functions.md"
_HEAD = """\
# Functions

The built-in functions and aggregates of rules, in text and in Python: `lftj.fn` has them by the
names that they have here, `fn.max(x, y)` and `fn.sum(x)`.

::: lftj.syntax.named_functions.fn
"""


def page() -> str:
    """The page as it is to be."""
    named = [each for each in FUNCTIONS.values() if each.precedence is None]
    infix = [each for each in FUNCTIONS.values() if each.precedence is not None]
    sections = {
        "Operators": infix,
        "Functions": [each for each in named if not each.condition],
        "Conditions": [each for each in named if each.condition],
        "Aggregates": list(AGGREGATES.values()),
    }
    lines = [_HEAD]
    for title, listed in sections.items():
        lines += [f"## {title}\n", *(line for each in listed for line in _lines(each)), ""]
    return "\n".join(lines).rstrip() + "\n"


def _lines(known: Function | Aggregate) -> Iterator[str]:
    names = ""
    if isinstance(known, Function) and known.synonyms:
        names = f" Also `{'`, `'.join(known.synonyms)}`."
    text = f"- `{_written(known)}`: {known.line}{names}"
    yield from textwrap.wrap(text, 100, subsequent_indent="  ", break_on_hyphens=False)


def _written(known: Function | Aggregate) -> str:
    if isinstance(known, Function) and known.precedence is not None:
        name = "-" if known.name == "neg" else known.name
        space = " " if name.isalpha() else ""
        return f"{name}{space}x" if known.prefix else f"x {name} y"
    return f"{known.name}({', '.join(known.arguments)})"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
