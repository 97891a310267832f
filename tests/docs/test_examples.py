"""The examples in README and docs run and print what they say."""

from __future__ import annotations

import runpy
import shlex
from pathlib import Path

import pytest

from lftj.cli import main
from tests.docs.blocks import PAGES, ROOT, Block, blocks, commands, run_python

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def _ids(pages: list[Path]) -> list[str]:
    return [str(page.relative_to(ROOT)) for page in pages]


@pytest.fixture
def on_spark(request: pytest.FixtureRequest) -> None:
    """Start the session of all tests before an example that starts a Spark session: the tests of
    faults count its attempts.
    """
    if any(
        "local_spark" in path.read_text(encoding="utf-8")
        for path in request.node.callspec.params.values()
    ):
        request.getfixturevalue("spark")


@pytest.mark.parametrize("page", PAGES, ids=_ids(PAGES))
def test_page(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    on_spark: None,
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__page__"}
    for block in blocks(page):
        if block.title:
            (tmp_path / block.title).write_text(block.text, encoding="utf-8")
        elif block.kind == "python":
            capsys.readouterr()
            run_python(block, namespace, page)
        elif block.kind == "text" and block.printed:
            assert capsys.readouterr().out.rstrip() == block.text.rstrip(), (
                f"{page.name}:{block.line}"
            )
        elif block.kind == "datalog":
            (tmp_path / "block.dl").write_text(block.text, encoding="utf-8")
            assert main(["check", "block.dl"]) == 0, (
                f"{page.name}:{block.line}: {capsys.readouterr().err}"
            )
        elif block.kind == "console":
            _run_console(block, page, capsys)


def _run_console(block: Block, page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command, printed in commands(block):
        words = shlex.split(command)
        if words[0] != "lftj":
            continue
        capsys.readouterr()
        main(words[1:])
        out, err = capsys.readouterr()
        assert (out + err).rstrip() == printed.rstrip(), f"{page.name}:{block.line}: {command}"


def test_every_page_can_be_found_from_the_index() -> None:
    docs = ROOT / "docs"
    for index in (docs / "index.md", docs / "decisions" / "index.md"):
        text = index.read_text(encoding="utf-8")
        assert [
            page.name
            for page in sorted(index.parent.glob("*.md"))
            if page != index and f"({page.name})" not in text
        ] == []


def test_the_readme_shows_all_kinds() -> None:
    kinds = {block.kind for block in blocks(ROOT / "README.md")}
    assert {"python", "datalog", "console"} <= kinds


@pytest.mark.parametrize("example", EXAMPLES, ids=_ids(EXAMPLES))
def test_example_programs(
    example: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    on_spark: None,
) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out.strip()
