# SPDX-License-Identifier: Apache-2.0
"""Hints for constructs of other languages and for common slips."""

from __future__ import annotations

import re

from lark import Token

from lftj.functions.aggregates import IN_BRACES
from lftj.syntax.functors import LIKE, LIMIT

_RULE = "a rule is written head :- body."
_NOT_EQUAL = "inequality is written `!=`"
_AS_IT_IS = "a condition stands as it is, and a new variable needs no word: z = x + 1, z > y"
_INSTEAD: tuple[tuple[str, str], ...] = (
    (r"==", "equality is written with one `=`"),
    (r"<>|=?\\=", _NOT_EQUAL),
    (r"=<", "less or equal is written `<=`"),
    (r"<-|←|:=|->", _RULE),
    (r"&&?", "`and` is a comma: a(x), b(x)"),
    (r"\|\|?", "`or` is a semicolon: a(x) ; b(x)"),
    (r"~|¬", "`not` is an exclamation mark: !b(x)"),
    (r"['`´‘’“”„«»]", 'strings are written in double quotes: "text"'),
    (
        r"[\u200b-\u200f\u2060\ufeff\u00ad]",
        "there is an invisible character here, as text from a web page has: delete it",
    ),
    (r"(?<![\w)])\.(?=\d)", "write a digit before the point: 0.5"),
    (r"(?<=\d)\.(?=\s*[,)])", "write a digit behind the point: 1.0"),
    (
        r"\?-",
        "queries are asked in Python, with ws.query(…) and without `?-`; a rule gives the result a "
        "name",
    ),
    (r"\+\+", "strings are put together with `+`, or with cat(a, b, …)"),
    (r"\*\*", "powers are written with `^`"),
    (r"<<|>>", "bits are shifted with bshl, bshr and bshru: x bshl 2"),
    (
        r"\.\.(?=\s*\w)",
        "numbers in a row are x = range(from, to) in the body of a rule; `to` is not among them",
    ),
    (
        r"\.\w+\s*=(?!=)",
        "arguments go by place, not by name: write `_` for those that may be anything",
    ),
    (r"%", "comments start with //"),
)
_SQL = (
    "this reads like SQL: rows are asked for by atoms and conditions, r(x, y), x > 1; a rule "
    "gives them a name, big(x) :- r(x, y), x > 1."
)
_SQL_WRITES = (
    "this reads like SQL: rows come and go in Python, ws.load(r, rows), tx.delete(r, rows); "
    ".decl r(x: number) declares a relation"
)
_WINDOW = (
    "a window is an aggregate next to a bound: t = sum b : { r(s, e, b), e <= d } next to "
    "r(s, d, _)"
)
_TERM = r'\w+\([^()]*\)|"[^"]*"|-?\d+\.\d+|-?\w+'
_PHRASES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), hint)
    for pattern, hint in (
        (
            rf"(?P<x>{_TERM})\s+between\s+(?P<a>{_TERM})\s+and\s+(?P<b>{_TERM})",
            "write both comparisons: {a} <= {x}, {x} <= {b}",
        ),
        (rf"(?P<x>{_TERM})\s+between\b", "write both comparisons: 1 <= {x}, {x} <= 5"),
        (rf"(?P<x>{_TERM})\s+is\s+not\s+(null|none)\b", "write !is_null({x})"),
        (rf"(?P<x>{_TERM})\s+is\s+(null|none)\b", "write is_null({x})"),
        (
            r"case\s+when\s+(?P<c>[^.;]+?)\s+then\s+(?P<a>[^.;]+?)\s+else\s+(?P<b>[^.;]+?)\s+end\b",
            "write if({c}, {a}, {b})",
        ),
        (
            r"case\b[^.;]*?\bwhen\b",
            "a value by condition is if(c, a, b), which is `b` where `c` does not hold",
        ),
    )
)
"""Conditions that SQL writes with several words, from the word before the one that does not fit."""
_WORDS_INSTEAD = {
    **dict.fromkeys(("select", "from", "with"), _SQL),
    **dict.fromkeys(
        ("insert", "into", "update", "delete", "create", "table", "drop", "alter"), _SQL_WRITES
    ),
    "and": "`and` is a comma: a(x), b(x)",
    "or": "`or` is a semicolon: a(x) ; b(x)",
    "not": "`not` is an exclamation mark: !b(x)",
    "is": "a variable is given its value with `=`: y = x + 1",
    "var": _AS_IT_IS,
    "let": _AS_IT_IS,
    "if": _AS_IT_IS,
    "where": _AS_IT_IS,
    "in": "each value is told by itself, (x = 1 ; x = 2), or all by x = range(1, 3)",
    **{
        name: f"the {each.name} is written {each.in_braces}"
        for each in IN_BRACES.values()
        for name in each.of_sql
    },
    "like": LIKE,
    **dict.fromkeys(("over", "partition"), _WINDOW),
    "limit": LIMIT,
    "distinct": "rows are distinct as they are; the different values of a column are counted by "
    "count_distinct(x)",
}


