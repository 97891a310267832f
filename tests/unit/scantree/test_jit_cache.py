"""The cache of machine code on disk: shared by processes, announced while it fills, and done
without where it cannot be had.
"""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lftj.scantree.jit.directory import CHECKED, DISABLED
from tests.unit.scantree import fresh_processes
from tests.unit.scantree.fresh_processes import ROOT, SUMS, Forking
from tests.unit.scantree.fresh_processes import python as python_anew

pytestmark = pytest.mark.skipif(
    DISABLED or CHECKED, reason="kernels are interpreted, or checked: their cache is no other"
)

MISSES = SUMS.format(at=3) + "; print(sum(sum_of_twice.stats.cache_misses.values()))"
KERNEL = f"{fresh_processes.__name__}.sum_of_twice"
HOLDS = (
    "from lftj.scantree.jit import compile_lock\nwith compile_lock.turn({!r}):\n"
    "    print('held', flush=True); "
    "input(); {}"
)
WAITS = (
    "from lftj.scantree.jit import compile_lock; "
    "compile_lock._wait = lambda: print('waiting', flush=True) or "
    "input(); "
)


@pytest.fixture(scope="module", autouse=True)
def forking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Start the process whose forks run the code of these tests."""
    global _forking
    _forking = Forking(tmp_path_factory.mktemp("printed"))
    yield
    _forking.close()


_forking: Forking


def python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `code` in a fork of one process for this file."""
    return _forking.python(code, **environment)


def _begun(code: str, **environment: str) -> subprocess.Popen[str]:
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, env=os.environ | environment, **pipes
    )


def _next_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def _on_a_terminal(code: str, **environment: str) -> str:
    """Run `code` with a terminal as its standard error, and return the terminal's text."""
    ours, its = pty.openpty()
    with open(ours, "rb", buffering=0) as screen:
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env=os.environ | environment,
            stdout=subprocess.DEVNULL,
            stderr=its,
        )
        os.write(its, b"\0")
        os.close(its)
        return "".join(iter(lambda: screen.read(1).decode(errors="replace"), "\0"))


def test_of_processes_that_share_a_cache_one_compiles(tmp_path: Path) -> None:
    one = _begun(HOLDS.format(KERNEL, MISSES), LFTJ_CACHE_DIR=str(tmp_path))
    assert _next_line(one) == "held"
    other = _begun(WAITS + MISSES, LFTJ_CACHE_DIR=str(tmp_path))
    assert _next_line(other) == "waiting"
    assert one.communicate("\n")[0] == "12 6\n1\n"
    assert other.communicate("\n")[0] == "12 6\n0\n"


def test_who_compiles_a_kernel_too_long_is_not_waited_for(tmp_path: Path) -> None:
    one = _begun(HOLDS.format("k", "pass"), LFTJ_CACHE_DIR=str(tmp_path))
    assert _next_line(one) == "held"
    waits = (
        "from lftj.scantree.jit import compile_lock; compile_lock._PATIENCE = 0.05\n"
        "with compile_lock.turn('k'), "
        "compile_lock.turn('other'): print('went on')"
    )
    assert python(waits, LFTJ_CACHE_DIR=str(tmp_path)).stdout == "went on\n"
    one.communicate("\n")


def test_who_waits_for_a_compilation_at_a_terminal_is_told(tmp_path: Path) -> None:
    shown = _on_a_terminal(MISSES, LFTJ_CACHE_DIR=str(tmp_path))
    assert shown.startswith("\rlftj: compiling the kernel sum_of_twice, once for this machine ")
    assert shown.endswith("\r\033[K")
    assert _on_a_terminal(MISSES, LFTJ_CACHE_DIR=str(tmp_path)) == ""
    assert python(SUMS.format(at=3), LFTJ_CACHE_DIR=str(tmp_path / "anew")).stderr == ""


def test_who_shows_a_line_already_says_it(tmp_path: Path) -> None:
    shows = (
        "from lftj.scantree.jit.announcing import said_by\nwith said_by(lambda text: print('say:', "
        "text)):\n    "
    )
    run = python(shows + SUMS.format(at=3), LFTJ_CACHE_DIR=str(tmp_path))
    assert run.stdout.startswith("say: compiling the kernel sum_of_twice, once for this machine\n")


