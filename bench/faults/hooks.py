"""Every call of this process that changes a file, seen and perhaps refused: those of `os`, and
those of SQLite, whose file methods are wrapped in place.

SQLite's own tests replace its file system the same way. Calls that write through a buffer of
Python's are seen where the file is opened, synced and renamed.
"""

from __future__ import annotations

import _sqlite3
import ctypes
import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch


class Call(NamedTuple):
    """A call about to be made: `kind` is open, write, truncate, sync, rename, unlink or mkdir;
    `name` the file, `other` the name that it gets, `place` the offset or size.
    """

    kind: str
    name: str
    place: int = 0
    content: bytes = b""
    other: str = ""
    by_sqlite: bool = False


class Watcher:
    """Calls come here. `before` may raise OSError: then the call is not made."""

    def before(self, call: Call) -> None:
        """Look at a call that will be made."""

    def after(self, call: Call) -> None:
        """Look at a call that was made."""


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Within, calls of any thread go by a watcher."""

    def seen(call: Call, make: Callable[[], Any]) -> Any:
        watcher.before(call)
        result = make()
        watcher.after(call)
        return result

    with patch.multiple(os, **_python_calls(seen)), _sqlite_calls(seen):
        yield


def _name(file: int) -> str:
    return os.readlink(f"/proc/self/fd/{file}")


def _python_calls(seen: Callable[[Call, Callable[[], Any]], Any]) -> dict[str, Any]:
    real = {
        name: getattr(os, name)
        for name in ("open", "pwrite", "ftruncate", "fsync", "replace", "unlink", "mkdir")
    }

    def opened(path: Any, flags: int, *more: Any, **named: Any) -> int:
        def make() -> int:
            return real["open"](path, flags, *more, **named)

        if not flags & os.O_CREAT or named.get("dir_fd") is not None:
            return make()
        return seen(Call("open", os.fspath(path), flags & os.O_TRUNC), make)

    def written(file: int, content: Any, place: int) -> int:
        call = Call("write", _name(file), place, bytes(content))
        return seen(call, lambda: real["pwrite"](file, content, place))

    def truncated(file: int, size: int) -> None:
        seen(Call("truncate", _name(file), size), lambda: real["ftruncate"](file, size))

    def synced(file: int) -> None:
        seen(Call("sync", _name(file)), lambda: real["fsync"](file))

    def replaced(source: Any, target: Any, **named: Any) -> None:
        call = Call("rename", os.fspath(source), other=os.fspath(target))
        seen(call, lambda: real["replace"](source, target, **named))

    def unlinked(path: Any, **named: Any) -> None:
        seen(Call("unlink", os.fspath(path)), lambda: real["unlink"](path, **named))

    def made(path: Any, *more: Any, **named: Any) -> None:
        seen(Call("mkdir", os.fspath(path)), lambda: real["mkdir"](path, *more, **named))

    functions = (opened, written, truncated, synced, replaced, unlinked, made)
    return dict(zip(real, functions, strict=True))


# ── SQLite ────────────────────────────────────────────────────────────────────────────────────────
_Pointer = ctypes.c_void_p
_OPEN = ctypes.CFUNCTYPE(
    ctypes.c_int, _Pointer, _Pointer, _Pointer, ctypes.c_int, ctypes.POINTER(ctypes.c_int)
)
_DELETE = ctypes.CFUNCTYPE(ctypes.c_int, _Pointer, ctypes.c_char_p, ctypes.c_int)
_WRITE = ctypes.CFUNCTYPE(ctypes.c_int, _Pointer, _Pointer, ctypes.c_int, ctypes.c_int64)
_TRUNCATE = ctypes.CFUNCTYPE(ctypes.c_int, _Pointer, ctypes.c_int64)
_SYNC = ctypes.CFUNCTYPE(ctypes.c_int, _Pointer, ctypes.c_int)
_FULL, _CANNOT_OPEN = 13, 14
_FAILED = {"write": 778, "sync": 1034, "truncate": 1546, "unlink": 2570, "open": _CANNOT_OPEN}
_METHODS = 19  # the version, and pointers, of SQLite's table of a file's methods
_METHOD_WRITE, _METHOD_TRUNCATE, _METHOD_SYNC = 3, 4, 5
_SHIM_OPEN, _SHIM_DELETE = 5, 6  # words from the start of SQLite's table of a file system


class _Refused(Exception):
    """SQLite's own code of a call that failed."""

    def __init__(self, code: int):
        super().__init__(code)
        self.code = code


