"""Every error a user can meet: one class per kind, one stable code per message.

A problem knows its code, its place in the source, what was expected and found, and what to write
instead. Problems of one program are collected and raised together as one `ProgramErrors`.

Nothing in this module imports another module of ours, so every layer may raise from it.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

_PACKAGES = ("lftj", "partition", "scantree", "sensitivity")
_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_OWN = tuple(os.path.join(_ROOT, name) + os.sep for name in _PACKAGES)
"""Beginnings of the names of our own files."""

_MOST_SHOWN = 120
"""Characters of a line that an error shows."""


@dataclass(frozen=True, slots=True)
class Span:
    """A place in rule text. Lines and columns count from 1; `end_column` is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int
    file: str | None = None
    source: str | None = None
    """The whole source text, kept by reference so that an error can show the line."""

    @property
    def written(self) -> Span:
        """The place in the file that a preprocessor found the text in; the place itself where there
        was none.
        """
        written_at = getattr(self.source, "written_at", None)
        return self if written_at is None else written_at(self)

    def __str__(self) -> str:
        place = self.written
        return f"{place.file or '<rules>'}:{place.line}:{place.column}"

    def caret(self) -> str:
        """The source line with the span underlined; empty when the source is not known."""
        return self.written._caret()

    def _caret(self) -> str:
        if self.source is None:
            return ""
        lines = self.source.splitlines()
        if not 1 <= self.line <= len(lines):
            return ""
        text = "".join(char if char.isprintable() else " " for char in lines[self.line - 1])
        last = self.end_column if self.end_line == self.line else len(text) + 1
        first = max(0, self.column - 1 - _MOST_SHOWN // 2) if len(text) > _MOST_SHOWN else 0
        shown = text[first : first + _MOST_SHOWN]
        gutter = f"{self.line:>4} | {'…' if first else ''}"
        indent = self.column - 1 - first
        width = max(1, min(last - self.column, len(shown) - indent))
        return (
            f"{gutter}{shown}{'…' if len(text) > first + _MOST_SHOWN else ''}\n"
            f"{' ' * (len(gutter) + indent)}{'^' * width}"
        )


class LftjError(Exception):
    """Base of every error this library raises on purpose.

    `code` is stable and may be matched on; `span` is the place in rule text, or None; `hint` says
    what to write instead.
    """

    code = "E000"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        span: Span | None = None,
        hint: str | None = None,
    ):
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.span = span
        self.hint = hint

    def __str__(self) -> str:
        place = f"{self.span}: " if self.span else ""
        parts = [f"{place}error[{self.code}]: {self.message}"]
        if self.span and (caret := self.span.caret()):
            parts.append(caret)
        if self.hint:
            parts.append(f"  help: {self.hint}")
        return "\n".join(parts)

    def _render_traceback_(self) -> list[str]:
        """Lines for IPython and notebooks: the message first, then the frames that are not the
        engine's own. Python itself shows all of them.
        """
        import traceback  # only where an error is shown so

        frames = [
            frame
            for frame in traceback.extract_tb(self.__traceback__)
            if not (frame.filename.startswith(_OWN) or _is_machinery(frame.filename))
        ]
        lines = [f"{type(self).__name__}: {self}".rstrip()]
        if frames:
            lines += ["", "Traceback (most recent call last):"]
            lines += "".join(traceback.format_list(frames)).rstrip().split("\n")
        return lines


def _is_machinery(filename: str) -> bool:
    """Test for files whose frames stand between cells, decorators and what is called."""
    return f"{os.sep}IPython{os.sep}" in filename or filename == contextmanager.__code__.co_filename


class ProgramErrors(LftjError, ValueError):
    """All errors of one program, in the order of the text. `errors` holds them one by one."""

    code = "E001"

    def __init__(self, errors: list[LftjError]):
        self.errors = errors
        super().__init__(f"{len(errors)} error{'s' if len(errors) != 1 else ''} in the program")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.errors,)

    def __str__(self) -> str:
        return "\n".join(str(error) for error in self.errors) + f"\n{self.message}"


# ── the language: E1xx ────────────────────────────────────────────────────────────────────────────
class ParseError(LftjError, ValueError):
    """The text is not a program (E100), uses a construct that is recognised but not supported
    (E101), nests too deeply (E102), or has a preprocessor line that cannot be carried out (E104).
    """

    code = "E100"


class ExpressionError(LftjError, TypeError):
    """A Python expression that means nothing in a rule: `and`, `or`, `not`, a chained comparison, a
    term in the place of a condition.
    """

    code = "E103"


