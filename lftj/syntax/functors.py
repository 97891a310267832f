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

NAME = re.compile(r"[^\W\d][\w?]*|\?[\w?]*")
"""Names of variables, relations and columns, as in the grammar."""

PRECEDENCE: dict[str, int] = {
    "lor": 1,
    "lxor": 2,
    "land": 3,
    "bor": 4,
    "bxor": 5,
    "band": 6,
    "bshl": 7,
    "bshr": 7,
    "bshru": 7,
    "+": 8,
    "-": 8,
    "*": 9,
    "/": 9,
    "%": 9,
    "neg": 10,
    "bnot": 10,
    "lnot": 10,
    "^": 11,
}
"""Precedence of each operator, as in Soufflé: `-x ^ 2` is `-(x ^ 2)`."""

PREFIX = frozenset({"neg", "bnot", "lnot"})
INFIX = frozenset(PRECEDENCE) - PREFIX
RIGHT_ASSOCIATIVE = frozenset({"^"})

FUNCTORS: dict[str, tuple[int, int | None]] = {
    "cat": (1, None),
    "strlen": (1, 1),
    "substr": (3, 3),
    "to_string": (1, 1),
    "to_number": (1, 1),
    "to_unsigned": (1, 1),
    "to_float": (1, 1),
    "to_date": (1, 1),
    "year": (1, 1),
    "month": (1, 1),
    "day": (1, 1),
    "round": (2, 2),
    "min": (2, None),
    "max": (2, None),
    "range": (2, 3),
}
"""Functors that are written `name(arguments)`: the least and the greatest number of arguments
(None: any number).
"""

WORD_FUNCTORS: dict[str, int] = {
    name: 1 if name in PREFIX else 2 for name in PRECEDENCE if name.isalpha() and name != "neg"
}
"""Operators that are words may be called too: `band(x, y)` is `x band y`."""

USAGE: dict[str, str] = {
    "cat": "write cat(a, b, …)",
    "strlen": "write strlen(text)",
    "substr": "write substr(text, first, length); the first character has number 0",
    "to_string": "write to_string(value)",
    "to_number": "write to_number(text)",
    "to_unsigned": "write to_unsigned(text)",
    "to_float": "write to_float(value)",
    "to_date": "write to_date(timestamp)",
    "year": "write year(date)",
    "month": "write month(date)",
    "day": "write day(date), for the day of the month",
    "round": "write round(decimal, places), with a number for the places",
    "min": "write min(a, b, …)",
    "max": "write max(a, b, …)",
    "range": "write x = range(from, to) or x = range(from, to, step)",
    "ord": "write ord(number)",
    "contains": "write contains(part, text)",
    "match": "write match(pattern, text)",
    **{
        name: f"write {name} x" if name in PREFIX else f"write x {name} y" for name in WORD_FUNCTORS
    },
}
"""Spelling of each functor, for hints."""

SYNONYMS: dict[str, str] = {
    "itof": "to_float",
    "utof": "to_float",
    "ftoi": "to_number",
    "ftou": "to_unsigned",
    "itou": "to_unsigned",
    "utoi": "to_number",
}
"""Soufflé's other names for conversions."""

LIKE = (
    "patterns are those of regular expressions, for the whole string, with .* for % and . for "
    '_: match("PROMO.*", s)'
)
_DAYS = "days are added to a date as a whole number: d + 7"
OF_SQL: dict[str, str] = {
    "abs": "write max(x, -x)",
    "dateadd": _DAYS,
    "date_add": _DAYS,
    "days": _DAYS,
    "avg": "the mean is mean(x) in a head, and mean x : { … } in a body",
    "date_part": "write year(date), month(date) or day(date)",
    "extract": "write year(date), month(date) or day(date)",
    "len": USAGE["strlen"],
    "length": USAGE["strlen"],
    "like": LIKE,
    "strlength": USAGE["strlen"],
    "substring": USAGE["substr"],
}
"""Functions of SQL that have another name here, with what to write instead."""

PREDICATES = frozenset({"contains", "match"})
"""Conditions that are written like atoms, with two arguments."""

BODY_AGGREGATES = frozenset({"count", "sum", "min", "max", "mean"})
HEAD_AGGREGATES = BODY_AGGREGATES | {"concat"}

TYPED_CONSTANTS = frozenset({"date", "timestamp", "decimal"})
"""Constants that are written as a call on a string: `date("2013-01-31")`."""

RESERVED_VARIABLES = BODY_AGGREGATES | frozenset(WORD_FUNCTORS) | {"true", "false", "nil", "_"}
"""Names that no variable may have, because the text could not be read back."""

RESERVED_RELATIONS = frozenset(WORD_FUNCTORS) | PREDICATES | {"true", "false", "nil", "choice", "_"}
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
        return f"a condition of its own: {USAGE[name]}"
    if instead := OF_SQL.get(name.casefold()):
        return instead
    near = closest(name, known)
    if near is None or name.casefold() == f"{near}s":  # `months(2)` is no month
        return otherwise
    return f"did you mean {quote}{near}{quote}?"
