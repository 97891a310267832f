"""Modules, files and identifiers that docstrings, comments and pages name exist."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.docs.blocks import PAGES
from tests.docs.test_docstrings import FOLDERS, ROOT, texts

TEXTS = (*PAGES, *(ROOT / name for name in ("CONTRIBUTING.md", "bench/README.md")))
PLACEHOLDERS = {"x.py", "x_kernels.py"}
"""Names of files in CONTRIBUTING.md that stand for any."""
LIBRARIES = {"df", "np", "networkx", "pa", "pyarrow", "spark", "sortedcontainers"}
SHOWN = frozenset({"ws", "tx", "big", "branch", "proof"})
"""Variables of examples."""
ELSEWHERE = {
    "default_collation", "default_order",  # settings of DuckDB
    "graph.edge", "row.column", "module.name",  # names of users, and of anything
}  # fmt: skip

QUOTED = re.compile(r"`([^`\s]+)`")
PLAIN = re.compile(r"(?<![\w`/.])((?:lftj|partition|scantree|sensitivity)(?:\.\w+)+)")
DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
FILE = re.compile(r"[\w/*-]+\.py")
LONG = re.compile(r"[a-z]+(_[a-z0-9]+)+")
FENCED = re.compile(r"```.*?```", re.DOTALL)
COMMENT = re.compile(r"^\s*# (.*)$", re.MULTILINE)


@cache
def sources() -> dict[str, str]:
    """Text of each Python file but this one, by its path."""
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    found = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in files}
    del found["tests/docs/test_named_code.py"]  # it quotes names that nothing has
    return found


@cache
def words(path: str) -> frozenset[str]:
    """Identifiers of a file, and its strings without spaces."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(sources()[path])):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.alias(name=name):
                found.add(node.asname or name)
            case ast.keyword(arg=str(name)):
                found.add(name)
            case ast.Constant(value=str(text)) if not re.search(r"\s", text):
                found |= {text, *text.split(".")}
    return frozenset(found)


@cache
def all_words() -> frozenset[str]:
    """Identifiers and strings of all files, names of files and folders, column and field names."""
    places = {part.removesuffix(".py") for path in sources() for part in path.split("/")}
    return frozenset(places.union(*(words(path) for path in sources())))


@cache
def modules() -> dict[str, list[str]]:
    """Files by each ending of their dotted names: `lftj.heads.choice`, `heads.choice`, `choice`."""
    found: dict[str, list[str]] = {}
    for path in sources():
        parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
        if parts[0] in ("partition", "scantree", "sensitivity"):
            parts.insert(0, "lftj")
        for first in range(len(parts)):
            found.setdefault(".".join(parts[first:]), []).append(path)
    return found


@cache
def classes() -> frozenset[str]:
    """Names of all classes."""
    found = (re.findall(r"^\s*class (\w+)", text, re.MULTILINE) for text in sources().values())
    return frozenset().union(*found)


def exists(dotted: str, near: frozenset[str]) -> bool:
    """Test a dotted name: a module, or what a module, a library, or a name that is near, has."""
    parts = dotted.split(".")
    if dotted in modules() or dotted in all_words():
        return True
    for length in range(len(parts) - 1, 0, -1):
        files = modules().get(".".join(parts[:length]), ())
        if any(words(file).issuperset(parts[length:]) for file in files):
            return True
    if parts[0] in sys.stdlib_module_names or parts[0] in LIBRARIES:
        return True
    return parts[0] in near | SHOWN | classes() and all_words().issuperset(parts)


def unknown(text: str, near: frozenset[str]) -> Iterator[str]:
    """Names in a text that nothing has."""
    for quoted in [*QUOTED.findall(text), *PLAIN.findall(text)]:
        name = quoted.removesuffix("()")
        if name in ELSEWHERE:
            continue
        if FILE.fullmatch(name):
            own = any(path == name or path.endswith(f"/{name}") for path in sources())
            if not own and name not in PLACEHOLDERS and not any(ROOT.glob(name)):
                yield name
        elif DOTTED.fullmatch(name) and Path(name).suffix[1:] not in ENDINGS:
            if not exists(name, near):
                yield name
        elif LONG.fullmatch(name) and name not in all_words():
            yield name


ENDINGS = {"csv", "dl", "html", "json", "lock", "md", "parquet", "sqlite", "svg", "toml", "tsv"}
"""Endings of files that pages show and do not name as code."""


def named(paths: Iterable[str]) -> list[str]:
    """Unknown names in the docstrings and comments of files, by place."""
    return [
        f"{path}: {name}"
        for path in paths
        for text in (
            *(str(each.value) for each in texts(ROOT / path)),
            " ".join(COMMENT.findall(sources()[path])),
        )
        for name in unknown(text, words(path))
    ]


@pytest.mark.parametrize("folder", FOLDERS)
def test_code_that_docstrings_name_exists(folder: str) -> None:
    assert named(path for path in sources() if path.startswith(f"{folder}/")) == []


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_that_pages_name_exists(page: Path) -> None:
    assert sorted(set(unknown(FENCED.sub("", page.read_text("utf-8")), all_words()))) == []


def test_names_that_nothing_has_are_found() -> None:
    text = "`lftj.gone.module`, lftj.gone, `gone_kernels`, `gone.py`, `choice.Gone`, `heads.choice`"
    assert list(unknown(text, frozenset())) == [
        "lftj.gone.module",
        "gone_kernels",
        "gone.py",
        "choice.Gone",
        "lftj.gone",
    ]
