# SPDX-License-Identifier: Apache-2.0
"""The files of stored states as objects: what was appended to a file since is one object more.

A record names, of each file that it needs, the stretches and their objects, whose names have a
digest of what they hold. So what a commit changed is what is sent, and a machine that opens a part
fetches what its own copies of the files lack. Files grow at their end, so a copy is as long as what
it has. Heads of strings, which are written anew, are in the record; checksums of blocks are
computed where a file is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from lftj.distributed.objects.file_store import store_of
from lftj.distributed.stored.storing import one_at_a_time
from lftj.storage.durable import (
    appended_sizes,
    owner_of,
    read_stretch,
    require_own_homes,
    size_of,
    take_head,
    write_stretch,
)

PAGES = "pages"
"""The folder of the objects, below the path; each owner of files has one in it."""
_LOCK = "fetching"

Stretch = tuple[int, int, str]
"""The first byte, the one after the last, and the object."""


def objects_in(record: Mapping[str, Any]) -> set[str]:
    """The objects that a record needs, by owner and name."""
    files = record.get("objects", {}).get("files", ())
    return {name for _, stretches in files for *_, name in stretches}


class StateObjects:
    """Objects of the files in one folder of states, as far as this process knows of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, list[Stretch]] = {}

    # ── writing ───────────────────────────────────────────────────────────────────────────────────
    def published(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Make objects of all that a record's files have and no object; what the record has to say
        of it. Nothing where all see the folder. Raises OSError.
        """
        store = store_of(self._folder)
        if store.shared:
            return {}
        sizes, heads = appended_sizes(self._folder, record)
        self._forget_lost({owner_of(file) for file in sizes})
        new: dict[str, bytes] = {}
        for file, size in sizes.items():
            stretches = self._known.setdefault(file, [])
            first = stretches[-1][1] if stretches else 0
            if size > first:
                content = read_stretch(self._folder / file, first, size)
                name = f"{owner_of(file)}/{file}.{first}-{size}.{_digest(content)}"
                new[name] = content
                self._known[file] = [*stretches, (first, size, name)]
        try:
            store.put_all([(self._object(name), content) for name, content in new.items()])
        except BaseException:
            self._forget(new)
            raise
        return {"files": [(file, self._known[file]) for file in sizes], "heads": heads}

    def _object(self, name: str) -> Path:
        return self._folder.parent / PAGES / name

    def _forget_lost(self, owners: Iterable[str]) -> None:
        """Forget files of which somebody removed an object: they are written again."""
        store = store_of(self._folder)
        there = {
            f"{owner}/{name}"
            for owner in owners
            for name in store.names(self._folder.parent / PAGES / owner)
        }
        named = {
            name
            for file, stretches in self._known.items()
            if owner_of(file) in owners
            for *_, name in stretches
        }
        self._forget({name for name in named - there if not store.exists(self._object(name))})

    def _forget(self, names: Iterable[str]) -> None:
        lost = set(names)
        for file, stretches in list(self._known.items()):
            if lost.intersection(name for *_, name in stretches):
                del self._known[file]

    # ── reading ───────────────────────────────────────────────────────────────────────────────────
    def fetch(self, record: Mapping[str, Any]) -> None:
        """Have all files of a record here. O(what they lack). Raises OSError, also for files whose
        homes here are those of others, and ValueError for what nobody wrote.
        """
        if store_of(self._folder).shared:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        files = {
            file: [tuple(each) for each in found] for file, found in record["objects"]["files"]
        }
        require_own_homes(self._folder, files)
        with one_at_a_time(self._folder / _LOCK):
            self._fetch(files)
            for name, head in record["objects"]["heads"].items():
                take_head(self._folder, name, head)
        for file, stretches in files.items():
            if len(stretches) > len(self._known.get(file, ())):
                self._known[file] = stretches

    def _fetch(self, files: Mapping[str, list[Any]]) -> None:
        lacking = [
            (self._folder / file, first, name)
            for file, stretches in files.items()
            for first, last, name in stretches
            if last > size_of(self._folder / file)
        ]
        contents = store_of(self._folder).get_all([self._object(name) for *_, name in lacking])
        for (file, first, name), content in zip(lacking, contents, strict=True):
            if not name.endswith(_digest(content)):
                raise ValueError(f"{name} is not what was written")
            write_stretch(file, first, content)
        for file in files:
            (self._folder / file).touch()


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()
