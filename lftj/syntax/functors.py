# SPDX-License-Identifier: Apache-2.0
"""The words of the language: operators with their precedence, functors with their arity, reserved
names, and what is refused.

Parser, printer and Python expressions all read these tables, so that none of them can disagree with
another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from lftj.errors.nearest import closest
from lftj.functions import FUNCTIONS
from lftj.functions.aggregates import AGGREGATES, IN_BRACES

NAME = re.compile(r"[^\W\d][\w?]*|\?[\w?]*")
"""Names of variables, relations and columns, as in the grammar."""

PRECEDENCE: dict[str, int] = {
    each.name: each.precedence for each in FUNCTIONS.values() if each.precedence is not None
}
"""Precedence of each operator, as in Soufflé: `-x ^ 2` is `-(x ^ 2)`."""

PREFIX = frozenset(each.name for each in FUNCTIONS.values() if each.prefix)
INFIX = frozenset(PRECEDENCE) - PREFIX
RIGHT_ASSOCIATIVE = frozenset({"^"})

FUNCTORS: dict[str, tuple[int, int | None]] = {
    each.name: each.arity
    for each in FUNCTIONS.values()
    if each.precedence is None and each.reserved and each.of_values and not each.condition
}
"""Functors that are written `name(arguments)`: the least and the greatest number of arguments
(None: any number).
"""

WORD_FUNCTORS: dict[str, int] = {
    each.name: len(each.arguments) for each in FUNCTIONS.values() if each.word
}
"""Operators that are words may be called too: `band(x, y)` is `x band y`."""

USAGE: dict[str, str] = {each.name: each.usage for each in FUNCTIONS.values() if each.usage}
"""Spelling of each functor, for hints."""

SYNONYMS: dict[str, str] = {
    synonym: each.name for each in FUNCTIONS.values() for synonym in each.synonyms
}
"""Soufflé's other names for conversions."""

LIKE = (
    "patterns are those of regular expressions, for the whole string, with .* for % and . for "
    '_: match("PROMO.*", s)'
)
WORDS_OF_PATTERNS = ("like", "ilike", "rlike", "glob", "similar_to", "regexp_matches")
_DAYS = "dates and timestamps are moved by days: d + days(7)"
_RANK = "count the rows before: 1 + count : { r(g, u), u > x } next to r(g, x)"
_RUNNING = "add up the rows before: sum y : { r(u, y), u <= t } next to r(t, _)"
LIMIT = "ask how many rows are before: count : { r(g, u), u > x } < 10 next to r(g, x)"
_WINDOWS: dict[str, str] = {
    "rank": _RANK,
    "row_number": f"{_RANK}; and of ties: + count : {{ r(g, v, x), v < y }}",
    "dense_rank": "count the different values before: 1 + count : { values(g, u), u > x } with "
    "values(g, x) :- r(g, x, _)",
    **dict.fromkeys(("running_sum", "cumsum", "cum_sum"), _RUNNING),
    "lag": "take the last row before: last(y, u) : { r(u, y), u < t } next to r(t, _)",
    "lead": "take the first row behind: first(y, u) : { r(u, y), u > t } next to r(t, _)",
    **dict.fromkeys(("top", "top_k", "topk", "top_n", "nlargest"), LIMIT),
}
OF_SQL: dict[str, str] = {
    **_WINDOWS,
    "dateadd": _DAYS,
    "date_add": _DAYS,
    "date_part": "write year(date), month(date) or day(date)",
    "extract": "write year(date), month(date) or day(date)",
    **dict.fromkeys(WORDS_OF_PATTERNS, LIKE),
    **dict.fromkeys(("case", "case_when", "iif", "iff"), "write if(condition, value, otherwise)"),
    "nullif": "a left join gives NULL where a condition does not hold: (z = x, x != y)?",
    **dict.fromkeys(
        ("now", "today", "current_date", "current_timestamp", "getdate", "sysdate"),
        "a view has no clock: the time is a row of a relation, now(t), that you move (the "
        "page on order, windows over a clock)",
    ),
    **{name: each.usage for each in FUNCTIONS.values() for name in each.of_sql},
    **{
        name: f"the {each.name} is {each.form} in a head, and {each.in_braces} in a body"
        for each in IN_BRACES.values()
        for name in each.of_sql
    },
}
"""Functions of SQL that have another name here, with what to write instead."""

