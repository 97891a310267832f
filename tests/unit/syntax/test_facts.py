"""The short way for plain facts gives what the general parser gives, places included."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lftj.syntax import parser, tree
from lftj.syntax.depth import children
from lftj.syntax.parser import parse, segments
from lftj.syntax.printer import print_program
from lftj.syntax.source import Source
from tests.strategies.programs_text import programs


def places(node: tree.Node) -> list[object]:
    """The places of a node and of all nodes below it."""
    return [node.span, *(place for child in children(node) for place in places(child))]


def parse_all_the_long_way(text: str) -> tree.ParsedProgram:
    """Parse `text` with the general parser alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parser, "segments", lambda source: [(0, len(source.text), None)])
        return parse(text)


def check_both_ways(text: str) -> None:
    """Both ways give the same program with the same places."""
    short, long = parse(text), parse_all_the_long_way(text)
    assert short == long
    assert [places(clause) for clause in short.clauses] == [
        places(clause) for clause in long.clauses
    ]


@pytest.mark.parametrize(
    "fact",
    [
        'a(1,-2 , "x y").',
        "b(0.5).",
        'c("//", "/*").',
        "\ta( 1 ) . ",
        'count("é").',
        'd("\x0b", 1).',
        "e(1.5e3, 0x1).",
        'f("\\n").',
        "a(-0.0).",
    ],
)
def test_both_ways_agree_on_facts(fact: str):
    check_both_ways(f"// first\n {fact}{fact}\n\n {fact}")


@given(programs)
def test_both_ways_agree_on_programs(program: tree.ParsedProgram):
    check_both_ways(print_program(program))


def test_places_of_plain_facts():
    (fact,) = parse('\n  edge(10, "b").', file="f.dl").clauses
    assert isinstance(fact, tree.Rule)
    shown = [
        (node.span.line, node.span.column, node.span.end_column)
        for node in (fact, *fact.heads, *fact.heads[0].args)
        if node.span
    ]
    assert shown == [(2, 3, 17), (2, 3, 16), (2, 8, 10), (2, 12, 15)]


@given(
    st.lists(
        st.sampled_from(
            [
                "a(1).",
                'b("x", 2.5).',
                "c(x) :- a(x).",
                ".decl a(x: number)\n",
                "// a(1).\n",
                "/* a(2). */",
                " ",
                "\n",
            ]
        )
    )
)
def test_segments_cover_the_text(pieces: list[str]):
    text = "".join(pieces)
    ends = [0]
    for start, end, _ in segments(Source(text)):
        assert start == ends[-1]
        ends.append(end)
    assert ends[-1] == len(text)


@given(programs)
def test_segments_end_where_clauses_end(program: tree.ParsedProgram):
    text = print_program(program)
    clauses = [
        clause
        for start, end, _ in segments(Source(text))
        for clause in parse(text[start:end]).clauses
    ]
    assert clauses == list(program.clauses)


def test_facts_inside_comments_and_bodies_are_none():
    assert len(parse("/*\na(1).\n*/").clauses) == 0
    (rule,) = parse("r(x) :- b(x),\na(1).").clauses
    assert isinstance(rule, tree.Rule)
    assert len(rule.body.literals) == 2


def test_plain_facts_take_the_short_way():
    text = "a(1).\n" * 50 + "b(x) :- a(x).\n" + 'c("x").\n' * 50
    assert [
        (len(facts) if facts is not None else None) for _, _, facts in segments(Source(text))
    ] == [50, None, 50, None]
