# SPDX-License-Identifier: Apache-2.0
"""Errors that users made, on their way from a worker to them: as results, so that Spark does not
try again what cannot succeed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from lftj import errors
from lftj.heads import FIRST_KEYS
from lftj.scantree import frozen
from lftj.types import Role

_ROLES = "|".join(role.value for role in (Role.SHARE, Role.WITNESSED, Role.NEWS, Role.BASE))
_CUT = rf"(?:{_ROLES}|{Role.CUT.value}(?:\d+|all|one|here)(?:\+(?:\d+|all))?)+"
_NAMED = re.compile(rf"(`[\w?]+){_CUT}(?=`)|^([\w?]+){_CUT}(?= has two values |\.\w+ is decimal\()")
"""Local names in messages, which show values of users too: `'me@1'` is none."""
_ASKED = re.compile(rf"(?<=[\w?]){_CUT}(?=[`'])")
"""Local names in hints."""


@frozen
class Failure:
    """An LftjError as data."""

    kind: str
    message: str
    code: str
    hint: str | None
    rows: tuple[tuple[object, ...], ...] = ()
    span: errors.Span | None = None
    relation: str = ""
    count: int = 0
    keys: tuple[tuple[tuple[object, ...], ...], ...] = ()
    what: str = ""
    derived: bool = False

    @property
    def about(self) -> tuple[str, str, str]:
        """The code and the relation: of failures with the same one error tells."""
        return self.code, self.relation, self.what

    def error(self) -> errors.LftjError:
        """The error again."""
        if self.kind == errors.MissingRowError.__name__:
            return errors.MissingRowError.of(
                self.relation, self.rows, self.count, self.code, self.derived
            )
        if self.keys:
            return errors.KeyViolationError.of(
                self.what, self.keys, self.count, self.hint, self.span
            )
        kind: Any = getattr(errors, self.kind)
        return kind(self.message, code=self.code, span=self.span, hint=self.hint)


def failure_of(error: errors.LftjError) -> Failure:
    """An error as data, with the names that users gave their relations."""
    hint = None if error.hint is None else _ASKED.sub("", error.hint)

    def named(text: str) -> str:
        return _NAMED.sub(lambda found: found[1] or found[2], text)

    return Failure(
        type(error).__name__,
        named(error.message),
        error.code,
        hint,
        tuple(getattr(error, "rows", ())),
        error.span,
        re.sub(rf"{_CUT}$", "", getattr(error, "relation", "")),
        getattr(error, "count", 0),
        tuple(map(tuple, getattr(error, "keys", ()))),
        named(getattr(error, "what", "")),
        getattr(error, "derived", False),
    )


def checked(found: Sequence[Any]) -> list[Any]:
    """The results, if there is no Failure among them; else the first one's error is raised, about
    the rows of all parts that failed likewise.
    """
    failed = [each for each in found if isinstance(each, Failure)]
    if failed:
        first = failed[0]
        like = [each for each in failed if each.about == first.about]
        raise (_together(like) if first.count else first).error()
    return list(found)


def _together(failed: Sequence[Failure]) -> Failure:
    """One failure about rows for those of several parts, which have different rows, or keys."""
    count = sum(each.count for each in failed)
    keys: list[Any] = sorted(key for each in failed for key in each.keys)
    if keys:
        return replace(failed[0], keys=tuple(keys[:FIRST_KEYS]), count=count)
    rows: list[Any] = sorted(row for each in failed for row in each.rows)
    return replace(failed[0], rows=tuple(rows[: errors.MissingRowError.shown]), count=count)


def guarded(job: Callable[[], list[Any]]) -> list[Any]:
    """Run a job and return its result. Raises DistributedError (E401) when it failed."""
    try:
        return job()
    except RuntimeError as error:
        if type(error).__name__ != "TaskFailedError":
            raise
        hint = "nothing has happened; look into the executor's log, and try again"
        raise errors.DistributedError(f"the job failed: {error}", code="E401", hint=hint) from error
