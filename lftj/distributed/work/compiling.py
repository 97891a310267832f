# SPDX-License-Identifier: Apache-2.0
"""The task that compiles kernels on a worker's machine, before a commit needs them there."""

from __future__ import annotations

from lftj.distributed.parts.failure import Failure, failure_of
from lftj.engine.calls import Limits, in_time
from lftj.engine.machine_code import GROUPS, compile_named, missing
from lftj.errors import LftjError
from lftj.scantree import frozen
from lftj.syntax import attending


@frozen
class CompileTask:
    """Groups of kernels (`lftj.engine.machine_code.compiled_ahead`), for the machine that has this
    part.
    """

    part: int
    groups: tuple[str, ...]
    limits: Limits


def count_missing(task: CompileTask) -> tuple[int, bool]:
    """The number of kernels that nobody has compiled on this machine, and whether some are missing
    in any group at all.
    """
    return missing(task.groups), missing(GROUPS) > 0


def compile_here(task: CompileTask) -> float | Failure:
    """Compile them; the seconds that it took. Workers of one machine share the work."""
    try:
        with attending(in_time(task.limits)):
            return compile_named(task.groups)
    except LftjError as error:
        return failure_of(error)
