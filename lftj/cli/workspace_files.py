# SPDX-License-Identifier: Apache-2.0
"""`lftj info`, `compact`, `dump`, `load`, and `check` for a workspace at a path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lftj.errors import DurableError

if TYPE_CHECKING:
    from lftj.engine.live.engine import Engine

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def _engine() -> Engine:
    from lftj.engine.live.engine import Engine

    return Engine(writer_timeout=0, progress=None)


def check(path: Path, *, deep: bool) -> bool:
    """Print each problem of a workspace's files; True where there is none."""
    from lftj.engine.durable.file_checks import problems

    found = list(dict.fromkeys(problems(_engine(), path, deep=deep)))
    if found:
        print(*found, f"{path}: {len(found)} problem{'s' if len(found) > 1 else ''}", sep="\n")
        return False
    views = ", and views are what their rules derive" if deep else ""
    print(f"{path}: every checksum and every row is in order{views}")
    return True


def info(path: Path) -> None:
    """Print sizes and numbers of a workspace."""
    from lftj.engine.durable.file_checks import info as numbers

    found = numbers(_engine(), path)
    since = f", since {found.oldest:%Y-%m-%d %H:%M:%S}" if found.oldest else ""
    print(f"{found.path}, version {found.version}")
    print(f"  {found.relations} relations, {found.rules} rules, {found.rows:,} rows")
    print(f"  {found.commits} commits in the log{since}; {found.checkpoints} checkpoints")
    for name, version in found.branches.items():
        print(f"  branch {name}, version {version}")
    for kind, size in found.bytes.items():
        print(f"  {kind:8} {_size(size)}")


def _size(size: float) -> str:
    unit = 0
    while size >= 1024 and unit + 1 < len(_UNITS):
        size, unit = size / 1024, unit + 1
    return f"{size:,.0f} {_UNITS[unit]}" if unit == 0 else f"{size:,.1f} {_UNITS[unit]}"


def compact(path: Path) -> None:
    """Write a workspace's pages anew, and remove all else."""
    from lftj import connect
    from lftj.engine.durable.file_checks import sizes

    before = sum(sizes(path).values())
    with connect(path, create=False) as workspace:
        workspace.compact()
    print(f"{path}: {_size(before)} before, {_size(sum(sizes(path).values()))} now")


def dump(path: Path, folder: Path, *, salvage: bool, branch: str) -> bool:
    """Write a branch of a workspace as Parquet and rule text; False where relations could not be
    read.
    """
    from lftj.engine.branches.branches import branches_of
    from lftj.engine.durable import dump as dumping
    from lftj.engine.durable.opening import opened_to_read

    whole = True
    with opened_to_read(_engine(), path, salvage=salvage) as engine:
        for name, outcome in dumping.dump(branches_of(engine).engine(branch), folder):
            if isinstance(outcome, DurableError):
                if not salvage:
                    raise outcome
                print(f"  {name}: {outcome.message}")
                whole = False
            else:
                print(f"  {name}: {outcome:,} rows")
    return whole


def load(folder: Path, path: Path) -> None:
    """Begin a workspace with what a dump has, in one commit."""
    from lftj import connect
    from lftj.api.beginning import begin_with
    from lftj.engine.durable.dump import dumped

    contents, rows = dumped(folder)
    if path.exists() and any(path.iterdir()):
        hint = "choose a path where nothing is"
        raise DurableError(f"there is something at {path}", code="E351", hint=hint)
    with connect(path) as workspace:
        tx = begin_with(workspace, contents, rows.items())
    for name in rows:
        print(f"  {name}: {tx.inserted(name):,} rows")
