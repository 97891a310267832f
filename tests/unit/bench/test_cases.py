from __future__ import annotations

from pathlib import Path

import pytest

from bench.cases import CASES, Case
from bench.engine import PROGRAMS, program
from lftj.syntax.parser import parse
from lftj.syntax.tree import Declaration

DATA = Path(__file__).resolve().parents[2] / "data"


def test_names_are_unique() -> None:
    assert len({case.name for case in CASES}) == len(CASES)


def test_every_program_is_used_and_every_used_program_is_there() -> None:
    others = {"points_to", "owl2rl"}  # of `bench.deletions` and `bench.study`
    used = {case.program for case in CASES} | others
    assert used == {path.stem for path in PROGRAMS.glob("*.dl")}


@pytest.mark.parametrize("name", sorted({case.program for case in CASES}))
def test_every_program_parses(name: str) -> None:
    parsed = parse(program(name))
    assert parsed.clauses


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.name in ("cspa_1k", "csda_10k", "polonius_add_defaults")],
    ids=lambda case: case.name,
)
def test_tables_have_the_columns_that_the_program_declares(case: Case) -> None:
    clauses = parse(program(case.program)).clauses
    declared = {
        clause.name: [column.name for column in clause.columns]
        for clause in clauses
        if isinstance(clause, Declaration)
    }
    for name, table in case.tables(DATA).items():
        assert table.column_names == declared[name]
    assert set(case.expected) <= set(declared)
