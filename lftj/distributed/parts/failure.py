"""Errors that users made, on their way from a worker to them: as results, so that Spark does not try again what cannot succeed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lftj import errors

_LOCAL = re.compile(r"(?:@(?:\d+|all|one)(?:#base)?|~)(?=[`'])")


@dataclass(frozen=True)
class Failure:
    """An LftjError as data."""

    kind: str
    message: str
    code: str
    hint: str | None
    rows: tuple[tuple[object, ...], ...] = ()

    def error(self) -> errors.LftjError:
        """The error again."""
        kind: Any = getattr(errors, self.kind)
        more = {"rows": list(self.rows)} if self.rows else {}
        return kind(self.message, code=self.code, hint=self.hint, **more)


def told(error: errors.LftjError) -> Failure:
    """An error as data, with the names that users gave their relations."""
    hint = None if error.hint is None else _LOCAL.sub("", error.hint)
    rows = tuple(getattr(error, "rows", ()))
    return Failure(type(error).__name__, _LOCAL.sub("", error.message), error.code, hint, rows)


def checked(found: Sequence[Any]) -> list[Any]:
    """The results, if there is no Failure among them; else the first one's error is raised."""
    for each in found:
        if isinstance(each, Failure):
            raise each.error()
    return list(found)


def guarded(job: Callable[[], list[Any]]) -> list[Any]:
    """What a job gives. Raises DistributedError (E401) when it failed."""
    try:
        return job()
    except RuntimeError as error:
        if type(error).__name__ != "TaskFailedError":
            raise
        hint = "nothing has happened; look into the executor's log, and try again"
        raise errors.DistributedError(f"the job failed: {error}", code="E401", hint=hint) from error
