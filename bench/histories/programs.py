"""The rules of all programs, each a list, as some of them go and come."""

from __future__ import annotations

import re

from bench.engine import program
from bench.workloads.recursion import ODD_AND_EVEN, SHORTEST

BORROW_CHECK = """
.decl live(origin: number, point: number)
live(o, n) :- used(o, n).
live(o, n) :- live(o, m), cfg_edge(n, m), !defined(o, n).
.decl subset(sub: number, super: number, point: number)
subset(a, b, n) :- subset_base(a, b, n).
subset(a, c, n) :- subset(a, b, n), subset(b, c, n), a != c.
subset(a, b, m) :- subset(a, b, n), cfg_edge(n, m), live(a, m), live(b, m).
.decl carries(origin: number, loan: number, point: number)
carries(o, l, n) :- issued(o, l, n).
carries(b, l, n) :- carries(a, l, n), subset(a, b, n).
carries(o, l, m) :- carries(o, l, n), cfg_edge(n, m), !killed(l, n), live(o, m).
.decl errors(loan: number, point: number)
errors(l, n) :- invalidated(n, l), carries(o, l, n), live(o, n).
"""

DOOP = """
.decl reachable(method: number)
.decl calls(call: number, method: number)
.decl points(variable: number, object: number)
.decl holds(object: number, field: number, held: number)
reachable(m) :- entry(m).
reachable(m) :- calls(_, m).
points(v, o) :- reachable(m), alloc(v, o, m).
points(v, o) :- move(v, w), points(w, o).
points(v, h) :- fetch(v, b, f), points(b, o), holds(o, f, h).
points(v, o) :- calls(c, m), actual(c, k, a), formal(m, k, v), points(a, o).
points(v, o) :- calls(c, m), assigned(c, v), returned(m, r), points(r, o).
holds(o, f, h) :- store(b, f, v), points(b, o), points(v, h).
calls(c, m) :- dispatch(b, s, c, n), reachable(n), points(b, o), type(o, t), method(t, s, m).
"""

REACHING_DEFINITIONS = """
.decl in(point: number, definition: number)
.decl out(point: number, definition: number)
out(n, d) :- gen(n, d).
in(n, d) :- out(p, d), edge(p, n).
out(n, d) :- in(n, d), !kill(n, d).
"""

SAME_GENERATION = """
.decl same(x: number, y: number)
same(x, y) :- up(x, p), up(y, p).
same(x, y) :- up(x, a), same(a, b), up(y, b).
"""

NON_LINEAR = """
.decl path(x: number, y: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), path(y, z).
"""

DYCK = """
.decl balanced(x: number, y: number)
balanced(x, y) :- open(x, a, k), close(a, y, k).
balanced(x, y) :- open(x, a, k), balanced(a, b), close(b, y, k).
balanced(x, z) :- balanced(x, y), balanced(y, z).
"""

DOMINATORS = """
.decl reached(node: number)
reached(x) :- root(x).
reached(y) :- reached(x), edge(x, y).
.decl avoids(by: number, node: number)
avoids(d, x) :- root(x), reached(d), d != x.
avoids(d, y) :- avoids(d, x), edge(x, y), d != y.
.decl dominates(by: number, node: number)
dominates(d, x) :- reached(d), reached(x), !avoids(d, x).
"""

COMPONENTS = """
.decl label(node: number, least: number)
label(x, min(x)) :- edge(x, _).
label(x, min(x)) :- edge(_, x).
label(y, min(l)) :- label(x, l), edge(x, y).
label(x, min(l)) :- label(y, l), edge(x, y).
"""

RDFS = """
.decl below(narrow: number, wide: number)
below(c, d) :- sub_class(c, d).
below(c, e) :- below(c, d), below(d, e).
.decl within(narrow: number, wide: number)
within(p, q) :- sub_property(p, q).
within(p, r) :- within(p, q), within(q, r).
.decl holds(x: number, property: number, y: number)
holds(x, p, y) :- stated(x, p, y).
holds(x, q, y) :- holds(x, p, y), within(p, q).
.decl member(x: number, class: number)
member(x, c) :- typed(x, c).
member(x, c) :- holds(x, p, _), domain(p, c).
member(y, c) :- holds(_, p, y), range(p, c).
member(x, d) :- member(x, c), below(c, d).
"""

OWL = f"""{RDFS}
holds(y, q, x) :- holds(x, p, y), inverse(p, q).
holds(y, p, x) :- holds(x, p, y), symmetric(p).
holds(x, p, z) :- transitive(p), holds(x, p, y), holds(y, p, z).
holds(x, r, z) :- chain(p, q, r), holds(x, p, y), holds(y, q, z).
member(x, c) :- some(c, p, d), holds(x, p, y), member(y, d).
member(x, c) :- both(c, a, b), member(x, a), member(x, b).
member(x, a) :- both(c, a, _), member(x, c).
.decl same(x: number, y: number)
same(x, y) :- key(p), holds(x, p, v), holds(y, p, v), x != y.
same(x, z) :- same(x, y), same(y, z), x != z.
holds(z, p, y) :- same(x, z), holds(x, p, y).
member(z, c) :- same(x, z), member(x, c).
"""

_COMMENT = re.compile(r"//.*")
_DIRECTIVES = re.compile(r"^\.(input|output)\b.*$", re.MULTILINE)
_STATEMENT = re.compile(r"^(?!\.decl).+$", re.MULTILINE)
_HEAD = re.compile(r"^(\w+)\(")


def split(text: str) -> tuple[str, list[str]]:
    """The declarations of a program, and its rules, a line each."""
    text = _DIRECTIVES.sub("", _COMMENT.sub("", text))
    rules = [rule.strip() for rule in _STATEMENT.findall(text) if rule.strip()]
    return "\n".join(line for line in text.splitlines() if line.startswith(".decl")), rules


def columns(declarations: str, relation: str) -> list[str]:
    """The columns that a relation is declared with, none where it is not declared."""
    found = re.search(rf"^\.decl {relation}\((.*)\)", declarations, re.MULTILINE)
    return [each.partition(":")[0].strip() for each in found[1].split(",")] if found else []


def locked(rules: list[str]) -> list[str]:
    """The rules with one more condition, the fact `on(1)`, wherever they begin without rows of one
    another.
    """
    heads = {found[1] for rule in rules if (found := _HEAD.match(rule))}
    begins = re.compile(rf"\b({'|'.join(sorted(heads))})\(")
    return [
        rule if begins.search(rule.partition(":-")[2]) else f"{rule.removesuffix('.')}, on(1)."
        for rule in rules
    ]


RULES: dict[str, str] = {
    "points-to": program("points_to"),
    "borrow check": BORROW_CHECK,
    "CSPA": program("cspa"),
    "LUBM": program("rhodf"),
    "doop-like": DOOP,
    "doop-like, modules": DOOP,
    "reaching definitions": REACHING_DEFINITIONS,
    "same generation": SAME_GENERATION,
    "non-linear closure": NON_LINEAR,
    "even and odd": ODD_AND_EVEN,
    "Dyck": DYCK,
    "dominators": DOMINATORS,
    "components": COMPONENTS,
    "RDFS": RDFS,
    "OWL": OWL,
    "paths on a grid": SHORTEST,
    "paths on a random graph": SHORTEST,
}
"""The text of all programs by name."""