class UnknownNameError(LftjError, KeyError):
    """A relation (E110), a column (E111), a functor or aggregate (E112), a type (E113) or a rule
    (E114) that is not there.
    """

    code = "E110"


class ArityError(LftjError, ValueError):
    """An atom or a row (E120), a functor or an aggregate (E121) with the wrong number
    of arguments.
    """

    code = "E120"


class TypeClashError(LftjError, TypeError):
    """A term of another type than its place asks for (E130) or its operator takes (E132), an
    aggregate where none may be (E131), or a union of different types (E133).
    """

    code = "E130"


class UnsafeRuleError(LftjError, ValueError):
    """A variable that nothing binds, in a head (E140), a negation (E141), a comparison or
    expression (E142) or an aggregate (E143).

    Also `_` where a value is asked for (E144), and a variable or aggregate in a fact (E145).
    """

    code = "E140"


class StratificationError(LftjError, ValueError):
    """Negation (E150), an aggregate (E151) or a string functor (E152) inside a cycle of rules; the
    message names the cycle.
    """

    code = "E150"


class DeclarationError(LftjError, ValueError):
    """A relation or aggregate declared twice, differently (E160), or what is no type (E161).

    A function written as a relation or the other way round (E162), a relation with an aggregate and
    other rules or facts (E163), a column name used twice (E164), a type name defined twice (E165),
    a rule with too many combinations of branches (E166), a relation with too many columns (E168),
    one that is `inline` where it cannot be (E169).
    """

    code = "E160"


# ── data: E2xx ────────────────────────────────────────────────────────────────────────────────────
class NullValueError(LftjError, ValueError):
    """NULL (E200) or NaN (E201) in a column that does not admit it; the message names row and
    column.
    """

    code = "E200"


class ValueTypeError(LftjError, TypeError):
    """A value that cannot be stored in its column without a change."""

    code = "E210"


class ValueRangeError(LftjError, OverflowError):
    """A value, or the result of arithmetic or of an aggregate, outside its type's range (E220); a
    division by zero (E221); a result that is not a number (E222).
    """

    code = "E220"


class FrameError(LftjError, ValueError):
    """A frame or file with the wrong columns (E230), an unknown format (E231) or unreadable content
    (E232).
    """

    code = "E230"


class PathOutsideError(FrameError):
    """A file that a directive names and that lies outside the folder given for files."""

    code = "E233"


class FileMissingError(LftjError, FileNotFoundError):
    """An input file that is not there."""

    code = "E240"


class MissingDependencyError(LftjError, ImportError):
    """A package that only some calls need (E250), or Java (E251), is not installed; the message
    says what to install.
    """

    code = "E250"


# ── transactions: E3xx ────────────────────────────────────────────────────────────────────────────
class KeyViolationError(LftjError, ValueError):
    """Two rows of a relation share a key, or a function has two values for one argument; `rows`
    holds those of the first few keys by value, `keys` the same key by key, `count` is how many
    keys there are, and `what` names the relation and what is wrong.
    """

    code = "E300"
    shown = 3
    """Keys in a message."""

    def __init__(
        self,
        message: str,
        *,
        what: str = "",
        keys: Sequence[Sequence[tuple[object, ...]]] = (),
        count: int = 0,
        **rest: object,
    ):
        super().__init__(message, **rest)  # type: ignore[arg-type]
        self.what, self.keys, self.count = what, [list(rows) for rows in keys], count
        self.rows = [row for rows in self.keys for row in rows]

    @staticmethod
    def of(
        what: str,
        keys: Sequence[Sequence[tuple[object, ...]]],
        count: int,
        hint: str | None,
        span: Span | None = None,
    ) -> KeyViolationError:
        """The error about `count` keys, of which `keys` are the first by value, each with its rows;
        `what` names the relation and what is wrong.
        """
        shown = [f"{rows[0]} and {rows[1]}" for rows in keys[: KeyViolationError.shown]]
        if count > len(shown):
            shown.append(f"and {count - len(shown)} more")
        return KeyViolationError(
            f"{what}: {'; '.join(shown)}",
            what=what,
            keys=keys,
            count=count,
            hint=hint,
            span=span,
        )


