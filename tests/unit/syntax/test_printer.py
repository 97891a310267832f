"""The printer: what it writes parses back to the same tree, and looks as a person would
write it.
"""

from __future__ import annotations

from hypothesis import given

from lftj.syntax import tree
from lftj.syntax.parser import parse
from lftj.syntax.printer import print_program
from tests.strategies.programs_text import programs


@given(programs)
def test_printed_programs_parse_back(program: tree.ParsedProgram):
    printed = print_program(program)
    assert parse(printed) == program, printed


@given(programs)
def test_printing_is_settled_after_one_round(program: tree.ParsedProgram):
    printed = print_program(program)
    assert print_program(parse(printed)) == printed


def test_the_type_behind_as_is_printed_as_a_name():
    assert print_program(parse("p(as(x + 1, Id)) :- q(x).")).strip() == "p(as(x + 1, Id)) :- q(x)."