PREDICATES = frozenset(each.name for each in FUNCTIONS.values() if each.condition)
"""Conditions that are written like atoms, with two arguments or one: then both sides of the
comparison in the tree are the same.
"""

OF_ONE = frozenset(name for name in PREDICATES if len(FUNCTIONS[name].arguments) == 1)
"""Conditions with one argument."""

BODY_AGGREGATES = frozenset(IN_BRACES)
KEYED_AGGREGATES = frozenset(
    name for name, each in IN_BRACES.items() if each.arguments and not each.takes(1)
)
"""Aggregates that take further arguments besides what they aggregate."""
HEAD_AGGREGATES = frozenset(AGGREGATES)

TYPED_CONSTANTS = frozenset({"date", "timestamp", "decimal"})
"""Constants that are written as a call on a string: `date("2013-01-31")`."""

AGGREGATE_WORDS = frozenset(name for name, each in AGGREGATES.items() if each.word)
"""Aggregates of bodies whose names mean nothing else where a term may stand."""

WORDS_OF_NULL = frozenset({"NULL", "Null", "null", "None", "NaN", "nan"})
"""Names of a value that is missing in other languages, which no variable may have."""
WORDS_OF_TRUTH = frozenset({"True", "TRUE", "False", "FALSE"})
"""Names that truth values have in other languages; here they are `true` and `false`."""
RESERVED_VARIABLES = (
    (AGGREGATE_WORDS | frozenset(WORD_FUNCTORS) | {"true", "false", "nil", "_"})
    | WORDS_OF_NULL
    | WORDS_OF_TRUTH
)
"""Names that no variable may have, because the text could not be read back."""

RESERVED_RELATIONS = (
    frozenset(WORD_FUNCTORS) | PREDICATES | {"true", "false", "nil", "choice", "if", "_"}
)
"""Names that no relation may have, for the same reason."""

STRUCTURES = frozenset({"brie", "btree", "btree_delete"})
"""Qualifiers that name how Soufflé stores a relation: a relation has one at most."""

QUALIFIERS = STRUCTURES | {"inline", "no_inline", "magic", "no_magic"}
DIRECTIVE_QUALIFIERS = frozenset({"input", "output", "printsize"})

_ONLY_TIME = dict.fromkeys((
    "RamSIPS", "auto-schedule", "compile", "disable-transformers", "engine", "generate",
    "inline", "inline-exclude", "jobs", "magic-transform",
    "magic-transform-exclude",
), "it changes the time that Soufflé takes and no rows")  # fmt: skip
_ONLY_REPORTED = dict.fromkeys((
    "debug-report", "dl-program", "emit-statistics", "include-dir", "index-stats", "legacy",
    "libraries", "library-dir", "live-profile",
    "macro", "no-preprocessor", "no-warn", "parse-errors", "preprocessor", "profile",
    "profile-frequency", "show", "suppress-warnings",
    "swig", "verbose", "version", "warn", "wno",
), "it has no effect here")  # fmt: skip
PRAGMAS: dict[str, str] = {
    **_ONLY_TIME,
    **_ONLY_REPORTED,
    "provenance": "proofs are not shown here",
    "fact-dir": "name the folder with -F",
    "output-dir": "name the folder with -D",
}
"""Options that a program may set with `.pragma`: they are read and have no effect here, for this
reason.
"""

# ── recognised, but refused ───────────────────────────────────────────────────────────────────────
UNSUPPORTED_FUNCTORS: dict[str, str] = {
    "autoinc": "number the rows before loading them, or use a key that the data has",
}
"""Functors of Soufflé that are not supported, with what to write instead."""