class MissingRowError(LftjError, KeyError):
    """A delete of an absent row (E310) or an insert of a present one (E311) under the policy
    `error`; `rows` holds the first of them by value, `count` is how many there are.
    """

    code = "E310"
    shown = 5
    """Rows in a message."""

    def __init__(
        self,
        message: str,
        *,
        relation: str = "",
        rows: Sequence[tuple[object, ...]] = (),
        count: int = 0,
        **rest: object,
    ):
        super().__init__(message, **rest)  # type: ignore[arg-type]
        self.relation, self.rows, self.count = relation, list(rows), count

    @staticmethod
    def of(
        relation: str, rows: Sequence[tuple[object, ...]], count: int, code: str
    ) -> MissingRowError:
        """The error about `count` rows of a relation; `rows` are the first `shown` by value."""
        what, remedy = (
            ("already", 'existing="ignore"') if code == "E311" else ("not", 'missing="ignore"')
        )
        more = f" and {count - len(rows)} more" if count > len(rows) else ""
        message = (
            f"relation `{relation}`: {', '.join(map(str, rows))}{more} "
            f"{'is' if count == 1 else 'are'} {what} there"
        )
        hint = f"write {remedy} to pass over such rows"
        return MissingRowError(
            message, relation=relation, rows=rows, count=count, code=code, hint=hint
        )


class TransactionError(LftjError, RuntimeError):
    """A transaction used after its end, inside another one, or on a view."""

    code = "E320"


class CopyError(LftjError, TypeError):
    """A workspace, snapshot, transaction or subscription that was to be copied or pickled."""

    code = "E343"


class UserFunctionError(LftjError, RuntimeError):
    """A function of a user aggregate raised; `__cause__` is what it raised."""

    code = "E223"


class OptionError(LftjError, TypeError):
    """A call with an option, a keyword argument, that it does not have (E170), or with an argument
    of another kind (E171).
    """

    code = "E170"


class ProofError(LftjError, ValueError):
    """A proof of which `step` (its number, from 0) does not follow (E360)."""

    code = "E360"

    def __init__(self, message: str, *, step: int | None = None, hint: str | None = None):
        super().__init__(message, hint=hint)
        self.step = step


class ExplanationError(LftjError, LookupError):
    """An explanation of a row that is not there (E361), or of what is not one row (E362)."""

    code = "E361"


class SqlError(LftjError, NotImplementedError):
    """A rule that cannot be said in SQL (E370)."""

    code = "E370"


class LimitError(LftjError, RuntimeError):
    """A work, time or memory limit was reached; everything was rolled back."""

    code = "E330"


class DurableError(LftjError, RuntimeError):
    """Files of a workspace that cannot be opened, read or written (E350 to E357)."""

    code = "E350"


class PastError(LftjError, LookupError):
    """A version that is not kept any more, or is not there yet (E371)."""

    code = "E371"


class ConsumerError(LftjError, RuntimeError):
    """A consumer that reads another view than it was made for, or acknowledges what it was not
    given (E372).
    """

    code = "E372"


class BranchError(LftjError, LookupError):
    """A branch that is not there, was dropped, or cannot be begun, merged or dropped (E380)."""

    code = "E380"


class MergeConflictError(LftjError, ValueError):
    """Rows, or keys of rows, that changed in both branches of a merge (E381): `conflicts` has them
    all, by relation; for one with a key they are values of the key.
    """

    code = "E381"
    shown = 3
    """Rows in a message, of each relation."""

    def __init__(
        self,
        message: str,
        *,
        conflicts: Mapping[str, Sequence[tuple[object, ...]]] | None = None,
        **rest: object,
    ):
        super().__init__(message, **rest)  # type: ignore[arg-type]
        self.conflicts = {name: list(rows) for name, rows in (conflicts or {}).items()}

    @classmethod
    def of(cls, conflicts: Mapping[str, Sequence[tuple[object, ...]]]) -> MergeConflictError:
        """The error for these conflicts."""
        parts = [
            f"{name}: {', '.join(map(repr, rows[: cls.shown]))}"
            + (f" and {len(rows) - cls.shown} more" if len(rows) > cls.shown else "")
            for name, rows in conflicts.items()
        ]
        return cls(
            f"both branches have changed {'; '.join(parts)}",
            conflicts=conflicts,
            hint="take the change back in one of the two, and merge again; "
            "error.conflicts lists all",
        )


# ── distributed workspaces: E4xx ──────────────────────────────────────────────────────────────────
class DistributedError(LftjError, RuntimeError):
    """A call that this kind of workspace cannot do (E400), or a job that failed, a path or session
    that cannot be used (E401 to E406).
    """

    code = "E400"


@contextmanager
def as_ours() -> Generator[None]:
    """Raise errors of packages below, about arguments or what is not installed, as LftjError."""
    try:
        yield
    except LftjError:
        raise
    except ImportError as reason:
        raise MissingDependencyError(str(reason)) from reason
    except TypeError as reason:
        raise OptionError(str(reason), code="E171") from reason
    except ValueError as reason:
        raise DeclarationError(str(reason)) from reason
