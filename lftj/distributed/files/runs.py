# SPDX-License-Identifier: Apache-2.0
"""Runs: what many manifests added, each time together in one compressed file.

The log of changes is kept as a log-structured merge tree keeps its rows [O'Neil et al. 1996]:
additions are summed to a run after every few manifests, and runs of one level to one of the next as
soon as there are several of them. So what a commit added is written once more for each eightfold
growth of the log, and a manifest is read from a number of runs that grows with the logarithm.

A run is written before the manifest that names it, under a name that has that manifest's number. So
of runs with numbers of manifests that are there, those that no manifest names are named by none
later, and may go.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from lftj.distributed.objects.file_store import store_of
from lftj.frames import whole_file
from lftj.scantree import frozen
from lftj.storage.durable import sealed, unsealed

RUNS = "log"
"""The folder of the runs, below the path."""
SUMMED = 16
"""Manifests whose additions are summed to a run."""
_MERGED = 8
"""Runs of one level that are merged: with more of them less is written, and more files are
read.
"""
_SUFFIX, _SUFFIX_BEFORE = ".json.zst", ".json.gz"
NOT_READ = (ValueError, EOFError, zlib.error, gzip.BadGzipFile)
"""Errors of a damaged run."""
_MARK = 12  # digits of a manifest's mark in the names of runs, which every later root repeats
_CODEC, _LEVEL = "zstd", 19


@frozen(slots=True)
class Run:
    """A run, by name, and its level: a run of a level is merged from that many of the one below."""

    name: str
    level: int = 0


def run_name(epoch: int, mark: str) -> str:
    """The name of the run that the manifest of a number and a mark is the first to name."""
    return f"{epoch}-{mark[:_MARK]}"


def level_of(entries: int) -> int:
    """The level of a run that has a whole manifest of so many entries."""
    level = 0
    while entries >= SUMMED * _MERGED:
        level, entries = level + 1, entries // _MERGED
    return level


def merged(runs: Sequence[Run], added: Run) -> tuple[Run, ...]:
    """The runs once one more has come. Where it was merged with some, the last one has its name."""
    found = [*runs, added]
    while len(found) >= _MERGED and {run.level for run in found[-_MERGED:]} == {found[-1].level}:
        found[-_MERGED:] = [Run(added.name, found[-1].level + 1)]
    return tuple(found)


def summed(contents: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Sum additions, as manifests have them, or a whole content and additions."""
    total: dict[str, Any] = {}
    for content in contents:
        log = total.setdefault("log", {})
        for name, entries in content["log"].items():
            log.setdefault(name, []).extend(entries)
        for name, said in content.items():
            if name in ("counts", "tokens", "batches", "steps"):
                total.setdefault(name, {}).update(said)
            elif name != "log":
                total[name] = said
    return total


def packed(content: dict[str, Any]) -> bytes:
    """Content as compressed JSON with its checksum. Names of files are most of it, so what is saved
    by a slow compression is a third, for each time that a run is merged.
    """
    return pa.Codec(_CODEC, _LEVEL).compress(sealed(content), asbytes=True)


def unpacked(found: bytes) -> dict[str, Any]:
    """The content again. Raises what `NOT_READ` names where it is damaged."""
    try:
        with pa.CompressedInputStream(pa.BufferReader(found), _CODEC) as stream:
            content = stream.read()
    except OSError as reason:  # of what is no such stream, and no error of the system
        raise ValueError(str(reason)) from None
    return unsealed(content)


def write_run(path: Path, name: str, content: dict[str, Any]) -> None:
    """Write a run, and sync. Raises OSError."""
    file = _file(path, name)
    file.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(file) as sink:
        sink.write(packed({**content, "log": _renamed(content, shorter=True)}))
    store_of(file).publish([file])


def read_runs(path: Path, names: Sequence[str], *, before: bool = False) -> list[dict[str, Any]]:
    """The contents of runs; `before`: as they were written before format 6. Raises
    FileNotFoundError where one is gone, and what `NOT_READ` names where one is damaged.
    """
    suffix = _SUFFIX_BEFORE if before else _SUFFIX
    found = store_of(path).get_all([_file(path, name, suffix) for name in names])
    if before:
        return [unsealed(gzip.decompress(each)) for each in found]
    contents = [unpacked(each) for each in found]
    return [{**each, "log": _renamed(each, shorter=False)} for each in contents]


def _renamed(content: dict[str, Any], *, shorter: bool) -> dict[str, Any]:
    """The log of a content, with names of files that begin with the version and token of a commit
    without these, or with them again.
    """
    log, tokens = dict[str, Any](), content["tokens"]
    for name, entries in content["log"].items():
        log[name] = []
        for entry in entries:
            own = f"{entry['version']}-{tokens.get(str(entry['version']))}"
            old, new = (f"{own}-", "-") if shorter else ("-", f"{own}-")
            pieces = [
                [new + file.removeprefix(old) if file.startswith(old) else file, *rest]
                for file, *rest in entry["pieces"]
            ]
            log[name].append({**entry, "pieces": pieces})
    return log


def remove_runs(path: Path, epoch: int, named: Iterable[str]) -> None:
    """Remove runs with numbers up to that of a manifest that is there, but those that are named."""
    store, kept = store_of(path), set(named)
    for suffix in (_SUFFIX, _SUFFIX_BEFORE):
        found = {name.removesuffix(suffix) for name in store.names(path / RUNS, suffix=suffix)}
        store.remove(
            _file(path, name, suffix)
            for name in found - kept
            if int(name.partition("-")[0]) <= epoch
        )


def half_runs(path: Path) -> set[Path]:
    """The files that a writer left that died."""
    return set((path / RUNS).glob("*.tmp"))


def _file(path: Path, name: str, suffix: str = _SUFFIX) -> Path:
    return path / RUNS / f"{name}{suffix}"
