"""The library of kernels: arguments that fit go to its code, others to Numba; only a whole file is
loaded.
"""

from __future__ import annotations

import ctypes
import gc
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from lftj.scantree.jit import library as libraries
from lftj.scantree.jit.library import Library, library, sealed, whole
from lftj.scantree.jit.shared_object import LinkError, link
from tests.unit.scantree.fresh_processes import ROOT


def _elsewhere(*arguments: object) -> str:
    return f"{len(arguments)} arguments"


@pytest.mark.skipif(library() is None, reason="no library fits this machine")
def test_arguments_that_do_not_fit_go_elsewhere() -> None:
    found = library()
    assert found is not None
    ascending = found.function("lftj.scantree.word_sort_kernels.ascending", _elsewhere)
    assert ascending is not None
    words = np.array([1, 2, 2, 5])
    assert ascending(words)
    assert not ascending(words[::-1].copy())
    read_only = words.copy()
    read_only.flags.writeable = False
    unfit = (words[::2], words.astype(np.int32), words.reshape(2, 2), read_only, 5, None, [1, 2])
    assert [ascending(each) for each in unfit] == ["1 arguments"] * len(unfit)
    assert ascending() == "0 arguments"
    assert ascending(words.astype(">i8")) == "1 arguments"
    assert found.function("lftj.scantree.word_sort_kernels.of_nobody", _elsewhere) is None


@pytest.mark.skipif(library() is None, reason="no library fits this machine")
def test_functions_outlive_the_object_that_made_them() -> None:
    found = library()
    assert found is not None
    other = Library(found.path)
    name = "lftj.scantree.word_sort_kernels.ascending"
    functions = [other.function(name, _elsewhere) for _ in range(50)]
    del other
    gc.collect()
    size = ctypes.sizeof(libraries._Method)
    filled = [ctypes.create_string_buffer(b"\xff" * size, size) for _ in range(500)]  # freed memory
    assert all(each is not None and each(np.arange(5)) for each in functions)
    assert len(filled) == 500


_AT_THE_END = """
import ctypes, gc, sys
import numpy as np
from lftj.scantree.jit import library as libraries
size = ctypes.sizeof(libraries._Method)
function = libraries.library().function("lftj.scantree.word_sort_kernels.ascending", print)
vars(libraries).clear()
gc.collect()
filled = [ctypes.create_string_buffer(b"x" * size, size) for _ in range(5000)]
assert function(np.arange(5)) and function.__name__ == "ascending"
"""


@pytest.mark.skipif(library() is None, reason="no library fits this machine")
def test_functions_outlive_the_module_as_when_a_process_ends() -> None:
    ended = subprocess.run([sys.executable, "-c", _AT_THE_END], cwd=ROOT, capture_output=True)
    assert ended.returncode == 0, ended.stderr.decode()


def test_a_library_that_is_not_whole_is_told_from_one_that_is(tmp_path: Path) -> None:
    path = tmp_path / "kernels.so"
    assert not whole(path)
    content = sealed(b"machine code" * 100)
    path.write_bytes(content)
    assert whole(path)
    for damaged in (content[:-1], content[1:], b"", b"x" + content[1:]):
        path.write_bytes(damaged)
        assert not whole(path)


def test_what_is_no_object_is_not_linked() -> None:
    with pytest.raises(LinkError, match="no relocatable object"):
        link([b"something else" * 10], "kernels.so")


def test_older_names_of_features_tell_the_level() -> None:
    assert libraries._level_3({"AVX2": True, "FMA3": True})
    assert not libraries._level_3({"AVX2": True})


IMPORTING = """
import sys

class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name in sys.argv[1:]:
            raise ModuleNotFoundError(f"{name} is no requirement of the build")

sys.meta_path.insert(0, Refusing())
from lftj.engine.machine_code.kernel_library import kernel_lines
from lftj.scantree.jit import object_code
for line in kernel_lines():
    object_code._found(line)
"""


def test_the_requirements_of_the_build_are_all_that_compiling_imports() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    required, others = (
        {re.split(r"[^\w-]", each)[0] for each in names}
        for names in (project["build-system"]["requires"], project["project"]["dependencies"])
    )
    run = subprocess.run(
        [sys.executable, "-c", IMPORTING, *(others - required)],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert (run.returncode, run.stderr) == (0, "")
