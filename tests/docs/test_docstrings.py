"""Docstrings begin with a noun or a verb, never with a question word."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRODUCT = ("lftj", "partition", "scantree", "sensitivity")
FOLDERS = ("bench", "examples", *PRODUCT, "tests")

QUESTION = re.compile(r"\s*(What|Whether|Who|Those|That|How|Where|Which|Why)\b")
FRAGMENT = re.compile(
    r"\s*(Of|By|From|With|Within|At|On|So|Such|These|This|It|Is|Are|Not|Nothing|Nobody|Someone"
    r"|When)\b"
)


def texts(path: Path) -> Iterator[ast.Constant]:
    """Strings that stand alone in a body: docstrings of modules, classes, functions and names."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Constant):
            continue
        if isinstance(node.value.value, str):
            yield node.value


def strays(body: list[ast.stmt], documented: bool) -> Iterator[int]:
    """Lines of strings in a body that follow neither its beginning nor the name that they would
    document.
    """
    names = (ast.Assign, ast.AnnAssign, ast.AugAssign)
    for before, statement in zip([None, *body], body, strict=False):
        match statement:
            case ast.Expr(value=ast.Constant(value=str())):
                if not (documented if before is None else isinstance(before, names)):
                    yield statement.lineno


def orphans(path: Path) -> Iterator[str]:
    """Strings of a file that document nothing, by place."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        documented = isinstance(
            node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        )
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list):
                lines = strays(body, documented and field == "body")
                yield from (f"{path.relative_to(path.parents[1])}:{line}" for line in lines)


def found(folder: Path, beginning: re.Pattern[str]) -> list[str]:
    """Docstrings below a folder that begin so, by place."""
    return [
        f"{path.relative_to(ROOT)}:{text.lineno}: {str(text.value).splitlines()[0]}"
        for path in sorted(folder.rglob("*.py"))
        for text in texts(path)
        if beginning.match(str(text.value))
    ]


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_docstring_begins_with_a_question_word(folder: str) -> None:
    assert found(ROOT / folder, QUESTION) == []


@pytest.mark.parametrize("folder", PRODUCT)
def test_no_docstring_of_the_product_begins_in_the_middle_of_a_sentence(folder: str) -> None:
    assert found(ROOT / folder, FRAGMENT) == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_docstring_documents_something(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    assert [line for path in files for line in orphans(path)] == []


def test_strings_that_document_nothing_are_found(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text('import os\n\n"""No name."""\nX = 1\n"""A name."""\n"""Another."""\n')
    assert [line.rpartition(":")[2] for line in orphans(path)] == ["3", "6"]


def test_question_words_are_found(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text('def f():\n    """Whether it is so."""\n\n\nX = 1\n"""What a name is."""\n')
    assert [text.lineno for text in texts(path)] == [6, 2]
