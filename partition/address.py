# SPDX-License-Identifier: Apache-2.0
"""Addresses of object stores, and the folder in which a machine keeps what it read of one."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from urllib.parse import unquote

STORES = ("s3", "s3a", "gs", "az", "abfs", "abfss")
"""Kinds of addresses under which objects are stored."""
CACHE = "PARTITION_CACHE"
"""The variable of the environment that names the folder for all caches of a machine."""
_ADDRESS = re.compile(r"([A-Za-z][\w+.-]+):/")


class UnsupportedError(ValueError):
    """A kind of session, or a path, that cannot be used; nothing was started and nothing written.

    `subject`: "Spark Connect" or "address"; `hint`: a way without it.
    """

    def __init__(self, problem: str, subject: str, hint: str):
        super().__init__(f"{problem}: {hint}")
        self.problem, self.subject, self.hint = problem, subject, hint


@dataclass(frozen=True)
class Address:
    """Objects below an address, such as `s3://bucket/flights`; `options` for who reads them.

    `cache`: the folder for caches on this machine; where there is none, the variable
    `PARTITION_CACHE` names it, else it is one of the user's below the system's temporary folder.
    """

    url: str
    options: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    cache: str | None = None

    def __str__(self) -> str:
        return self.url

    @property
    def folder(self) -> Path:
        """The folder of this machine for what is read of the address. It may be emptied at any
        time at which no process uses it.
        """
        root = self.cache or os.environ.get(CACHE)
        if root is None:
            root = os.path.join(tempfile.gettempdir(), f"lftj-objects-{os.getuid()}")
        digest = blake2b(self.url.encode(), digest_size=12).hexdigest()
        return Path(root).absolute() / digest

    def below(self, name: str) -> Address:
        """The address of what is below a name."""
        return Address(f"{self.url}/{name}", self.options, self.cache)


def place_of(path: str | os.PathLike[str], options: Mapping[str, str] | None) -> Path | Address:
    """The folder or the address that a path names. Raises UnsupportedError for an address of
    another kind.
    """
    found = os.fspath(path)
    if found.startswith("file:///"):
        return Path(unquote(found.removeprefix("file://")))
    if (address := _ADDRESS.match(found)) is None:
        return Path(found).absolute()
    kind = address[1].lower()
    if kind not in STORES or isinstance(path, os.PathLike):  # a `Path` has lost a slash of it
        raise UnsupportedError(
            f"path={found!r} is an address ({address[1]}) of which no objects are read",
            "address",
            "give a folder that driver and executors see under one name, such as a mounted share, "
            f"or the address of an object store as text: {', '.join(STORES)}",
        )
    if kind == "s3a":  # Hadoop's name for the same
        found = found.replace(address[1], "s3", 1)
    return Address(found.rstrip("/"), tuple(sorted((options or {}).items())))
