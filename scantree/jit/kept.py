# SPDX-License-Identifier: Apache-2.0
"""Numba's cache on disk, in our directory and whatever folder the sources are in.

By itself Numba keeps a function in a folder named after the path of its source, so that two
installations of the same sources compile everything twice. Here the directory stands for the
sources (`lftj.scantree.jit.directory`), and a file in it is named after the module.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from numba.core import caching

from lftj.scantree.jit.directory import cache_directory

_FunctionCache: Any = caching.FunctionCache
_Implementation: Any = caching.CompileResultCacheImpl
_FromSource: Any = caching.UserProvidedCacheLocator


class _Locator(_FromSource):
    """The place of one kernel's files: named by module and line, stamped with the content of the
    source file.
    """

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file, self._lineno = file, function.__code__.co_firstlineno
        self._module = hashlib.sha256(function.__module__.encode()).hexdigest()[:8]
        self._cache_path = str(cache_directory())

    def get_disambiguator(self) -> str:
        """Part of the file's name: two modules may have the same last name."""
        return f"{self._module}-{self._lineno}"

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> Any:
        """Make one for Numba, whose own way looks for other folders."""
        return cls(py_func, py_file)


class _KernelImplementation(_Implementation):
    _locator_classes = (_Locator,)


class KernelCache(_FunctionCache):
    """The cache of one kernel. What cannot be kept, where the disc is full, say, works all the
    same; what is damaged is made again.
    """

    _impl_class = _KernelImplementation

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """As Numba's, and None for what cannot be read."""
        try:
            return super().load_overload(sig, target_context)
        except MemoryError:
            raise
        except Exception:  # reading a damaged pickle may raise anything
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """As Numba's, where there is room."""
        with suppress(OSError):
            super().save_overload(sig, data)
