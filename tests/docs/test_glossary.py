"""The glossary's terms occur; the words that they replace occur neither in identifiers nor in docs.

Some replaced words are ordinary English too, so the search is restricted:

- In code only identifiers are searched, split at underscores and capitals. Names of Python itself
  (`round`) and names that a library defines are no identifiers of ours.
- In documentation only prose is searched: no code, no names of files, no quotations of a program.
- A word stands for itself, not for words that contain it: `rounded` and `rounding` are of numbers.
"""

from __future__ import annotations

import builtins
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
CODE = ("bench", "examples", "lftj", "partition", "scantree", "sensitivity")
PAGES = ("README.md", "CONTRIBUTING.md", "docs")

FOREIGN = {"__round__", "round_", "ROUND_HALF_UP", *dir(builtins)}
"""Names of Python and NumPy, and the function that rounds numbers in rules."""

ORDINARY = {
    "lftj/distributed": {"rounds"},
    "bench": {"turns"},
    "docs": {"turns", "losing", "effort", "attained", "few offers", "few rounds"},
}
"""Words in their everyday meaning, as two sides take turns, and a public column of `profile`."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_NO_PROSE = re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)|<!--.*?-->|::: [\w.]+", re.DOTALL)


_ENTRY = re.compile(r"^- \*\*(.+?)\*\*: (.+?) \(`([^`]+)`\)$", re.MULTILINE)


def entries() -> list[tuple[str, str, str]]:
    """The glossary's entries: term, meaning, place."""
    text = re.sub(r"\n  ", " ", GLOSSARY.read_text(encoding="utf-8"))
    return _ENTRY.findall(text)


def replaced() -> list[str]:
    """The words of the table at the end, which are not used."""
    lines = GLOSSARY.read_text(encoding="utf-8").splitlines()
    cells = [line.strip("| ").split("|")[0].strip() for line in lines if line.startswith("| ")]
    return [word for each in cells if each != "instead of" for word in each.split(", ")]


TERMS = entries()
REPLACED = replaced()


def words(text: str) -> str:
    """The words of a text, each between spaces."""
    return f" {' '.join(_WORD.findall(text)).lower()} "


def names(path: Path) -> Iterator[str]:
    """Identifiers of a Python file."""
    with io.BytesIO(path.read_bytes()) as source:
        for token in tokenize.tokenize(source.readline):
            if token.type == tokenize.NAME and token.string not in FOREIGN:
                yield token.string


def room_of(path: Path) -> str:
    """The room of a file: a package inside `lftj`, else a top folder; a page by itself."""
    parts = path.relative_to(ROOT).parts
    if path.suffix == ".md":
        return "/".join(parts)
    return "/".join(parts[:2]) if parts[0] == "lftj" and len(parts) > 2 else parts[0]


@cache
def found() -> dict[str, set[str]]:
    """Replaced words by room."""
    where = defaultdict[str, set[str]](set)
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            spoken = {words(name) for name in names(path)} | {words(path.stem)}
            for word in REPLACED:
                if any(f" {word} " in each for each in spoken):
                    where[room_of(path)].add(word)
    for page in pages():
        if page != GLOSSARY:
            prose = words(_NO_PROSE.sub(" . ", page.read_text(encoding="utf-8")))
            where[room_of(page)] |= {
                word for word in REPLACED if f" {word} " in prose and word not in ORDINARY["docs"]
            }
    return {
        room: left for room, each in where.items() if (left := each - ORDINARY.get(room, set()))
    }


def pages() -> list[Path]:
    """The pages of the documentation."""
    places = [ROOT / page for page in PAGES]
    return [each for place in places for each in (sorted(place.rglob("*.md")) or [place])]


@cache
def everything() -> str:
    """All code and documentation but the glossary, in lower case, line breaks as spaces."""
    files = [path for folder in CODE for path in sorted((ROOT / folder).rglob("*.py"))]
    texts = [path.read_text(encoding="utf-8") for path in [*files, *pages()] if path != GLOSSARY]
    return re.sub(r"[\s_]+", " ", " ".join(texts)).lower()


@pytest.mark.parametrize("term", [row[0] for row in TERMS])
def test_a_term_occurs(term: str) -> None:
    assert re.search(rf"\b{re.escape(term.lower())}", everything())


@pytest.mark.parametrize("row", TERMS, ids=lambda row: row[0])
def test_a_term_is_where_the_glossary_says(row: tuple[str, str, str]) -> None:
    assert (ROOT / row[2]).exists()


def test_terms_stand_once() -> None:
    terms = [row[0] for row in TERMS]
    assert len(terms) == GLOSSARY.read_text(encoding="utf-8").count("\n- **") > 60
    assert len(REPLACED) > 30
    assert len(set(terms)) == len(terms)
    assert not {term.lower() for term in terms} & set(REPLACED)


def test_replaced_words_do_not_occur() -> None:
    assert found() == {}


def test_replaced_words_are_found(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("def run_rounds(RowsAlone): return round(rounded)  # told\n")
    spoken = [words(name) for name in names(path)]
    assert [word for word in REPLACED if any(f" {word} " in each for each in spoken)] == [
        "rows alone",
        "rounds",
    ]
