"""A commit or query compiles nothing: what a program can need is compiled when its rules are added.

A kernel that is asked for in a commit counts, be it compiled or read from the cache: each program
runs in a process of its own, forked before any kernel was called.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from scantree.jit.directory import DISABLED

pytestmark = pytest.mark.skipif(DISABLED, reason="kernels are interpreted: nothing is compiled")

HARNESS = """
import random, sys
import lftj
from lftj.engine import ahead
from scantree.jit import ahead as groups, libraries
from scantree.jit import decorators

asked, known = [], set()
compile_for = ahead.compile_for

def key(kernel, kinds):
    return kernel, tuple(map(str, kinds))

def lines(name):
    return [line.split() for line in ahead._GROUPS[name].replace("\\n  ", " ").split("\\n") if line]

def compile_groups(wanted):
    for name in wanted:
        for module, kernel, *kinds in lines(name):
            known.add(key(f"{module}.{kernel}", map(groups._kind, kinds)))
    return 0.0

ahead.compile_groups = compile_groups

import numba
def watched(module_kernel, dispatcher):
    before = dispatcher._compile_for_args
    def asks(*arguments, **named):
        kinds = [dispatcher.typeof_pyval(each) for each in arguments]
        if (found := key(module_kernel, kinds)) not in known:
            asked.append(found)
        return before(*arguments, **named)
    dispatcher._compile_for_args = asks

import importlib, pkgutil, lftj, scantree, sensitivity
for package in (lftj, scantree, sensitivity):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if found.name.endswith("_kernels"):
            module = importlib.import_module(found.name)
            for name, value in vars(module).items():
                if hasattr(value, "compile_ahead") and value.py_func.__module__ == found.name:
                    watched(f"{found.name}.{name}", value)

def play(text, row, rows=300, steps=8, threads=1, query=None):
    chance = random.Random(3)
    ws = lftj.connect(executor=lftj.ThreadExecutor(threads, patience=1000))
    ws.add_rules(text)
    ws.load("e", [row(chance) for _ in range(rows)])
    for _ in range(steps):
        with ws.transaction() as tx:
            tx.insert("e", [row(chance) for _ in range(3)])
            tx.delete("e", chance.sample(sorted(ws["e"].fetchall()), 2))
        tx.changes("e").fetchall()
    for name in ws.relations:
        ws[name].fetchall()
    if query:
        ws.query(query).fetchall()
    print(sorted({kernel for kernel, _ in asked}))
"""
NUMBERS = "lambda chance: (chance.randrange(60), chance.randrange(60))"
CHAIN = "lambda chance: (lambda x: (x, x + 1))(chance.randrange(2000))"
FLOATS = "lambda chance: (chance.randrange(60), chance.random())"
STRINGS = "lambda chance: (f'k{chance.randrange(60)}', f'text {chance.randrange(60)}')"
EDGES = ".decl e(x: number, y: number) "
PROGRAMS = {
    "join": (
        EDGES + ".decl p(x: number, y: number) p(x, z) :- e(x, y), e(y, z), x < z.",
        NUMBERS,
        "",
    ),
    "negation": (EDGES + ".decl p(x: number) p(x) :- e(x, _), !e(_, x).", NUMBERS, ""),
    "union": (EDGES + ".decl p(x: number) p(x) :- e(x, _). p(y) :- e(_, y).", NUMBERS, ""),
    "recursion": (
        EDGES + ".decl t(x: number, y: number) t(x, y) :- e(x, y). t(x, z) :- t(x, y), e(y, z).",
        NUMBERS,
        "",
    ),
    "chains": (
        EDGES + ".decl t(x: number) t(x) :- e(x, _), x < 5. t(y) :- t(x), e(x, y).",
        CHAIN,
        "rows=3000",
    ),
    "long chains": (
        EDGES + ".decl t(x: number, y: number) t(0, 0). t(y, n + 1) :- t(x, n), e(x, y), n < 3000.",
        "lambda chance: (lambda x: (x, x + 1))(chance.randrange(400))",
        "rows=5000, steps=3",
    ),
    "mutual": (
        EDGES + ".decl a(x: number, y: number) .decl b(x: number, y: number) a(x, y) :- e(x, y). "
        "a(x, z) :- b(x, y), e(y, z). b(x, z) :- a(x, y), e(y, z).",
        NUMBERS,
        "",
    ),
    "counts": (
        EDGES
        + ".decl c(x: number, n: number) c(x, count()) :- e(x, _). .decl s(x: number, n: number) "
        "s(x, sum(y)) :- e(x, y).",
        NUMBERS,
        "",
    ),
    "extremes": (
        EDGES
        + ".decl c(x: number, n: number) c(x, max(y)) :- e(x, y). .decl s(n: number) s(min(y)) :- "
        "e(_, y).",
        NUMBERS,
        "",
    ),
    "lattice": (
        EDGES
        + ".decl d(x: number, n: number) d(1, min(0)) :- e(_, _). d(y, min(n + 1)) :- d(x, n), "
        "e(x, y).",
        NUMBERS,
        "",
    ),
    "choice": (
        ".decl e(x: number, y: number) .decl t(x: number, y: number) choice-domain x t(x, y) :- "
        "e(x, y).",
        NUMBERS,
        "",
    ),
    "floats": (
        ".decl e(x: number, y: float) .decl s(x: number, n: float) s(x, sum(y)) :- e(x, y). .decl "
        "m(n: float) m(mean(y)) :- e(_, y).",
        FLOATS,
        "",
    ),
    "strings": (
        '.decl e(x: symbol, y: symbol) .decl s(x: symbol) s(cat(x, y)) :- e(x, y), contains("1", '
        "x). "
        ".decl m(x: symbol, y: symbol) m(x, min(y)) :- e(x, y). .decl g(x: symbol, y: symbol) g(x, "
        "z) :- e(x, y), e(z, y).",
        STRINGS,
        "",
    ),
    "threads": (
        EDGES + ".decl p(x: number, y: number) p(x, z) :- e(x, y), e(y, z).",
        NUMBERS,
        "rows=2000, threads=2",
    ),
    "query": (EDGES, NUMBERS, "query='e(x, y), e(y, z), x != z'"),
    "query that counts": (EDGES, NUMBERS, "query='e(x, _), n = count : { e(x, _) }'"),
}


EACH_IN_A_FORK = """
import json, os, traceback
import pyarrow.compute
for line in sys.stdin:
    if not (child := os.fork()):
        try:
            exec(json.loads(line))
        except BaseException:
            print(traceback.format_exc().replace(chr(10), chr(9)))
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.fixture(scope="module")
def asked_by_program() -> dict[str, str]:
    """The kernels that each program asked for: a line that it printed in a fork of one process,
    which has imported everything and called no kernel.
    """
    plays = [
        f"play({text!r}, {row}{', ' + options if options else ''})"
        for text, row, options in PROGRAMS.values()
    ]
    done = subprocess.run(
        [sys.executable, "-c", HARNESS + EACH_IN_A_FORK],
        input="".join(json.dumps(play) + "\n" for play in plays),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(PROGRAMS, done.stdout.splitlines(), strict=True))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_commit_asks_for_no_kernel_that_was_not_compiled_ahead(
    name: str, asked_by_program: dict[str, str]
) -> None:
    assert asked_by_program[name] == "[]"
