# SPDX-License-Identifier: Apache-2.0
"""Programs as files below a path, each under its digest, so that tasks name their program and do
not carry it.

A file holds what its name says, so whoever finds one there needs no other, and two drivers that
write the same one do no harm. A worker reads it once, when it first meets the name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lftj.distributed.files.manifest import is_overtaken, overtaken
from lftj.distributed.objects.file_store import store_of
from lftj.distributed.partitioning.programs import digest
from lftj.errors import DistributedError
from lftj.frames import whole_file
from lftj.storage.durable import sealed, unsealed

PROGRAMS = "programs"
"""The folder of the files, below the path."""
_UNUSED = 3600.0
"""Seconds after which a file of a program that no version has is of no use: the commit that would
have added it is over.
"""


def stored_program(path: Path, program: Mapping[str, Any]) -> str:
    """The name by which tasks find a program below a path; its file is there, and whole, from now
    on.
    """
    name, content = digest(program), sealed(program)
    file = _file(path, name)
    if not file.exists() or file.read_bytes() != content:
        file.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(file) as sink:
            sink.write(content)
    if not (store := store_of(path)).exists(file):
        store.publish([file])
    return name


def read_program(path: Path, name: str, epoch: int) -> dict[str, Any]:
    """The program of a name, for a task of an epoch. Raises DistributedError (E403) where its file
    is gone or damaged, (E406) where another driver has gone on.
    """
    file = _file(path, name)
    try:
        store_of(path).fetch(file)
        program = unsealed(file.read_bytes())
    except FileNotFoundError:
        raise (overtaken(path) if is_overtaken(path, epoch) else _lost(file, "missing")) from None
    except ValueError as reason:
        raise _lost(file, f"damaged: {reason}") from None
    if digest(program) != name:
        raise _lost(file, "damaged: it holds another program")
    return program


def _lost(file: Path, how: str) -> DistributedError:
    hint = "do it once more: each commit writes the file where it is not there"
    return DistributedError(f"{file} is {how}", code="E403", hint=hint)


def sweep_programs(path: Path, program: Mapping[str, Any]) -> None:
    """Remove the files of programs but one, as far as they are not new."""
    kept, store = _file(path, digest(program)), store_of(path)
    ages = store.ages(kept.parent).items()
    old = {name for name, age in ages if age >= _UNUSED} - {kept.name}
    store.remove([kept.parent / name for name in old])


def _file(path: Path, name: str) -> Path:
    return path / PROGRAMS / f"{name}.json"