@contextmanager
def _sqlite_calls(seen: Callable[[Call, Callable[[], Any]], Any]) -> Iterator[None]:
    library = ctypes.CDLL(_sqlite3.__file__)
    library.sqlite3_vfs_find.restype = _Pointer
    system = ctypes.cast(library.sqlite3_vfs_find(None), ctypes.POINTER(_Pointer))
    wrapped = _Files(system, seen)
    before = system[_SHIM_OPEN], system[_SHIM_DELETE]
    for place, function in ((_SHIM_OPEN, wrapped.open), (_SHIM_DELETE, wrapped.delete)):
        system[place] = ctypes.cast(function, _Pointer).value
    _ALIVE.append(wrapped)  # files that are open have pointers to its functions
    try:
        yield
    finally:
        system[_SHIM_OPEN], system[_SHIM_DELETE] = before
        wrapped.seen = lambda call, make: make()


_ALIVE: list[_Files] = []


class _Files:
    """Functions that SQLite calls in the place of its own."""

    def __init__(self, system: Any, seen: Callable[[Call, Callable[[], Any]], Any]):
        self.seen = seen
        self._names: dict[int, str] = {}
        self._tables: dict[int, Any] = {}
        real_open = _OPEN(system[_SHIM_OPEN])
        real_delete = _DELETE(system[_SHIM_DELETE])

        def opened(vfs: int, name: int | None, file: int, flags: int, out: Any) -> int:
            if not name:
                return real_open(vfs, name, file, flags, out)
            path = os.fsdecode(ctypes.string_at(name))
            code = self._call(
                Call("open", path, by_sqlite=True), lambda: real_open(vfs, name, file, flags, out)
            )
            if code == 0:
                self._names[file] = path
                self._wrap(file)
            elif code == _CANNOT_OPEN:
                ctypes.cast(file, ctypes.POINTER(_Pointer))[0] = None
            return code

        def deleted(vfs: int, name: bytes, sync: int) -> int:
            path = os.fsdecode(name)

            def make() -> int:
                code = real_delete(vfs, name, sync)
                if code == 0 and sync:
                    self.seen(Call("sync", os.path.dirname(path)), lambda: None)
                return code

            if not os.path.exists(path):
                return real_delete(vfs, name, sync)
            return self._call(Call("unlink", path, by_sqlite=True), make)

        self.open, self.delete = _OPEN(opened), _DELETE(deleted)

    def _call(self, call: Call, make: Callable[[], int]) -> int:
        def checked() -> int:
            if code := make():
                raise _Refused(code)
            return 0

        try:
            return self.seen(call, checked)
        except _Refused as refused:
            return refused.code
        except OSError as reason:
            full = reason.errno == errno.ENOSPC and call.kind == "write"
            return _FULL if full else _FAILED[call.kind]

    def _wrap(self, file: int) -> None:
        """Give an open file methods of ours: a copy of its own, with three others."""
        held = ctypes.cast(file, ctypes.POINTER(_Pointer))
        own = held[0]
        if own is None:
            return
        if own not in self._tables:
            self._tables[own] = self._table(own)
        held[0] = ctypes.addressof(self._tables[own][0])

    def _table(self, own: int) -> Any:
        methods = (_Pointer * _METHODS).from_buffer_copy(ctypes.string_at(own, 8 * _METHODS))
        write, truncate, sync = (
            kind(methods[place])
            for kind, place in (
                (_WRITE, _METHOD_WRITE),
                (_TRUNCATE, _METHOD_TRUNCATE),
                (_SYNC, _METHOD_SYNC),
            )
        )

        def written(file: int, content: int, size: int, place: int) -> int:
            call = Call(
                "write", self._names[file], place, ctypes.string_at(content, size), by_sqlite=True
            )
            return self._call(call, lambda: write(file, content, size, place))

        def truncated(file: int, size: int) -> int:
            call = Call("truncate", self._names[file], size, by_sqlite=True)
            return self._call(call, lambda: truncate(file, size))

        def synced(file: int, flags: int) -> int:
            call = Call("sync", self._names[file], by_sqlite=True)
            return self._call(call, lambda: sync(file, flags))

        functions = _WRITE(written), _TRUNCATE(truncated), _SYNC(synced)
        for place, function in zip(
            (_METHOD_WRITE, _METHOD_TRUNCATE, _METHOD_SYNC), functions, strict=True
        ):
            methods[place] = ctypes.cast(function, _Pointer).value
        return methods, functions, (write, truncate, sync)
