"""Processes that build the library of kernels at once: one compiles, the other takes what it made,
and goes on where it is killed.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lftj.scantree.jit import library

CODE = """
import sys, time
from pathlib import Path
from lftj.scantree.jit import building

folder, seconds = Path(sys.argv[1]), float(sys.argv[2])

def compiled(lines, processor, attend):
    with open(folder / "compiled", "a") as file:
        file.write("once\\n")
    time.sleep(seconds)
    return [b"object code"]

building._objects, building.link = compiled, lambda objects, name: b"".join(objects)
print(building.build(["m k int64"], "x86-64-v3", folder, lambda: None))
"""


def begun(folder: Path, seconds: float) -> subprocess.Popen[str]:
    """A process that builds, whose compiling takes so many seconds."""
    return subprocess.Popen(
        [sys.executable, "-c", CODE, str(folder), str(seconds)], stdout=subprocess.PIPE, text=True
    )


def compiling(folder: Path, times: int) -> None:
    """Wait until so many processes have begun to compile."""
    end = time.monotonic() + 60
    made = folder / "compiled"
    while not (made.exists() and len(made.read_text().splitlines()) >= times):
        assert time.monotonic() < end
        time.sleep(0.01)


def test_the_second_waits_and_compiles_nothing(tmp_path: Path) -> None:
    first = begun(tmp_path, 1.0)
    compiling(tmp_path, 1)
    second = begun(tmp_path, 1.0)
    paths = {each.communicate(timeout=60)[0].strip() for each in (first, second)}
    assert paths == {str(tmp_path / library.file_name("x86-64-v3"))}
    assert library.whole(Path(paths.pop()))
    assert (tmp_path / "compiled").read_text() == "once\n"


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes cannot be killed so")
def test_the_second_goes_on_where_the_first_is_killed(tmp_path: Path) -> None:
    first = begun(tmp_path, 60.0)
    compiling(tmp_path, 1)
    second = begun(tmp_path, 0.0)
    time.sleep(0.2)
    assert second.poll() is None, "it waits"
    first.kill()
    assert library.whole(Path(second.communicate(timeout=60)[0].strip()))
    assert first.communicate(timeout=60)[0] == ""
    assert (tmp_path / "compiled").read_text() == "once\n" * 2
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["being-built", "compiled", library.file_name("x86-64-v3")]
