"""Programs of all kinds of premises, and random histories of rows for them."""

from __future__ import annotations

import random
from collections.abc import Iterator

import lftj

Facts = dict[str, set[tuple[int, ...]]]

_E = ".decl e(x: number, y: number) "
PROGRAMS = {
    "doubling": _E
    + ".decl r(x: number, y: number) r(x, y) :- e(x, y). r(x, z) :- r(x, y), r(y, z).",
    "mutual": _E
    + """.decl a(x: number, y: number) .decl b(x: number, y: number) .decl v(x: number)
        a(x, y) :- e(x, y). b(x, z) :- a(x, y), e(y, z). a(x, z) :- b(x, y), e(y, z).
        v(x) :- a(x, x), !b(x, x).""",
    "shortest": _E
    + """.decl d(x: number, y: number, c: number)
        d(x, y, min(1)) :- e(x, y). d(x, z, min(c + 1)) :- d(x, y, c), e(y, z).""",
    "edges of no length": """.decl w(x: number, y: number, k: number) .decl d(x: number, c: number)
        d(0, min(0)) :- true. d(y, min(c + k)) :- d(x, c), w(x, y, k), k >= 0.""",
    "choice domain": _E
    + """.decl t(x: number, y: number) choice-domain y
        t(x, y) :- e(x, y). t(y, z) :- t(x, y), e(y, z).""",
    "choice": _E
    + """.decl p(x: number, y: number) .decl q(x: number)
        p(x, y) :- e(x, y), e(y, _), choice((x), (y)). q(x) :- p(x, y), p(y, _).""",
    "choice of facts": """.decl e(x: number, y: number) choice-domain x
        .decl q(x: number, y: number) q(x, y) :- e(x, y).""",
    "inner bodies": _E
    + """.decl q(x: number, n: number) .decl m(x: number, s: number)
        q(x, n) :- e(x, _), n = count : { e(x, y), !(e(y, z), z > x) }.
        m(x, s + 1) :- e(x, _), s = max y + z : { e(x, y), (e(y, z) ; z = 5) }.""",
    "functors": _E
    + """.decl n(x: number, s: symbol) .decl f(s: symbol, k: number) .decl h(x: number)
        .decl g(x: number, s: symbol)
        n(x, cat(to_string(x), "-", to_string(y))) :- e(x, y).
        f(s, strlen(s)) :- n(_, s), contains("1", s).
        g(x, s) :- e(x, y), s = cat(to_string(y), "-", to_string(x)), n(_, s), !match("1.*", s).
        h(x) :- e(a, b), x = range(a, b).""",
    "branches": _E
    + """.decl n(x: number, y: number) .decl k(x: number, c: number)
        n(x, y) :- e(x, y), (e(y, x) ; x < y, e(y, z), z != x ; !e(y, _)).
        k(x, count()) :- e(x, y), (e(y, x) ; x < y).""",
    "heads": _E
    + """.decl a(x: number) .decl b(x: number, y: number)
        .decl s(t: float, m: float, c: symbol, n: number)
        a(x), b(y, x) :- e(x, y), x != y.
        s(sum(to_float(x)), mean(y), concat(to_string(x), ",", y), max(x)) :- e(x, y).""",
    "functions": _E
    + """.decl F[x: number]: number .decl g(x: number)
        F[x] = max(y) :- e(x, y). g(x) :- e(x, _), F[x] = y, y > 1.""",
}


def history(name: str, seed: int, commits: int = 3) -> Iterator[tuple[lftj.Workspace, Facts]]:
    """A workspace with the program and its facts after each of some commits that insert and
    delete rows.
    """
    chosen, workspace = random.Random(seed), lftj.connect()
    workspace.add_rules(PROGRAMS[name])
    read, arity = (
        ("w", 3)
        if " w(" in PROGRAMS[name] or PROGRAMS[name].startswith(".decl w")
        else (
            "e",
            2,
        )
    )
    facts: Facts = {read: set()}
    for _ in range(commits):
        new = {
            tuple(chosen.randrange(5) for _ in range(arity)) for _ in range(chosen.randrange(1, 7))
        }
        gone = {row for row in sorted(facts[read]) if chosen.random() < 0.3}
        with workspace.transaction() as tx:
            tx.delete(read, list(gone))
            tx.insert(read, list(new))
        facts[read] = facts[read] - gone | new
        yield workspace, facts
