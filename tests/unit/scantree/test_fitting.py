"""Kernels called with arrays of layouts, elements and tuples that no machine code takes: they
answer the same without Numba, and what they write arrives.
"""

from __future__ import annotations

import ast
import importlib
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lftj.engine.machine_code.kernel_library import kernel_lines
from lftj.maintenance.separable.walk_kernels import Graph
from lftj.scantree.jit.decorators import Kernel
from lftj.scantree.jit.fitting import ARRAYS, call_fitted
from lftj.scantree.jit.kinds import _KINDS
from lftj.scantree.jit.library import library
from lftj.scantree.packing_kernels import sum_equal
from lftj.scantree.word_sort_kernels import ascending, sort_digits
from tests.unit.scantree.fresh_processes import ROOT

needs_library = pytest.mark.skipif(library() is None, reason="no library fits this machine")


@pytest.fixture(autouse=True)
def no_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that would be compiled fails."""

    def refuse(*arguments: Any, **named: Any) -> None:
        raise AssertionError("Numba was asked for")

    monkeypatch.setattr(Kernel, "_by_numba", refuse)


def _layouts(array: np.ndarray) -> Iterator[np.ndarray]:
    """The same numbers, as arrays may hold them."""
    spread = np.zeros([2 * size for size in array.shape], array.dtype)
    spread[tuple(slice(None, None, 2) for _ in array.shape)] = array
    bytes_before = np.zeros(array.nbytes + 1, np.uint8)
    unaligned = bytes_before[1:].view(array.dtype).reshape(array.shape)
    unaligned[...] = array
    read_only = array.copy()
    read_only.flags.writeable = False
    yield array.copy()
    yield spread[tuple(slice(None, None, 2) for _ in array.shape)]
    yield np.flip(np.flip(array).copy())
    yield array.copy(order="F")
    yield unaligned
    yield read_only
    yield array.astype(array.dtype.newbyteorder())
    yield array.copy().view(np.recarray)
    if np.array_equal(array, array.astype(np.int32)):
        yield array.astype(np.int32)


@needs_library
@pytest.mark.parametrize("words", [[], [3], [1, 2, 2, 9], [4, -1, 7, 7, 0]])
def test_every_layout_is_read(words: list[int]) -> None:
    for given in _layouts(np.array(words, np.int64)):
        assert ascending(given) == (sorted(words) == words), given.dtype


@needs_library
def test_what_a_kernel_writes_arrives_in_every_layout() -> None:
    words = np.random.default_rng(3).integers(0, 1 << 30, 500)
    for given in _layouts(words):
        if given.flags.writeable:
            sort_digits(given, np.empty_like(given), 0, 8, 8)
            assert given.tolist() == sorted(words.tolist()), given.dtype
        else:
            sort_digits(given, np.empty(given.size, np.int64), 0, 8, 8)
            assert given.tolist() == words.tolist()  # whoever gave it did not want it written


@needs_library
def test_rows_of_every_layout_are_read() -> None:
    rows = np.random.default_rng(4).integers(-9, 9, (3, 40))
    expected = sum_equal(rows.copy(), 1, True)
    for given in _layouts(rows):
        assert sum_equal(given, np.int32(1), np.True_) == expected
    assert sum_equal(rows, True, 1) == expected


@needs_library
def test_arrays_in_tuples_are_copied_and_written_back() -> None:
    fields = Graph(np.zeros(6, np.int64)[::2], np.arange(3))
    kind = f"{Graph.__module__}.Graph:W,W"
    answer = call_fitted(_echo_fields, [fields], [[kind]])
    assert answer is not None
    assert answer[1] == 1
    assert [each.tolist() for each in fields] == [[1, 1, 1], [1, 2, 3]]
    assert type(answer[0]) is Graph


def _echo(*arguments: Any) -> Any:
    for each in arguments:
        if isinstance(each, np.ndarray):
            each += 1
    return arguments


def _echo_fields(fields: Graph) -> Graph:
    _echo(*fields)
    return fields


def test_the_signature_that_needs_the_fewest_copies_is_taken() -> None:
    table = np.zeros(4, np.uint32)
    answer = call_fitted(_echo, [table], [["W"], ["U32"]])
    assert answer is not None
    assert answer[1] == 0
    assert table.tolist() == [1] * 4


def test_what_fits_nothing_is_told() -> None:
    unfit: list[Any] = [
        np.zeros(2), np.zeros(2, np.uint64), np.zeros((2, 2), np.int64), [1, 2], None, 5, "x",
    ]  # fmt: skip
    for each in unfit:
        assert call_fitted(_echo, [each], [["W"]]) is None
    assert call_fitted(_echo, [], [["W"]]) is None
    assert call_fitted(_echo, [(1, 2)], [["tuple:i,i,i"]]) is None
    assert call_fitted(_echo, [Graph(*[np.arange(2)] * 2)], [["tuple:W,W"]]) is None
    assert call_fitted(_echo, [1.5], [["i"]]) is None


def test_numbers_that_have_no_room_are_an_error() -> None:
    def write(words: np.ndarray) -> None:
        words[0] = 1 << 40

    with pytest.raises(OverflowError, match="int32"):
        call_fitted(write, [np.zeros(2, np.int32)], [["W"]])


@needs_library
def test_copies_are_told_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="lftj"):
        ascending(np.arange(6)[::2])
    assert "1 arrays were copied for lftj.scantree.word_sort_kernels.ascending" in caplog.text


# ── what the library holds ────────────────────────────────────────────────────────────────────────
def _called_from_python() -> Iterator[tuple[str, str]]:
    """(module, name) of what modules without kernels take from modules of kernels."""
    for package in ("lftj", "sensitivity", "scantree", "partition"):
        for path in Path(ROOT, package).rglob("*.py"):
            if path.name.endswith("_kernels.py"):
                continue
            nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
            modules: dict[str, str] = {}
            for node in nodes:
                if isinstance(node, ast.ImportFrom) and (node.module or "").endswith("_kernels"):
                    yield from ((node.module or "", each.name) for each in node.names)
                elif isinstance(node, ast.ImportFrom):
                    modules |= {
                        each.asname or each.name: f"{node.module}.{each.name}"
                        for each in node.names
                        if each.name.endswith("_kernels")
                    }
            for node in nodes:
                if (
                    isinstance(node, ast.Attribute)
                    and isinstance(node.value, ast.Name)
                    and node.value.id in modules
                ):
                    yield modules[node.value.id], node.attr


def test_the_library_holds_every_kernel_that_python_calls() -> None:
    held = {tuple(line.split()[:2]) for line in kernel_lines()}
    called = set(_called_from_python())
    kernels = {
        (module, name)
        for module, name in called
        if isinstance(getattr(importlib.import_module(module), name), Kernel)
    }
    assert len(kernels) > 80
    assert kernels - held == set()


@needs_library
def test_the_library_tells_its_signatures() -> None:
    found = library()
    assert found is not None
    for line in kernel_lines():
        module, name, *kinds = line.split()
        assert kinds in found.signatures(f"{module}.{name}")


def test_every_kind_of_array_can_be_made() -> None:
    arrays = {name: kind for name, kind in _KINDS.items() if hasattr(kind, "layout")}
    assert {name: (str(kind.dtype), kind.ndim) for name, kind in arrays.items()} == ARRAYS
