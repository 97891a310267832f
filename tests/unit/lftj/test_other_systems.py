"""The library can be imported and a program run without modules that POSIX alone has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

WITHOUT = """
import mmap, os, signal, sys
# which know their system themselves
import lark, numba, numba.np.ufunc, numpy, pyarrow.parquet, sortedcontainers
for module in ("fcntl", "resource", "termios", "pwd", "grp"):
    sys.modules[module] = None
for name in (
    "sched_getaffinity", "register_at_fork", "fork", "uname", "sysconf", "getuid", "O_NOFOLLOW",
    "O_DIRECTORY", "O_CLOEXEC",
):
    delattr(os, name)
os.supports_dir_fd.clear()
for name in ("MAP_PRIVATE", "MAP_ANONYMOUS", "MADV_DONTNEED", "MADV_HUGEPAGE", "PROT_READ"):
    delattr(mmap, name)
for name in ("pthread_kill", "pthread_sigmask", "SIGXFSZ"):
    delattr(signal, name)
"""
PROGRAM = """
import lftj
ws = lftj.connect()
ws.relation("e", {"x": int, "y": str})
ws.add_rules(".decl t(x: number, n: number) t(x, count()) :- e(x, _).")
ws.load("e", [(1, "a"), (1, "b")])
ws["t"].write_facts("t.facts")
print(ws["t"].fetchall(), open("t.facts").read())
import lftj.distributed.backend
import lftj.distributed.work.worker
from lftj.distributed.stored.storing import begin_storing, end_storing, storing
"""
STORED = """
from pathlib import Path
from lftj.distributed.files.path_lock import PathLock
begin_storing(Path("."))
with storing(Path(".")) as may:
    print(may)
end_storing(Path("."))
"""


def run(code: str, folder: Path) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


def test_a_program_runs_where_posix_modules_are_missing(tmp_path: Path) -> None:
    assert run(WITHOUT + PROGRAM + STORED, tmp_path) == "[(1, 2)] 1\t2\n\nTrue\n"


def test_locks_are_taken_behind_one_door() -> None:
    packages = [
        Path(__file__).parents[3] / name
        for name in ("lftj", "scantree", "partition", "sensitivity")
    ]
    users = [
        path.name
        for package in packages
        for path in package.rglob("*.py")
        if "import fcntl" in path.read_text()
    ]
    assert users == ["file_locks.py"]