def test_machine_code_that_nobody_has_used_for_months_is_removed(tmp_path: Path) -> None:
    code = "from lftj.scantree.jit import cache_directory; print(cache_directory().name)"
    old, young, other = names = [
        "kernels-0123456789abcdef",
        "kernels-fedcba9876543210",
        "kernels-of-mine",
    ]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "sum.nbi").write_text("")
    for name in (old, other):
        os.utime(tmp_path / name, (0, 0))
    used = python(code, LFTJ_CACHE_DIR=str(tmp_path)).stdout.strip()
    assert {path.name for path in tmp_path.iterdir()} == {used, young, other}
    os.utime(tmp_path / used, (0, 0))
    python(code, LFTJ_CACHE_DIR=str(tmp_path))
    assert (tmp_path / used).stat().st_mtime > 0


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    run = python(
        SUMS.format(at=3) + "; print(sum_of_twice.stats.cache_path)",
        LFTJ_CACHE_DIR=str(tmp_path / "file"),
    )
    assert run.stdout.startswith("12 6\n/")
    assert not Path(run.stdout.split()[-1]).exists()
    assert "machine code is not kept in" in run.stderr


PLANTED = (
    "class Planted:\n    def __reduce__(self):\n        return (print, ('planted code ran',))\n"
)
PLANTS = (
    "import pickle, numba, sys, pathlib\n"
    + PLANTED
    + """
for index in pathlib.Path(sys.argv[1]).rglob('*.nbi'):
    index.write_bytes(pickle.dumps(numba.__version__) + pickle.dumps(Planted()))
"""
)


@pytest.mark.parametrize("variable", ["LFTJ_CACHE_DIR", "XDG_CACHE_HOME"])
def test_code_that_others_could_put_into_the_cache_is_not_run(
    tmp_path: Path, variable: str
) -> None:
    given = tmp_path / "given"
    given.mkdir(mode=0o700)
    folder = {"LFTJ_CACHE_DIR": "", variable: str(given)}
    assert python(MISSES, **folder).stdout == "12 6\n1\n"
    assert python(MISSES, **folder).stdout == "12 6\n0\n"
    subprocess.run([sys.executable, "-c", PLANTS, str(given)], check=True)
    planted = {file: file.read_bytes() for file in given.rglob("*.nb*")}
    assert "planted code ran" in python(MISSES, **folder).stdout
    for mode in (0o777, 0o775, 0o1777):
        for file, content in planted.items():
            file.write_bytes(content)
        for opened in (path for path in (given, *given.rglob("*")) if path.is_dir()):
            opened.chmod(mode)
        run = python(MISSES, **folder)
        assert run.stdout == "12 6\n1\n", oct(mode)
        assert run.stderr.count("machine code is not kept in") == 1
        assert "chmod go-w" in run.stderr


def test_machine_code_is_for_the_user_alone(tmp_path: Path) -> None:
    code = "import os; os.umask(0); " + MISSES
    assert python(code, LFTJ_CACHE_DIR=str(tmp_path / "made")).stdout == "12 6\n1\n"
    folders = [path for path in (tmp_path / "made").rglob("*") if path.is_dir()]
    assert folders
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "made", *folders)} == {0o700}


def _copied(folder: Path) -> Path:
    for package in ("lftj/scantree", "tests/unit/scantree"):
        shutil.copytree(
            ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    for package in ("lftj", "tests", "tests/unit"):
        shutil.copy(ROOT / package / "__init__.py", folder / package)
    return folder


def _misses_in(sources: Path, cache: Path) -> str:
    environment = os.environ | {"LFTJ_CACHE_DIR": str(cache), "PYTHONPATH": str(sources)}
    code = "from lftj import scantree; "
    code += f"assert scantree.__file__.startswith({str(sources)!r}); {MISSES}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=sources,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_installations_of_the_same_sources_share_machine_code(tmp_path: Path) -> None:
    one, other = _copied(tmp_path / "one"), _copied(tmp_path / "deep" / "other")
    assert _misses_in(one, tmp_path / "cache") == "12 6\n1\n"
    assert _misses_in(other, tmp_path / "cache") == "12 6\n0\n"
    edited = other / "lftj" / "scantree" / "seek_kernels.py"
    edited.write_text(edited.read_text() + "\n")
    assert _misses_in(other, tmp_path / "cache") == "12 6\n1\n"
    assert _misses_in(one, tmp_path / "cache") == "12 6\n0\n"


@pytest.mark.parametrize("setting", ["NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"])
def test_another_processor_has_a_cache_of_its_own(tmp_path: Path, setting: str) -> None:
    code = "from lftj.scantree.jit import cache_directory; print(cache_directory().name)"
    here = python_anew(code, LFTJ_CACHE_DIR=str(tmp_path)).stdout
    other = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""} | {
        setting: "generic" if setting.endswith("NAME") else "+sse2"
    }
    assert python_anew(code, LFTJ_CACHE_DIR=str(tmp_path), **other).stdout != here


