"""A commit or query compiles nothing: all that a program can need is in the library of kernels, and
Numba is not even imported. Each program runs in a process of its own, forked before any kernel was
called. Limits and Ctrl-C end compilation, of the library and of kernels one by one.
"""

from __future__ import annotations

import _thread
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from signal import SIGKILL
from threading import Thread
from typing import Any

import pytest

import lftj
from lftj.engine.machine_code import compiled_ahead
from lftj.engine.machine_code.kernel_library import build_library
from lftj.scantree.jit import ahead as groups
from lftj.scantree.jit import building
from lftj.scantree.jit.directory import ADDRESSES
from lftj.scantree.jit.library import library, target
from tests.distributed.inline import InlineExecutor
from tests.interrupting import heeding_interrupts  # noqa: F401

pytestmark = pytest.mark.skipif(
    not ADDRESSES or target() is None, reason="there is no library for such kernels"
)


@pytest.fixture(scope="module", autouse=True)
def library_of_kernels() -> None:
    """The library is there, as an installation brings it or the first program builds it."""
    assert library() is not None or build_library() is not None


HARNESS = """
import pathlib, random, sys
import lftj
from lftj.scantree.jit.decorators import Kernel

asked = []
by_numba = Kernel._by_numba

def watched(kernel, *arguments, **named):
    asked.append(kernel._full_name)
    return by_numba(kernel, *arguments, **named)

Kernel._by_numba = watched

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
    print(sorted(set(asked)), "numba" in sys.modules)
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
    assert asked_by_program[name] == "[] False"


@pytest.mark.parametrize("name", OVER_PARTS)
def test_neither_driver_nor_workers_ask_for_a_kernel_that_was_not_compiled_ahead(
    name: str, asked_by_program: dict[str, str]
) -> None:
    assert asked_by_program[f"{name} over parts"] == "[] False"


RULES = """
.decl e(x: number, y: number)
.decl t(x: number, y: number)
t(x, y) :- e(x, y).
t(x, z) :- t(x, y), e(y, z).
"""


FEW = "lftj.scantree.page_kernels leaf_column i i\n" * 8
"""A group that is compiled soon."""


@pytest.fixture(params=["library", "one by one"])
def nothing_compiled(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], list[Any]]]:
    """From the call on nothing counts as compiled, so that helpers are started: those in the list.
    Afterwards nothing is left of a library that was not built to its end.
    """
    started, start = [], groups.processes.start
    folder = tmp_path / "library"

    def helper(*arguments: Any) -> Any:
        started.append(start(*arguments))
        return started[-1]

    def forget() -> list[Any]:
        monkeypatch.setattr(groups.processes, "start", helper)
        monkeypatch.setattr(groups, "_ready", set())
        monkeypatch.setattr(groups, "_marker", lambda group: tmp_path / group)
        monkeypatch.setattr(compiled_ahead, "library", lambda: None)
        monkeypatch.setattr(building, "library_folder", lambda: folder)
        if request.param == "one by one":
            monkeypatch.setattr(compiled_ahead, "build_library", lambda attend: None)
            monkeypatch.setattr(compiled_ahead, "GROUPS", dict.fromkeys(compiled_ahead.GROUPS, FEW))
        return started

    yield forget
    assert [path.name for path in folder.glob("*")] in ([], ["being-built"])


def _interrupt_once_more_are_started(helpers: list[Any], known: int) -> None:
    """Interrupt the main thread as soon as more helpers are started, before they can end."""
    end = time.monotonic() + 60.0
    while len(helpers) == known and time.monotonic() < end:
        time.sleep(0.005)
    _thread.interrupt_main()


@pytest.mark.usefixtures("heeding_interrupts")
@pytest.mark.parametrize("over", ["one process", "parts"])
def test_limits_and_interrupts_end_compilation_and_leave_the_workspace_as_it_was(
    over: str,
    nothing_compiled: Callable[[], list[Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    executor: Any = InlineExecutor(tmp_path / "parts") if over == "parts" else None
    with lftj.connect(executor=executor) as ws:
        helpers = nothing_compiled()
        with ws.limits(seconds=0.2), pytest.raises(lftj.LimitError, match="time limit") as raised:
            ws.add_rules(RULES)
        assert raised.value.code == "E331"
        Thread(target=_interrupt_once_more_are_started, args=(helpers, len(helpers))).start()
        with pytest.raises(KeyboardInterrupt):
            ws.add_rules(RULES)
        assert len(helpers) >= 2
        assert all(helper.returncode == -SIGKILL for helper in helpers)
        assert list(ws.relations) == []
        interrupted, one_by_one = len(helpers), compiled_ahead.build_library is not build_library
        if not one_by_one:
            monkeypatch.setattr(compiled_ahead, "library", library)
        ws.add_rules(RULES)
        ws.load("e", [(1, 2), (2, 3)])
        assert sorted(ws["t"].fetchall()) == [(1, 2), (1, 3), (2, 3)]
        assert (ws.profile()["compile_seconds"].max() > 0) == one_by_one
        assert (len(helpers) > interrupted) == one_by_one
        assert all(helper.returncode is not None for helper in helpers)
