# SPDX-License-Identifier: Apache-2.0
"""Manifests as JSON: whole, or as what one adds to the manifest before it.

A commit adds an entry or two to what may be a thousand. So most manifests are written as additions,
and who reads one goes back to the last that names the runs (`files.runs`) which have all the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lftj.distributed.files.entry import Entry
from lftj.distributed.files.manifest_files import Content
from lftj.types import read_name

if TYPE_CHECKING:
    from lftj.distributed.files.manifest import Manifest


# ── writing ───────────────────────────────────────────────────────────────────────────────────────
def whole_content(manifest: Manifest) -> Content:
    """All that a manifest says of its version."""
    return {
        "parts": manifest.parts,
        "version": manifest.version,
        "token": manifest.token,
        "program": manifest.program,
        **_lists(manifest.log, manifest.counts, manifest.tokens),
        "batches": manifest.batches,
        "steps": manifest.steps,
    }


def extends(after: Manifest, before: Manifest) -> bool:
    """Tell whether a manifest has all of another one, and is of the same program: what a commit of
    rows makes. O(entries).
    """
    if after.program is not before.program and after.program != before.program:
        return False
    kept = after.tokens.items() >= before.tokens.items() and all(
        after.steps.get(version) == done for version, done in before.steps.items()
    )
    held = all(
        after.log.get(name, ())[: len(entries)] == entries for name, entries in before.log.items()
    )
    same = (before.log, after.log), (before.counts, after.counts), (before.batches, after.batches)
    return kept and held and all(old.keys() <= new.keys() for old, new in same)


def added_content(before: Manifest, after: Manifest) -> Content:
    """Say what a manifest adds to one that it extends."""
    log = {
        name: entries[len(before.log.get(name, ())) :]
        for name, entries in after.log.items()
        if before.log.get(name) != entries
    }
    return {
        "parts": after.parts,
        "version": after.version,
        "token": after.token,
        **_lists(log, _new(before.counts, after.counts), _new(before.tokens, after.tokens)),
        "batches": _new(before.batches, after.batches),
        "steps": _new(before.steps, after.steps),
    }


def _new(before: Mapping[Any, Any], after: Mapping[Any, Any]) -> Content:
    """The values that are other ones, or of other keys."""
    return {key: value for key, value in after.items() if before.get(key) != value}


def _lists(
    log: Mapping[str, tuple[Entry, ...]], counts: Mapping[str, int], tokens: Mapping[Any, str]
) -> Content:
    return {
        "log": {name: [entry.to_json() for entry in entries] for name, entries in log.items()},
        "counts": counts,
        "tokens": {str(version): token for version, token in tokens.items()},
    }


# ── reading ───────────────────────────────────────────────────────────────────────────────────────
def whole_fields(content: Mapping[str, Any]) -> Content:
    """The fields of a manifest that is whole."""
    names = ("parts", "version", "token", "program", "batches")
    return {**{name: content[name] for name in names}, **_read(content)}


def added_fields(before: Manifest, content: Mapping[str, Any]) -> Content:
    """The fields of a manifest that adds this to one before it."""
    found = _read(content)
    log = dict(before.log)
    for name, entries in found["log"].items():
        log[name] = (*log.get(name, ()), *entries)
    return {
        **{name: content[name] for name in ("parts", "version", "token")},
        "log": log,
        "batches": {**before.batches, **content["batches"]},
        **{
            name: {**getattr(before, name), **found[name]} for name in ("counts", "tokens", "steps")
        },
    }


def _read(content: Mapping[str, Any]) -> Content:
    return {
        "log": {
            read_name(name): tuple(map(Entry.from_json, entries))
            for name, entries in content["log"].items()
        },
        "counts": {read_name(name): rows for name, rows in content["counts"].items()},
        "tokens": {int(version): token for version, token in content["tokens"].items()},
        "steps": {
            int(version): {int(number): tuple(parts) for number, parts in done.items()}
            for version, done in content.get("steps", {}).items()
        },
    }
