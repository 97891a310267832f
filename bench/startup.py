"""Time until a newcomer's first result, and the cost of a thousand further rules."""

from __future__ import annotations

import os
import resource
import shutil
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
TRIVIAL = ".decl e(x: number, y: number)\n.output e\ne(1, 2).\n"
TRACKED = """
import gc, first_result
first_result.main()
gc.collect()
with open("/proc/self/status") as status:
    (peak,) = (line.split()[1] for line in status if line.startswith("VmHWM:"))
print(len(gc.get_objects()), int(peak) / 1024)
"""
# The peak is not `getrusage`'s: there a process begins with that of the one that started it, which
# has evaluated a thousand rules.
EXPECTED = "reachable 6, busiest 2, unreachable 3, mean 20.0"


class Installed:
    """A wheel of these sources, installed in an empty environment, and new processes of it. They
    keep kernels and Python's bytecode in a folder of their own and nowhere else: warm then means
    warm on every machine.
    """

    def __init__(self, folder: Path, extra: str = "") -> None:
        """Build and install it, with what an extra asks for: needs `uv`, and the build step takes a
        minute where it was not run on this machine.
        """
        self._folder, venv = folder, str(folder / "venv")
        self._python = str(folder / "venv" / "bin" / "python")
        _uv("build", "--wheel", "--out-dir", str(folder / "wheel"))
        _uv("venv", "--python", sys.executable, venv)
        (wheel,) = (folder / "wheel").glob("*.whl")
        _uv("pip", "install", "--python", venv, f"{wheel}[{extra}]" if extra else str(wheel))
        shutil.copy(ROOT / "bench" / "first_result.py", folder)
        (folder / "trivial.dl").write_text(TRIVIAL, encoding="utf-8")

    def run(self, *arguments: str) -> tuple[float, float, str]:
        """Wall and processor seconds of a new interpreter, and what it printed."""
        inherited = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH")
        environment = {
            name: value for name, value in os.environ.items() if name not in inherited
        } | {
            "LFTJ_CACHE_DIR": str(self._folder / "kernels"),
            "PYTHONPYCACHEPREFIX": str(self._folder / "bytecode"),
        }
        start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [self._python, *arguments],
            cwd=self._folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise RuntimeError(
                f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr[-2000:]}"
            )
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return seconds, used, done.stdout.strip()

    def least(self, *arguments: str) -> tuple[float, float]:
        """The least wall and processor seconds of several runs."""
        walls, used = zip(*(self.run(*arguments)[:2] for _ in range(REPEATS)), strict=True)
        return min(walls), min(used)


def _uv(*arguments: str) -> None:
    subprocess.run(["uv", "--quiet", *arguments], cwd=ROOT, check=True)


def _processes(report: Report) -> None:
    with tempfile.TemporaryDirectory() as folder:
        installed = Installed(Path(folder))
        numpy_seconds, _ = installed.least("-c", "import numpy")
        cold, cold_used, line = installed.run("first_result.py")
        require_equal("first result", line, EXPECTED)
        warm, warm_used = installed.least("first_result.py")
        objects, megabytes = installed.run("-c", TRACKED)[2].splitlines()[-1].split()
        _, run_used = installed.least("-m", "lftj", "run", "trivial.dl", "-D", "-")
        help_seconds, _ = installed.least("-m", "lftj", "--help")
    report.add("first_result_warm_s", warm - numpy_seconds)
    report.add("first_result_cold_s", cold - numpy_seconds)
    report.add("tracked_objects", float(objects))
    report.add("first_result_mb", float(megabytes))
    report.add("run_cpu_s", run_used)
    report.add("help_s", help_seconds)
    report.note(figure="first_result", warm_s=warm, cold_s=cold, import_numpy_s=numpy_seconds)
    report.note(figure="first_result", warm_cpu_s=warm_used, cold_cpu_s=cold_used)


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