UNSUPPORTED_QUALIFIERS: dict[str, tuple[str, str]] = {
    "eqrel": (
        "equivalence relations (`eqrel`) are",
        "write the rules of an equivalence: eq(x, y) :- eq(y, x). eq(x, z) :- eq(x, y), eq(y, z).",
    ),
    "overridable": ("components (`overridable`) are", "leave the word out"),
    "btree_min": (
        "least values by a qualifier (`btree_min`) are",
        "write min(…) in the last column of every rule head",
    ),
    "btree_max": (
        "greatest values by a qualifier (`btree_max`) are",
        "write max(…) in the last column of every rule head",
    ),
    "btree_sum": (
        "sums by a qualifier (`btree_sum`) are",
        "write sum(…) in the last column of one rule that reads this relation",
    ),
}
"""Qualifiers of Soufflé that are not supported: what they are, and what to write instead."""

UNSUPPORTED_DIRECTIVES: dict[str, tuple[str, str]] = {
    "comp": (
        "components (`.comp`) are",
        "write the relations and rules of the component directly, once per instance",
    ),
    "init": (
        "component instances (`.init`) are",
        "write the relations and rules of the component directly",
    ),
    "override": (
        "overriding rules of a component (`.override`) is",
        "write the rules that you want directly",
    ),
    "functor": (
        "functors from C++ libraries (`.functor`) are",
        "compute the value in Python before loading, or use the built-in functors",
    ),
    "lattice": ("lattices (`.lattice`) are", "use min(…) or max(…) in a rule head"),
    "include": (
        "`.include` within rules is",
        "lftj run and lftj check include files, on lines of their own; else give both files' text "
        "to add_rules()",
    ),
    "once": (
        "`.once` within rules is",
        "lftj run and lftj check read it, on a line of its own; leave it out elsewhere",
    ),
    "debug_delta": ("`.debug_delta` is", "subscribe to the relation to see its changes"),
}
"""Directives of Soufflé that are not supported: what they are, and what to write instead."""

DOTTED = re.compile(r"(?:\.[^\W\d][\w?]*)+")
"""Pattern of the rest of `graph.edge` behind its first name."""

Dotted = Literal["relation", "type", "term"]
"""Kinds of what a name with a dot stands for, by its place."""


def of_dotted(name: str, kind: Dotted) -> tuple[str, str, str]:
    """Message, hint and code for `graph.edge`: of a component, or of a row in other languages."""
    plain = name.replace(".", "_")
    if kind == "relation":
        hint = f"call the relation {plain}, and write its rules directly"
        return f"relations of components (`{name}`) are not supported", hint, "E101"
    if kind == "type":
        hint = f"define the type directly, .type {plain} <: number, and write {plain}"
        return f"types of components (`{name}`) are not supported", hint, "E101"
    hint = "the columns of a row are variables, each in its place of the atom: r(x, y)"
    return f"`{name}` is not a term: no name has a dot", hint, "E100"


def is_functor(name: str) -> bool:
    """True for a function that is written `name(arguments)`."""
    return name in FUNCTORS or name in WORD_FUNCTORS


def wrong_arity(name: str, found: int) -> str | None:
    """Describe a wrong number of arguments `found` for the functor `name`; None where it is
    right.
    """
    least, greatest = FUNCTORS.get(name) or (WORD_FUNCTORS[name],) * 2
    if found >= least and (greatest is None or found <= greatest):
        return None
    number = (
        str(least)
        if greatest == least
        else f"at least {least}"
        if greatest is None
        else f"{least} to {greatest}"
    )
    expected = f"{number} argument{'s' if number != '1' else ''}"
    return f"{name} takes {expected}, found {found}"


def unknown_hint(name: str, known: Iterable[str], otherwise: str, quote: str = "`") -> str:
    """Suggest a replacement for an unknown function: the functor for SQL's name, the nearest of the
    `known` names, or `otherwise`.
    """
    if name in PREDICATES:
        return f"a condition of its own: {USAGE[name]}; as a value: if({name}(…), true, false)"
    if instead := OF_SQL.get(name.casefold()):
        return instead
    near = closest(name, known)
    if near is None or name.casefold() == f"{near}s":  # `months(2)` is no month
        return otherwise
    return f"did you mean {quote}{near}{quote}?"
