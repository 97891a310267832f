"""Time until a newcomer's first result, and the cost of a thousand further rules."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import lftj
from bench.compiling import count_compilations
from bench.figure import Report, require_equal

REPEATS = 5
EXTRA_RULES = {"s": 20, "m": 200, "l": 1_000}
ROOT = Path(__file__).resolve().parent.parent
FIRST_RESULT = ("-m", "bench.first_result")
EXPECTED = "reachable 6, busiest 2, unreachable 3, mean 20.0"


def _environment(cache: Path) -> dict[str, str]:
    """Ours, with kernels and Python's bytecode cached under `cache` and nowhere else: warm then
    means warm on every machine.
    """
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    return environment | {
        "LFTJ_CACHE_DIR": str(cache / "kernels"),
        "PYTHONPYCACHEPREFIX": str(cache / "bytecode"),
    }


def _fresh_process(arguments: tuple[str, ...], cache: Path) -> tuple[float, str]:
    """Wall seconds and last printed line of a new interpreter, its caches in `cache`."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=_environment(cache),
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - start
    if done.returncode:
        raise RuntimeError(
            f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr[-2000:]}"
        )
    return seconds, done.stdout.strip()


def _numpy_seconds(cache: Path) -> float:
    return min(_fresh_process(("-c", "import numpy"), cache)[0] for _ in range(REPEATS))


def _first_result(cache: Path) -> float:
    seconds, line = _fresh_process(FIRST_RESULT, cache)
    require_equal("first result", line, EXPECTED)
    return seconds


def _processes(report: Report) -> None:
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        numpy_seconds = _numpy_seconds(cache)
        cold = _first_result(cache)
        warm = min(_first_result(cache) for _ in range(REPEATS))
    report.add("first_result_warm_s", warm - numpy_seconds)
    report.add("first_result_cold_s", cold - numpy_seconds)
    report.note(figure="first_result", warm_s=warm, cold_s=cold, import_numpy_s=numpy_seconds)


# One rule of each of these shapes in turn, so that the thousand are not a thousand times the same.
SHAPES = (
    ".decl v{n}(x: number, y: number)\nv{n}(x, z) :- edge(x, y), edge(y, z), x < z + {n}.",
    ".decl v{n}(x: number)\nv{n}(x) :- edge(x, _), !edge({n}, x).",
    ".decl v{n}(x: number, n: number)\nv{n}(x, count()) :- edge(x, y), y != {n}.",
    ".decl v{n}(x: number, s: number)\nv{n}(x, sum(y)) :- edge(x, y), edge(y, z), edge(x, z), y != "
    "{n}.",
    ".decl v{n}(x: number, y: number)\nv{n}(x, {n}) :- edge(x, y), edge(y, x).",
)
EDGES = [(1, 2), (2, 3), (1, 3), (3, 1)]


def _shape(number: int) -> str:
    return SHAPES[number % len(SHAPES)].format(n=number)


def _seconds_of(workspace: lftj.Workspace, texts: list[str]) -> float:
    """Seconds for adding each text in a commit of its own."""
    start = time.perf_counter()
    for text in texts:
        workspace.add_rules(text)
    return time.perf_counter() - start


def _extra_rules(report: Report) -> None:
    workspace = lftj.connect()
    workspace.load(workspace.relation("edge", {"x": int, "y": int}), EDGES)
    first, extra = len(SHAPES), EXTRA_RULES[report.size]
    _seconds_of(workspace, [_shape(number) for number in range(first)])
    with count_compilations() as compilations:
        seconds = _seconds_of(workspace, [_shape(number) for number in range(first, first + extra)])
        start = time.perf_counter()
        workspace.add_rules(
            "\n".join(_shape(number) for number in range(first + extra, first + 2 * extra))
        )
        together = time.perf_counter() - start
    require_equal(
        "a late view", sorted(workspace[f"v{first + 2}"].fetchall()), [(1, 2), (2, 1), (3, 1)]
    )
    report.add("ms_per_extra_rule", seconds / extra * 1e3)
    report.add("compiled_functions_added", len(compilations))
    report.note(
        figure="ms_per_extra_rule",
        rules=extra,
        one_by_one_ms=seconds / extra * 1e3,
        in_one_commit_ms=together / extra * 1e3,
    )


def measure(report: Report, data: Path | None) -> None:
    """Fill the report of `startup`."""
    _extra_rules(report)
    _processes(report)
