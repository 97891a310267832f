# SPDX-License-Identifier: Apache-2.0
"""Manifest: one small file that names all others, with those that it adds to.

Parts and driver write rows under new names, `token` of the commit in front. Then the manifest of
the next epoch, which only one driver can make, has them be part of the workspace. A commit that
died before leaves files that nothing names, as do attempts at tasks whose results nobody took; they
are swept away when the path is compacted, or opened next.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from lftj.distributed.files.entry import Entry, files_of
from lftj.distributed.files.epochs import (
    OvertakenError,
    epoch_file,
    is_kept,
    last_epoch,
    make_epoch,
    mark_of,
    still_read,
)
from lftj.distributed.files.leases import leased
from lftj.distributed.files.manifest_files import (
    ADDS,
    FORMAT,
    NAMES,
    Content,
    back_from,
    content_of,
    contents_of,
    damaged,
    head_of,
    runs_of,
)
from lftj.distributed.files.manifest_records import (
    added_content,
    added_fields,
    extends,
    whole_content,
    whole_fields,
)
from lftj.distributed.files.runs import (
    RUNS,
    SUMMED,
    Run,
    half_runs,
    level_of,
    merged,
    remove_runs,
    run_name,
    summed,
    write_run,
)
from lftj.distributed.objects.file_store import store_of
from lftj.distributed.objects.mounts import UnknownOutcomeError, shown
from lftj.errors import DistributedError, LftjError
from lftj.scantree import frozen
from lftj.storage.durable import LEFT, LOG, PAGES, ROWS, sealed
from lftj.types import Role, in_role


@frozen
class Manifest:
    """One version of a workspace.

    `epoch` counts what was true below the path: commits, compactions, openings that removed files.
    Each is made once, by one driver, which knows it by its `mark`, and the one that it `follows` by
    that one's. `token` names the commit that made the version, `program` what `programs.described`
    gives; `log` holds per relation the entries whose sum it is, `counts` its rows. `batches` holds
    the last micro-batch of each stream that is in; `tokens` the commits by version from which parts
    can be brought forward to this one by the entries that came after.
    """

    parts: int
    epoch: int = 0
    mark: str = ""
    follows: str = ""
    version: int = 0
    token: str = ""
    program: Mapping[str, Any] = field(default_factory=dict)
    log: Mapping[str, tuple[Entry, ...]] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    batches: Mapping[str, int] = field(default_factory=dict)
    tokens: Mapping[int, str] = field(default_factory=dict)
    steps: Mapping[int, Mapping[int, tuple[int, ...]]] = field(default_factory=dict)
    """Steps of a commit, by version, for those of `tokens`: the number of steps, and the parts that
    had so many (none named: all).
    """
    roots: tuple[int, ...] = field(default=(), compare=False)
    """The epochs of those that name runs, from which the last manifests are read, this one from the
    last.
    """
    runs: tuple[Run, ...] = field(default=(), compare=False)
    """The runs that the last of `roots` names."""
    tail: tuple[Content, ...] = field(default=(), compare=False)
    """Additions since these runs, its own the last; where it is itself a root, those that are in
    its last run.
    """

    @property
    def _is_root(self) -> bool:
        return self.roots[-1:] == (self.epoch,)

    def following(self, before: Manifest) -> Manifest:
        """The same as what comes after another one, with an epoch and a mark of its own: written as
        what it adds to that one, unless it has not all of it.
        """
        epoch, mark, roots = before.epoch + 1, uuid4().hex, before.roots or (before.epoch,)
        if before.runs and extends(self, before):
            before_it = () if before._is_root else before.tail
            runs, tail = before.runs, (*before_it, added_content(before, self))
            level = 0
        else:
            runs, tail = (), (whole_content(self),)
            level = level_of(sum(map(len, self.log.values())))
        if not runs or len(tail) >= SUMMED:
            runs, roots = merged(runs, Run(run_name(epoch, mark), level)), (*roots, epoch)
        return replace(
            self,
            epoch=epoch,
            mark=mark,
            follows=before.mark,
            roots=still_read(roots, epoch),
            runs=runs,
            tail=tail,
        )

    def store(self, path: Path, before: Manifest | None = None) -> None:
        """Make this the truth: write, fsync, link, fsync the folder. `before`: the one that it
        follows, if there is one. Raises DistributedError (E406) where another is in its place.
        """
        path.mkdir(parents=True, exist_ok=True)
        if before is not None and self._is_root:
            self._write_run(path, before)
        with suppress(OvertakenError):  # where it is by ourselves all is well
            make_epoch(path, self.epoch, self._written(before), self.roots)
        if not self.is_stored(path):
            raise overtaken(path)
        if before is not None and self._is_root:
            with suppress(OSError, DistributedError):  # the next root does so too
                self._sweep_runs(path)

    def _write_run(self, path: Path, before: Manifest) -> None:
        """Write the last run, before anything names it: what came since those before it, with the
        runs that it takes the place of.
        """
        kept = before.runs if _is_whole(self.tail[0]) else self.runs
        contents = contents_of(path, [run for run in before.runs if run not in kept])
        if contents is None:
            raise overtaken(path)
        write_run(path, self.runs[-1].name, summed([*contents, *self.tail]))

    def _sweep_runs(self, path: Path) -> None:
        """Remove the runs that neither this one nor another root that is still read names."""
        named = {run.name for run in self.runs}
        for root in self.roots[:-1]:
            named |= {name for name, _ in (content_of(path, root) or {}).get(NAMES, ())}
        remove_runs(path, self.epoch, named)

    def is_stored(self, path: Path) -> bool:
        """Check that this manifest was committed below a path: it has its name, and its predecessor
        was not removed before.
        """
        try:
            return mark_of(path, self.epoch) == self.mark and (
                not self.follows or mark_of(path, self.epoch - 1) == self.follows
            )
        except OSError:
            return False

    def require_last(self, path: Path) -> None:
        """Raise DistributedError (E406) where another workspace has gone on from this. Reads the
        folder.
        """
        if is_overtaken(path, self.epoch):
            raise overtaken(path)

    def _written(self, before: Manifest | None = None) -> bytes:
        head: dict[str, Any] = {
            "format": FORMAT,
            "epoch": self.epoch,
            "mark": self.mark,
            "follows": self.follows,
        }
        if before is None:
            return sealed({**head, "roots": (self.epoch,), **whole_content(self)})
        head["roots"] = self.roots
        if self._is_root:
            head[NAMES] = [(run.name, run.level) for run in self.runs]
        return sealed(head if _is_whole(self.tail[-1]) else {**head, ADDS: self.tail[-1]})

    @staticmethod
    def load(path: Path, known: Manifest | None = None) -> Manifest | None:
        """The truth below a path, None where there is none yet; `known`: as for `of`. Raises
        DistributedError (E403) for what this version cannot read.
        """
        while (epoch := last_epoch(path)) is not None:
            if known is not None and known.epoch == epoch and known.mark == mark_of(path, epoch):
                return known
            if (found := Manifest.of(path, epoch, known)) is not None:  # else it is of long ago
                return found
        return None

    @staticmethod
    def of(path: Path, epoch: int, known: Manifest | None = None) -> Manifest | None:
        """Read the manifest of an epoch, as long as it is kept. Raises as `load`. `known`: one that
        was read before; if it comes before this one, only what was added since is read.
        """
        contents = back_from(path, epoch, *([] if known is None else [(known.epoch, known.mark)]))
        if contents is None:
            return None
        if known is None or ADDS not in contents[-1] or contents[-1]["follows"] != known.mark:
            known = _begun(path, contents.pop())
        for content in reversed(contents):
            known = None if known is None else _followed(known, content)
        return known

    @staticmethod
    def opened(path: Path, parts: int, after: int | None = None) -> Manifest:
        """The truth below a path, begun where nothing is yet; `after` a version of one process,
        which goes on there. Raises DistributedError (E403) as `load`, where there are other parts,
        where rows are that no manifest names, which are not ours to remove, and where a workspace
        of one process is that does not go on so.
        """
        if after is None and (path / LOG).exists():
            raise _of_one_process(path)
        found = Manifest.load(path)
        if found is None:
            if after is None and store_of(path).names(path / ROWS):
                raise manifest_missing(path)
            with suppress(OvertakenError):  # two may begin it at once
                path.mkdir(parents=True, exist_ok=True)
                begun = Manifest(parts, mark=uuid4().hex, version=after or 0)
                make_epoch(path, 0, begun._written())
            return Manifest.opened(path, parts, after)
        if found.version and found.parts != parts:
            message = f"{shown(path)} holds {found.parts} parts, the executor has {parts}"
            raise DistributedError(
                message, code="E403", hint=f"write partitions={found.parts}, or choose another path"
            )
        return found if found.version else replace(found, parts=parts)

    def version_of(self, token: str) -> int | None:
        """The version that a commit made, if parts can be brought forward from it."""
        return next((version for version, known in self.tokens.items() if known == token), None)

    def has_done(self, version: int, token: str, part: int, steps: int) -> bool:
        """Test for a commit from which parts can be brought forward, with so many steps in a
        part.
        """
        return self.tokens.get(version) == token and self.steps_in(version, part) == steps

    def steps_in(self, version: int, part: int) -> int:
        """Steps that a commit had in a part, 0 where it had none there."""
        done = self.steps.get(version, {}).items()
        return next((steps for steps, parts in done if not parts or part in parts), 0)

    def base_log(self) -> dict[str, tuple[Entry, ...]]:
        """The entries of base rows."""
        return {name: entries for name, entries in self.log.items() if in_role(name, Role.BASE)}

    def files(self) -> set[str]:
        """The row files that this version consists of."""
        return files_of(entry for entries in self.log.values() for entry in entries)

    def advanced(self, **changes: Any) -> Manifest:
        """A manifest with some parts of it new."""
        return replace(self, **changes)


def _is_whole(content: Content) -> bool:
    return "program" in content


def _begun(path: Path, content: Content) -> Manifest | None:
    """The manifest that a file says without those before it; None where it is of long ago by now.
    Raises DistributedError (E403).
    """
    head = head_of(content)
    if NAMES not in content:
        return Manifest(**head, **whole_fields(content))
    contents = contents_of(path, [Run(*run) for run in content[NAMES]], content["format"])
    if contents is None:
        if is_kept(path, content["epoch"]):
            raise damaged(path / RUNS, f"manifest {content['epoch']} builds on what is gone")
        return None
    return Manifest(**head, runs=runs_of(content), **whole_fields(summed(contents)))


def _followed(before: Manifest, content: Content) -> Manifest:
    """The manifest that a file says as an addition to the one before it."""
    found, added = replace(before, **head_of(content)), content[ADDS]
    if NAMES in content:
        found = replace(found, runs=runs_of(content), tail=())
    else:
        found = replace(found, tail=(*(() if before._is_root else before.tail), added))
    return replace(found, **added_fields(before, added))


def manifest_missing(path: Path) -> DistributedError:
    """The error for a path with rows and no manifest."""
    hint = f"take the path back from a copy; to begin anew remove {shown(path / ROWS)}"
    return DistributedError(
        f"the manifest is missing, though {shown(path)} holds rows", code="E403", hint=hint
    )


def _of_one_process(path: Path) -> DistributedError:
    """The error for the path of a workspace that is no parts."""
    hint = (
        "open it with lftj.connect(path); to have it go on over parts write "
        "lftj.connect(path, move=True, executor=lftj.SparkExecutor(spark, path=path)), or "
        "copy=True and another path for the executor"
    )
    return DistributedError(
        f"{shown(path)} holds a workspace of one process", code="E403", hint=hint
    )


@contextmanager
def reported_by_the_system(path: Path) -> Iterator[None]:
    """Turn errors of the system about files below a path into a DistributedError (E405) that names
    it; leave other errors as they are.
    """
    try:
        yield
    except (LftjError, ConnectionError):
        raise
    except UnknownOutcomeError as reason:
        hint = (
            "open the path again, and look whether the commit is there, before doing it once more"
        )
        raise DistributedError(str(reason), code="E407", hint=hint) from reason
    except OSError as reason:
        hint = (
            "nothing has happened; see that the folder is there, has room and may be written, "
            "and try again"
        )
        raise DistributedError(
            f"{shown(path)} cannot be used: {reason}", code="E405", hint=hint
        ) from reason


def is_overtaken(path: Path, epoch: int) -> bool:
    """Test for a manifest after this one."""
    store = store_of(path)
    if store.exists(epoch_file(path, epoch + 1)):
        return True
    return not store.exists(epoch_file(path, epoch)) and (last_epoch(path) or 0) > epoch


def overtaken(path: Path) -> DistributedError:
    """The error for a driver whose version another one has gone on from."""
    hint = (
        "nothing of this has happened; close the workspace, open the path again, and do it "
        "once more on what is there now"
    )
    return DistributedError(
        f"another workspace has written below {shown(path)} since this one opened it",
        code="E406",
        hint=hint,
    )


def files_from(path: Path, stem: str) -> set[str]:
    """The row files below a path whose names begin with a stem and a hyphen. Reads the folder."""
    return store_of(path).names(path / ROWS, f"{stem}-")


def row_files(path: Path) -> set[str]:
    """All row files below a path. Reads the folder."""
    return store_of(path).names(path / ROWS)


def remove_files(path: Path, files: Iterable[str]) -> None:
    """Remove row files below a path; those that are gone already are passed over. Pages that one
    process left go with the last file that names some; beside its log they are its own.
    """
    files = list(files)
    store_of(path).remove([path / ROWS / file for file in files])
    if any(file.endswith(LEFT) for file in files):
        _remove_pages(path, row_files(path))


def _remove_pages(path: Path, files: Iterable[str]) -> None:
    """Remove the pages that one process left, where none of the row files names them any more."""
    left = any(file.endswith(LEFT) for file in files) or (path / LOG).exists()
    if not left and store_of(path).shared:
        shutil.rmtree(path / PAGES, ignore_errors=True)


def swept(path: Path, parts: int, after: int | None = None) -> Manifest:
    """The truth below a path, `opened`, with no file that neither it nor a reader's lease names.

    Where there are such files, another driver may be about to name them, though it should not be
    there. So an epoch of our own comes before they go: from then on nobody can, and who writes more
    builds on it.
    """
    while True:
        halves = [*path.glob("manifest-*.tmp"), *half_runs(path)]
        before, found = Manifest.opened(path, parts, after), row_files(path)
        # beside the log of one process the files may be of its past
        stray = set[str]() if (path / LOG).exists() else found - before.files()
        _remove_pages(path, found)
        if not stray and not halves:
            return before
        manifest = before.following(before)
        try:
            manifest.store(path, before)
        except DistributedError as reason:
            if reason.code != "E406":
                raise
            continue
        remove_files(path, stray - leased(path))
        for half in halves:
            half.unlink(missing_ok=True)
        return manifest
