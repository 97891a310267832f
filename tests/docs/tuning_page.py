"""Lists of docs/tuning.md, made from the sources of `lftj.tuning`.

`python -m tests.docs.tuning_page` writes them into the page.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from pathlib import Path

from lftj.tuning import Tuning

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tuning.md"
BEGIN = "<!-- tables: python -m tests.docs.tuning_page -->\n"
_EITHER = re.compile(
    r"    # ── ([^─]+?) ─+\n((?:    # [^\n]*\n)*)"
    r'|    (\w+): (?:int|float) = ([^\n]+)\n    """(.+?)"""\n',
    re.DOTALL,
)


def tables() -> str:
    """The thresholds, section by section: name, default, and what each trades."""
    lines: list[str] = []
    for group in Tuning.__mro__[1:-1]:
        lines += _of(inspect.getsource(group))
    return "\n".join(lines) + "\n"


def page() -> str:
    """The page with the tables as they are to be."""
    said = PAGE.read_text(encoding="utf-8").partition(BEGIN)[0]
    return said + BEGIN + tables()


def _of(source: str) -> list[str]:
    lines: list[str] = []
    for title, measured, name, default, trade in _EITHER.findall(source):
        if title:
            lines += ["", f"## {title[0].upper()}{title[1:]}", ""]
            lines += [*_wrapped(measured.replace("    # ", "")), ""]
        else:
            lines += _wrapped(f"- `{name}` = `{default}`: {trade}", "  ")
    return lines


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(
        " ".join(text.split()), 100, subsequent_indent=indent, break_on_hyphens=False
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
