"""The programs in examples/choice, through the engine and the reference, and beside what says the
same without choice.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import lftj
from lftj.syntax import tree
from lftj.syntax.parser import parse
from tests.docs.blocks import ROOT
from tests.reference import evaluate

FOLDER = ROOT / "examples" / "choice"
PROGRAMS = sorted(FOLDER.glob("*.dl"))
EXPECTED = {
    "bipartite_matching": {("a", "p"), ("c", "q")},
    "eligible_advisors": {("Jim", "Bell"), ("Ann", "Bell"), ("Lee", "Volta")},
    "highest_mark": {("logic", "Ann", 9), ("music", "Lee", 5)},
    "more_dogs_than_cats": {()},
    "spanning_forest": {
        ("a", ""),
        ("b", "a"),
        ("c", "a"),
        ("d", "b"),
        ("e", "d"),
        ("f", ""),
        ("g", "f"),
        ("h", "g"),
    },
    "total_order": {("", "apple"), ("apple", "fig"), ("fig", "pear"), ("pear", "plum")},
}


def output(program: Path) -> set[tuple[object, ...]]:
    """The rows of the program's output, which the reference derives as well."""
    parsed = parse(program.read_text(encoding="utf-8"))
    (name,) = (clause.relation for clause in parsed.clauses if isinstance(clause, tree.Directive))
    workspace = lftj.connect()
    workspace.add_rules(parsed)
    rows = set(workspace[name].fetchall())
    assert rows == evaluate(parsed, {})[name]
    assert workspace.verify() == []
    return rows


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_what_is_chosen(program: Path):
    assert output(program) == EXPECTED[program.stem]


@pytest.mark.parametrize(
    "program", sorted((FOLDER / "without").glob("*.dl")), ids=lambda path: path.stem
)
def test_the_same_without_choice(program: Path):
    assert "choice-domain" not in program.read_text(encoding="utf-8")
    assert output(program) == EXPECTED[program.stem]


def test_every_program_is_there():
    assert {path.stem for path in PROGRAMS} == EXPECTED.keys()
