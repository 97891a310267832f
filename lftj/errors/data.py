# SPDX-License-Identifier: Apache-2.0
"""Errors of data that comes in: E2xx."""

from __future__ import annotations

from collections.abc import Sequence

from lftj.errors.base import LftjError


class WrongValueError(LftjError):
    """Base of errors about values that do not fit their columns. `errors` has an error for each of
    the first `shown`, in the order of rows, of which this is the first.
    """

    code = "E210"
    shown = 10
    errors: Sequence[LftjError] = ()
    _more = False

    @staticmethod
    def of(errors: Sequence[LftjError]) -> WrongValueError:
        """The first error, which lists the others; more than `shown` say that there are more."""
        first = errors[0]
        assert isinstance(first, WrongValueError)
        first._more = len(errors) > first.shown
        first.errors = errors[: first.shown]
        return first

    def __str__(self) -> str:
        if len(self.errors) < 2:
            return super().__str__()
        more = [f"  and more: these are the first {self.shown}"] if self._more else []
        hints = dict.fromkeys(each.hint for each in self.errors if each.hint)
        return "\n".join(
            [
                f"error[{self.code}]: {self.message}",
                *(f"  {each.message}" for each in self.errors[1:]),
                *more,
                *(f"  help: {hint}" for hint in hints),
            ]
        )


class NullValueError(WrongValueError, ValueError):
    """NULL (E200) or NaN (E201) in a column that does not admit it; the message names row and
    column.
    """

    code = "E200"


class ValueTypeError(WrongValueError, TypeError):
    """A value that cannot be stored in its column without a change."""

    code = "E210"


class ValueRangeError(WrongValueError, OverflowError):
    """A value, or the result of arithmetic or of an aggregate, outside its type's range (E220); a
    division by zero (E221); a result that is not a number (E222).
    """

    code = "E220"


class FrameError(LftjError, ValueError):
    """A frame or file with the wrong columns (E230), an unknown format (E231), unreadable content
    or a damaged column (E232), a version of a table that is not there (E234), a
    table with rows of others (E235).
    """

    code = "E230"


class PathOutsideError(FrameError):
    """A file that a directive names and that lies outside the folder given for files."""

    code = "E233"


class FileMissingError(LftjError, FileNotFoundError):
    """An input file that is not there."""

    code = "E240"


_REQUIREMENTS = {
    "deltalake": "deltalake>=1.6",
    "duckdb": "duckdb>=2",
    "networkx": "networkx>=3.6",
    "numba": "numba>=0.68,<0.69",
    "obstore": "obstore>=0.12",
    "pandas": "pandas>=2.2,<4",
    "polars": "polars>=2",
}
"""Requirements of the extras. The package itself may have come from a folder, so an extra's name
would say too little.
"""


class MissingDependencyError(LftjError, ImportError):
    """A package that only some calls need (E250), or Java (E251), is not installed; the message
    says what to install.
    """

    code = "E250"

    @staticmethod
    def of(package: str, needed: str = "") -> MissingDependencyError:
        """The error about a package that is not installed; `needed` says what for."""
        return MissingDependencyError(
            f"{package} is not installed{needed and f': {needed}'}",
            hint=f'pip install "{_REQUIREMENTS[package]}"',
        )