def remedy(text: str, offset: int, expected: str, previous: Token | None) -> str | None:
    """Find a hint for the text at `offset`, behind the token `previous`, where the mistake is a
    known one.
    """
    for pattern, hint in _PHRASES:
        if previous is not None and (phrase := pattern.match(text, previous.start_pos or 0)):
            return hint.format(**phrase.groupdict())
    word = re.compile(r"\w+").match(text, offset)
    for found in (str(previous), word.group() if word else ""):
        if found.lower() in _WORDS_INSTEAD:
            return _WORDS_INSTEAD[found.lower()]
    for start in (max(0, offset - 1), offset):
        for pattern, hint in _INSTEAD:
            match = re.compile(pattern).match(text, start)
            if match is not None and match.end() > offset:
                return hint
    if re.compile("[<>=]|!=").match(text, offset) and expected.startswith("`.`"):
        return "comparisons cannot be chained: write 1 < x, x < 5"
    return _lacking(text, offset, expected, previous) or _of_lines(
        text, offset, 0 if previous is None else previous.end_pos or 0
    )


def _lacking(text: str, offset: int, expected: str, previous: Token | None) -> str | None:
    """Find a hint for a clause that lacks a part."""
    found = ":-" if text.startswith(":-", offset) else text[offset : offset + 1]
    kind = "" if previous is None else previous.type
    bare = (kind == "NAME" and "`(`" in expected and "`)`" not in expected) or (
        expected == "a clause" and _is_first_word(text, previous)
    )
    if bare and found in (":-", ".", ",", ";", "}"):
        return "an atom has parentheses, also where it has no arguments: r()"
    if found == ":-" and expected == "a clause":
        return (
            "a rule has a head before `:-`; what must not be is told by the rows of a relation "
            "of its own"
        )
    if expected == "a clause" and found == "." and kind in ("RPAR", "COLON", "NAME"):
        return "a declaration ends without a dot"
    if expected.startswith("a condition") and found == ".":
        return (
            "a fact has no `:-`: p(1)."
            if kind == "IF"
            else "no comma or semicolon stands before the dot"
        )
    if expected.startswith("a condition") and not found and kind in ("COMMA", "SEMICOLON"):
        return "no comma or semicolon stands before the end"
    if expected == "`:`" and found in (",", ")"):
        aggregate = re.compile(rf"({'|'.join(IN_BRACES)})\s+\S+\Z").search(text[:offset])
        return (
            f"in a head the aggregate is written {aggregate[1]}(x)"
            if aggregate
            else "each column has a type: x: number"
        )
    if str(previous) == "choice-domain":
        return "name the columns: choice-domain x, or choice-domain (x, y)"
    if (
        found == "*"
        and kind == "LPAR"
        and re.search(r"\bcount\s*\(\s*\Z", text[:offset], re.IGNORECASE)
    ):
        return "count counts rows, and takes no argument"
    if found == ";" and expected.startswith("`,` or `)`"):
        if re.search(r"\.decl\b[^()]*\([^()]*\Z", text[:offset]):
            return "commas stand between columns: x: number, y: number"
        return "each of several values takes a fact or a rule of its own"
    return "a clause ends with a dot" if not found and expected.startswith("`.`") else None


def _is_first_word(text: str, token: Token | None) -> bool:
    """Test for a word at the beginning of its line. After a declaration it is read as a
    qualifier.
    """
    start = 0 if token is None else token.start_pos or 0
    return (
        token is not None
        and token.isidentifier()
        and not text[text.rfind("\n", 0, start) + 1 : start].strip()
    )


def _of_lines(text: str, offset: int, end: int) -> str | None:
    """Recognise a comment of another language, and a clause without a final dot; `end` is the
    offset behind the token before.
    """
    if text.startswith("--", text.rfind("\n", 0, end) + 1):
        return "comments start with //"
    return "the clause before may lack its final dot" if end and "\n" in text[end:offset] else None