def test_compiling_is_said_once_for_many_kernels(tmp_path: Path) -> None:
    lines = f"{fresh_processes.__name__} sum_of_twice W\\n{fresh_processes.__name__} twice W i"
    code = (
        f"from lftj.scantree.jit.ahead import compile_groups; print(compile_groups({{'sums': "
        f"'{lines}'}}) > 0); {MISSES}"
    )
    shown = _on_a_terminal(code, LFTJ_CACHE_DIR=str(tmp_path / "one"))
    assert shown.startswith(
        "\rlftj: compiling 2 kernels, once for this machine: this may take half a minute "
    )
    assert shown.endswith("\033[K\r\033[K")
    assert shown.count("compiling") == 1
    assert python(code, LFTJ_CACHE_DIR=str(tmp_path / "one")).stdout == "False\n12 6\n0\n"
    logged = (
        "import logging; logging.basicConfig(level=logging.INFO, format='%(name)s: %(message)s'); "
        + code
    )
    run = python(logged, LFTJ_CACHE_DIR=str(tmp_path / "two"))
    assert (
        run.stderr
        == "lftj: compiling 2 kernels, once for this machine: this may take half a minute\n"
    )
    notebook = (
        "import sys, types; sys.modules['ipykernel'] = types.ModuleType('ipykernel'); " + code
    )
    run = python(notebook, LFTJ_CACHE_DIR=str(tmp_path / "three"))
    assert (
        run.stderr
        == "lftj: compiling 2 kernels, once for this machine: this may take half a minute …\n"
    )


def test_a_helper_compiles_from_the_other_end(tmp_path: Path) -> None:
    lines = f"{fresh_processes.__name__} sum_of_twice W"
    code = (
        "import lftj.scantree.jit.ahead as ahead; from lftj.scantree.jit import cache_directory; "
        f"ahead.compile_lines(['{lines}'], str(cache_directory()))"
    )
    assert python(code, LFTJ_CACHE_DIR=str(tmp_path)).returncode == 0
    assert python(MISSES, LFTJ_CACHE_DIR=str(tmp_path)).stdout == "12 6\n0\n"


INTERRUPTED = f"""
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from lftj.scantree.jit import ahead
groups = {{"sums": "{fresh_processes.__name__} sum_of_twice W\\n" * 8}}
helpers, start = [], ahead._helper
def started(lines):
    helpers.append(start(lines))
    return helpers[-1]
ahead._helper = started
try:
    ahead.compile_groups(groups, lambda: os.kill(os.getpid(), signal.SIGINT))
except KeyboardInterrupt:
    print("interrupted", {{helper.returncode for helper in helpers}})
print(ahead.missing_groups(groups))
print(ahead.compile_groups(groups) > 0, ahead.missing_groups(groups))
print({{helper.returncode for helper in helpers}} <= {{0, -9}}, ahead.compile_groups(groups))
"""


def test_an_interrupt_ends_the_helpers_and_the_next_call_compiles(tmp_path: Path) -> None:
    run = python(INTERRUPTED + MISSES, LFTJ_CACHE_DIR=str(tmp_path))
    said = "interrupted {-9}\n['sums']\nTrue []\nTrue 0.0\n12 6\n0\n"
    assert (run.stdout, run.stderr) == (said, "")


def test_helpers_that_keep_code_elsewhere_are_done_without(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    lines = f"{fresh_processes.__name__} sum_of_twice W\\n" * 8
    code = "from lftj.scantree.jit.ahead import compile_groups; "
    code += f"compile_groups({{'sums': '{lines}'}}); "
    assert python(code + MISSES, LFTJ_CACHE_DIR=str(shared)).stdout == "12 6\n1\n"


def test_a_cache_that_is_full_is_done_without(tmp_path: Path) -> None:
    full = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)); "
    )
    run = python(full + MISSES, LFTJ_CACHE_DIR=str(tmp_path))
    assert (run.stdout, run.stderr) == ("12 6\n1\n", "")
    assert python(MISSES, LFTJ_CACHE_DIR=str(tmp_path)).stdout == "12 6\n1\n"
    assert python(MISSES, LFTJ_CACHE_DIR=str(tmp_path)).stdout == "12 6\n0\n"


@pytest.mark.parametrize(("ending", "left"), [("nbi", 0), ("nbi", 30), ("nbc", 0), ("nbc", 300)])
def test_machine_code_of_which_half_is_there_is_made_again(
    ending: str, left: int, tmp_path: Path
) -> None:
    assert python(MISSES, LFTJ_CACHE_DIR=str(tmp_path)).stdout == "12 6\n1\n"
    damaged = list(tmp_path.rglob(f"*sum_of_twice*.{ending}"))
    assert damaged
    for file in damaged:
        os.truncate(file, left)
    for misses in (1, 0):
        run = python(MISSES, LFTJ_CACHE_DIR=str(tmp_path))
        assert (run.stdout, run.stderr) == (f"12 6\n{misses}\n", "")
