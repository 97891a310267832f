"""Tables of the parser read a text as the grammar does; those of another grammar are not used."""

from __future__ import annotations

from pathlib import Path

import pytest
from lark import Lark, Tree, UnexpectedToken

from lftj.syntax import parse_tables
from lftj.syntax.parser import WORDS

TEXT = """
.decl edge(x: number, y: number)
reach(x, z) :- reach(x, y), edge(y, z), x < z + 1, !edge(_, "a"). // a path
total(x, n) :- n = sum y : { edge(x, y) }.
spread(any, d) :- edge(any, _), any - 1 > 0, any band 1 = 0, d = stddev y : { edge(any, y) }.
safe(x, if(x != 0, 1 / x, 0)) :- edge(x, _), if((x > 0, x < 9), 1, 2) = 1.
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the grammar alone, where the module looks for grammar and tables."""
    (tmp_path / "grammar.lark").write_text(parse_tables.grammar(), encoding="utf-8")
    monkeypatch.setattr(parse_tables, "_FOLDER", tmp_path)
    return tmp_path


def _made_from_the_grammar(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Parsers that are made from the grammar from now on."""
    made: list[object] = []
    begin = Lark.__init__

    def counted(self: Lark, *arguments: object, **options: object) -> None:
        made.append(self)
        begin(self, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Lark, "__init__", counted)
    return made


def test_tables_read_what_the_grammar_reads(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    by_grammar = parse_tables.parser(WORDS)
    (folder / "parse_tables.json").write_text(parse_tables.tables(), encoding="utf-8")
    made = _made_from_the_grammar(monkeypatch)
    by_tables = parse_tables.parser(WORDS)
    assert not made
    tree = by_tables.parse(TEXT)
    assert isinstance(tree, Tree)
    assert tree == by_grammar.parse(TEXT)
    problems = []
    for each in (by_grammar, by_tables):
        with pytest.raises(UnexpectedToken) as raised:
            each.parse(TEXT.replace("edge(y, z)", "edge(y z)"))
        problems.append((raised.value.token, raised.value.expected, raised.value.line))
    assert problems[0] == problems[1]


@pytest.mark.parametrize("content", [None, "", "[", '["", {}, {}]'])
def test_tables_that_do_not_fit_are_not_used(
    folder: Path, content: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if content is None:  # of an older grammar
        content = parse_tables.tables()
        with open(folder / "grammar.lark", "a", encoding="utf-8") as grammar:
            grammar.write("\n// edited\n")
    (folder / "parse_tables.json").write_text(content, encoding="utf-8")
    made = _made_from_the_grammar(monkeypatch)
    assert parse_tables.parser(WORDS).parse(TEXT)
    assert len(made) == 1
