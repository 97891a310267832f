# SPDX-License-Identifier: Apache-2.0
"""Objects of a store, with a folder as their cache on this machine.

An object is written once, under a name that nobody gives again, so a file that is in the cache is
what its object is. Only what is created is read from the store each time. A request that fails is
made again; one that creates, and whose answer is lost, finds out whether the object is its own.
"""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from lftj.distributed.objects.mounts import Mounted, UnknownOutcomeError
from lftj.errors import MissingDependencyError

Result = TypeVar("Result")

_CLIENT = ("allow_http", "connect_timeout", "proxy_url", "read_timeout", "timeout", "user_agent")
"""Options that are of the client, and not of the store."""
_PAUSES = (0.1, 0.4, 1.6, 3.2)
"""Seconds before a request is made again that failed as often as the client makes it."""
_AT_ONCE = 8  # requests
_CLOCK = 600.0  # seconds for which the store's clock is not asked again
_RETRIES = {
    "max_retries": 2,
    "backoff": {"init_backoff": timedelta(seconds=0.05), "max_backoff": timedelta(seconds=1)},
    "retry_timeout": timedelta(seconds=30),
}


class ObjectStore:
    """A `FileStore` of objects below an address."""

    shared = False

    def __init__(self, mounted: Mounted):
        self._mounted = mounted
        self._process = os.getpid()
        self._client_made: Any = None
        self._lock = threading.Lock()
        self._clock: tuple[float, float] | None = None
        """The moment at which the store's clock was read, and the time that it showed."""

    # ── files that are created ────────────────────────────────────────────────────────────────────
    def read(self, file: Path) -> bytes:
        """See `FileStore`."""
        return self._asked(lambda: self._get(self._name(file)))

    def create(self, file: Path, content: bytes) -> None:
        """See `FileStore`. Contents differ, so that who finds the same knows that it is its own."""
        name, api = self._name(file), self._api()
        reason: Exception | None = None
        for pause in (0.0, *_PAUSES):
            time.sleep(pause)
            try:
                api.put(self._client(), name, content, mode="create")
            except (api.exceptions.AlreadyExistsError, api.exceptions.PreconditionError):
                if self.read(file) == content:
                    return
                raise FileExistsError(f"{self._mounted.address}/{name} is there") from None
            except api.exceptions.BaseError as failed:
                reason = failed
            else:
                return
        raise UnknownOutcomeError(
            f"{self._mounted.address}/{name}: it is not known whether it was made: {reason}"
        ) from reason

    def exists(self, file: Path) -> bool:
        """See `FileStore`."""
        try:
            self._asked(lambda: self._api().head(self._client(), self._name(file)))
        except FileNotFoundError:
            return False
        return True

    # ── files that are written once ───────────────────────────────────────────────────────────────
    def publish(self, files: Iterable[Path]) -> None:
        """See `FileStore`."""
        self._each(lambda file: self._put(file, file.read_bytes()), list(files))

    def fetch(self, file: Path) -> None:
        """See `FileStore`. What is fetched again is young again."""
        try:
            os.utime(file)
        except FileNotFoundError:
            content = self.read(file)
            file.parent.mkdir(parents=True, exist_ok=True)
            waiting = file.with_name(f"{file.name}.{uuid4().hex}.tmp")
            try:
                waiting.write_bytes(content)
                os.replace(waiting, file)
            except BaseException:
                with suppress(OSError):
                    waiting.unlink()
                raise

    def put_all(self, contents: Sequence[tuple[Path, bytes]]) -> None:
        """See `FileStore`."""
        self._each(lambda each: self._put(*each), contents)

    def get_all(self, files: Sequence[Path]) -> list[bytes]:
        """See `FileStore`."""
        return self._each(self.read, files)

    def _put(self, file: Path, content: bytes) -> None:
        self._asked(lambda: self._api().put(self._client(), self._name(file), content))

    # ── names ─────────────────────────────────────────────────────────────────────────────────────
    def names(self, folder: Path, prefix: str = "", suffix: str = "") -> set[str]:
        """See `FileStore`."""
        found = (name for name, _ in self._in(folder))
        return {name for name in found if name.startswith(prefix) and name.endswith(suffix)}

    def ages(self, folder: Path) -> dict[str, float]:
        """See `FileStore`."""
        written = dict(self._in(folder))
        now = self._now() if written else 0.0
        return {name: now - then for name, then in written.items()}

    def _now(self) -> float:
        """The time by the store's clock, which the store notes with each object. It is read once in
        some minutes.
        """
        if self._clock is None or time.monotonic() > self._clock[0] + _CLOCK:
            api, client = self._api(), self._client()
            self._asked(lambda: api.put(client, "clock", b""))
            written = self._asked(lambda: api.head(client, "clock"))["last_modified"].timestamp()
            self._clock = time.monotonic(), written
        return self._clock[1] + time.monotonic() - self._clock[0]

    def _in(self, folder: Path) -> Iterator[tuple[str, float]]:
        """The objects in a folder, without those in folders below."""
        below = self._name(folder)
        for name, written in self.listed("" if below == "." else below):
            if "/" not in (own := name.removeprefix(f"{below}/")):
                yield own, written

    def listed(self, within: str) -> list[tuple[str, float]]:
        """The names of all objects below a name, each with the time at which it was written."""

        def all_pages() -> list[tuple[str, float]]:
            pages = self._api().list(self._client(), within or None)
            return [
                (each["path"], each["last_modified"].timestamp()) for page in pages for each in page
            ]

        return self._asked(all_pages)

    def remove(self, files: Iterable[Path]) -> None:
        """See `FileStore`."""
        given = list(files)
        for file in given:
            file.unlink(missing_ok=True)
        self.delete([self._name(file) for file in given])

    def delete(self, names: Sequence[str]) -> None:
        """Remove objects; those that are gone are passed over."""
        if names:
            with suppress(FileNotFoundError):
                self._asked(lambda: self._api().delete(self._client(), list(names)))

    def copy(self, file: Path, name: Path) -> None:
        """See `FileStore`."""
        self._asked(lambda: self._api().copy(self._client(), self._name(file), self._name(name)))

    def clear(self, folder: Path) -> None:
        """See `FileStore`."""
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            self.delete([name for name, _ in self.listed(self._name(folder))])

    # ── requests ──────────────────────────────────────────────────────────────────────────────────
    def _name(self, file: Path) -> str:
        return file.relative_to(self._mounted.folder).as_posix()

    def _get(self, name: str) -> bytes:
        return bytes(self._api().get(self._client(), name).bytes())

    def _asked(self, request: Callable[[], Result]) -> Result:
        """The result of a request, made again where it fails. Raises OSError."""
        exceptions = self._api().exceptions
        lasting = exceptions.PermissionDeniedError, exceptions.UnauthenticatedError
        for pause in (*_PAUSES, None):
            try:
                return request()
            except exceptions.BaseError as reason:
                if pause is None or isinstance(reason, lasting):
                    said = str(reason).split("\n")[0]
                    raise OSError(f"{self._mounted.address}: {said}") from reason
                time.sleep(pause)
        raise AssertionError("the last request returns or raises")

    def _each(self, work: Callable[[Any], Result], given: Sequence[Any]) -> list[Result]:
        """The results for all that is given, some at once."""
        if len(given) < 2:
            return [work(each) for each in given]
        with ThreadPoolExecutor(min(_AT_ONCE, len(given))) as pool:
            return list(pool.map(work, given))

    @staticmethod
    def _api() -> Any:
        try:
            import obstore.exceptions
        except ModuleNotFoundError:
            raise MissingDependencyError.of("obstore", "it reads object stores") from None
        return obstore

    def _client(self) -> Any:
        """The client, made when it is first used. Its threads are in the process that made it."""
        if self._process != os.getpid():
            raise OSError(
                f"{self._mounted.address} was opened by the process that this one was forked from"
            )
        with self._lock:
            if self._client_made is None:
                self._client_made = _made_client(self._mounted)
        return self._client_made


def _made_client(mounted: Mounted) -> Any:
    from obstore import store

    from_url: Any = store.from_url  # its options are those of all kinds of stores
    options = dict(mounted.address.options)
    client: dict[str, Any] = {name: options.pop(name) for name in _CLIENT if name in options}
    if "allow_http" in client or options.get("endpoint", "").startswith("http:"):
        client["allow_http"] = client.get("allow_http", "true").lower() == "true"
    return from_url(mounted.address.url, client_options=client, retry_config=_RETRIES, **options)
