"""A commit or query compiles nothing: what a program can need is compiled when its rules are added.

A kernel that is asked for in a commit counts, be it compiled or read from the cache: each program
runs in a process of its own, forked before any kernel was called. Limits and Ctrl-C end
compilation.
"""

from __future__ import annotations

import _thread
import json
import subprocess
import sys
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

import lftj
from scantree.jit import ahead as groups
from scantree.jit.directory import DISABLED
from tests.distributed.inline import InlineExecutor
from tests.interrupting import heeding_interrupts  # noqa: F401

pytestmark = pytest.mark.skipif(DISABLED, reason="kernels are interpreted: nothing is compiled")

HARNESS = """
import pathlib, random, sys
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

def compile_groups(wanted, attend):
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

def play(text, row, rows=300, steps=8, threads=1, query=None, parts=None):
    chance = random.Random(3)
    if parts:
        from tests.distributed.inline import InlineExecutor
        executor = InlineExecutor(pathlib.Path(parts))
    else:
        executor = lftj.ThreadExecutor(threads, patience=1000)
    ws = lftj.connect(executor=executor)
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


OVER_PARTS = ("recursion", "counts", "floats", "strings", "query")


@pytest.fixture(scope="module")
def asked_by_program(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The kernels that each program asked for: a line that it printed in a fork of one process,
    which has imported everything and called no kernel.
    """
    plays = [
        f"play({text!r}, {row}{', ' + options if options else ''})"
        for text, row, options in PROGRAMS.values()
    ]
    for name in OVER_PARTS:
        text, row, options = PROGRAMS[name]
        folder = f"steps=4, parts={str(tmp_path_factory.mktemp('parts'))!r}"
        plays.append(f"play({text!r}, {row}, {', '.join(filter(None, (options, folder)))})")
    done = subprocess.run(
        [sys.executable, "-c", HARNESS + EACH_IN_A_FORK],
        input="".join(json.dumps(play) + "\n" for play in plays),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    names = (*PROGRAMS, *(f"{name} over parts" for name in OVER_PARTS))
    return dict(zip(names, done.stdout.splitlines(), strict=True))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_commit_asks_for_no_kernel_that_was_not_compiled_ahead(
    name: str, asked_by_program: dict[str, str]
) -> None:
    assert asked_by_program[name] == "[]"


@pytest.mark.parametrize("name", OVER_PARTS)
def test_neither_driver_nor_workers_ask_for_a_kernel_that_was_not_compiled_ahead(
    name: str, asked_by_program: dict[str, str]
) -> None:
    assert asked_by_program[f"{name} over parts"] == "[]"


RULES = """
.decl e(x: number, y: number)
.decl t(x: number, y: number)
t(x, y) :- e(x, y).
t(x, z) :- t(x, y), e(y, z).
"""


@pytest.fixture
def helpers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Groups count as compiled by nobody, so that helpers are started: these."""
    started, start = [], groups._helper

    def helper(lines: list[str]) -> Any:
        started.append(start(lines))
        return started[-1]

    monkeypatch.setattr(groups, "_ready", set())
    monkeypatch.setattr(groups, "_marker", lambda group: tmp_path / group)
    monkeypatch.setattr(groups, "_helper", helper)
    return started


@pytest.mark.usefixtures("heeding_interrupts")
@pytest.mark.parametrize("over", ["one process", "parts"])
def test_limits_and_interrupts_end_compilation_and_leave_the_workspace_as_it_was(
    over: str, helpers: list[Any], tmp_path: Path
) -> None:
    executor: Any = InlineExecutor(tmp_path / "parts") if over == "parts" else None
    with lftj.connect(executor=executor) as ws:
        with ws.limits(seconds=0.2), pytest.raises(lftj.LimitError, match="time limit") as raised:
            ws.add_rules(RULES)
        assert raised.value.code == "E331"
        Timer(0.5, _thread.interrupt_main).start()
        with pytest.raises(KeyboardInterrupt):
            ws.add_rules(RULES)
        assert helpers
        assert all(helper.returncode is not None for helper in helpers)
        assert list(ws.relations) == []
        ws.add_rules(RULES)
        ws.load("e", [(1, 2), (2, 3)])
        assert sorted(ws["t"].fetchall()) == [(1, 2), (1, 3), (2, 3)]
        assert ws.profile()["compile_seconds"].max() > 0
        assert all(helper.returncode is not None for helper in helpers)
