"""Whatever is public is documented: names, error codes, commands and their options."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import lftj
from lftj.cli import main
from tests.docs.blocks import PAGES, ROOT

CODE = re.compile(r"\bE[1-9]\d\d\b")
API = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(lftj.__all__))
def test_public_name_has_a_docstring_and_an_entry(name: str) -> None:
    value = getattr(lftj, name)
    assert re.search(rf"`(lftj\.)?{re.escape(name)}[`(\[]", API), (
        f"docs/api.md says nothing about {name}"
    )
    if inspect.isclass(value) or inspect.isfunction(value):
        assert inspect.getdoc(value), f"{name} has no docstring"


def _members(class_: type) -> dict[str, object]:
    """Members of a class, its own and those from our other classes."""
    ours = [each for each in reversed(class_.__mro__) if each.__module__.startswith("lftj.")]
    return {name: value for each in ours for name, value in vars(each).items()}


def _public_methods() -> list[tuple[str, str]]:
    classes = [name for name in lftj.__all__ if inspect.isclass(getattr(lftj, name))]
    return [
        (name, method)
        for name in classes
        if not issubclass(getattr(lftj, name), BaseException)
        for method, value in _members(getattr(lftj, name)).items()
        if not method.startswith("_") and (inspect.isfunction(value) or isinstance(value, property))
    ]


@pytest.mark.parametrize(("name", "method"), _public_methods())
def test_public_method_has_a_docstring(name: str, method: str) -> None:
    assert inspect.getdoc(getattr(getattr(lftj, name), method)), f"{name}.{method} has no docstring"


@pytest.mark.parametrize(
    "name",
    [
        "Workspace",
        "Transaction",
        "Snapshot",
        "Result",
    ],
)
def test_methods_of_the_main_classes_have_an_entry(name: str) -> None:
    entry = re.split(rf"^- `{name}`", API, flags=re.MULTILINE)[1].partition("\n- ")[0]
    assert not [
        method
        for owner, method in _public_methods()
        if owner == name and f"`{method}`" not in entry
    ]


def _codes_in(*paths: Path) -> set[str]:
    return {code for path in paths for code in CODE.findall(path.read_text(encoding="utf-8"))}


def test_every_error_code_is_documented_and_no_other() -> None:
    used = _codes_in(
        *(
            path
            for package in ("lftj", "scantree", "sensitivity", "partition")
            for path in (ROOT / package).rglob("*.py")
        )
    )
    assert _codes_in(ROOT / "docs" / "errors.md") == used | {"E000", "E001"} & _codes_in(
        ROOT / "docs" / "errors.md"
    )


def test_every_error_code_has_a_remedy() -> None:
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    entries = re.split(r"^- (?=\*\*E\d+)", page, flags=re.MULTILINE)[1:]
    assert len(entries) > 60
    entry = re.compile(r"\*\*E\d+\*\* `\w+`(, `\w+`)*: .{5,}? \*Remedy\*:\s.{10,}", re.DOTALL)
    assert [each for each in entries if not entry.match(each)] == []


def test_every_error_class_is_public_and_documented() -> None:
    from lftj import errors

    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    classes = [
        value
        for value in vars(errors).values()
        if inspect.isclass(value) and issubclass(value, errors.LftjError)
    ]
    assert len(classes) > 10
    for value in classes:
        assert getattr(lftj, value.__name__) is value
        assert f"`{value.__name__}`" in page


@pytest.mark.parametrize("command", ["run", "check", "demo", "query", "why", "log", "diff"])
def test_every_option_is_documented(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert main([command, "--help"]) == 0
    printed = capsys.readouterr().out
    assert "--help" in printed
    options = set(re.findall(r"--[a-z-]+", printed)) - {"--help"}
    assert not [option for option in options if f"`{option}" not in page]


def test_every_command_of_the_shell_is_documented() -> None:
    from lftj.cli.shell import COMMANDS

    page = " ".join((ROOT / "docs" / "shell.md").read_text(encoding="utf-8").split())
    assert not [
        name
        for name, command in COMMANDS.items()
        if f"- `{f'{name} {command.form}'.rstrip()}`: {command.summary}" not in page
    ]


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_files_and_folders_that_pages_name_are_there() -> None:
    own = re.compile(
        r"`((?:lftj|scantree|sensitivity|partition|bench|tests|examples|docs)/[\w./*-]+)`"
    )
    pages = (*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "bench" / "README.md")
    named = {
        (page.name, path)
        for page in pages
        for path in own.findall(page.read_text(encoding="utf-8"))
    }
    assert len(named) > 40
    assert not [
        (page, path) for page, path in sorted(named) if not any(ROOT.glob(path.rstrip("/")))
    ]


def test_the_site_can_show_every_block() -> None:
    for page in PAGES:
        fences = re.findall(r"^ *```(.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert not [
            fence for fence in fences if not re.fullmatch(r'(\w+( title="[^"]+")?)?', fence)
        ], page.name


def test_the_site_can_be_read_and_has_every_page() -> None:
    yaml = pytest.importorskip("yaml")
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    yaml.compose(text)
    nav = text[text.index("nav:") :]
    assert not [page.name for page in (ROOT / "docs").glob("*.md") if f": {page.name}\n" not in nav]


def test_every_decision_is_listed() -> None:
    folder = ROOT / "docs" / "decisions"
    index = (folder / "index.md").read_text(encoding="utf-8")
    pages = [path.name for path in sorted(folder.glob("[0-9]*.md"))]
    assert pages
    assert not [page for page in pages if f"]({page})" not in index]
