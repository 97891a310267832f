# SPDX-License-Identifier: Apache-2.0
"""Relations and functions in Python expressions: calling one makes an atom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from lftj.errors import ArityError, ExpressionError, UnknownNameError
from lftj.errors.nearest import closest
from lftj.syntax import functors, tree
from lftj.syntax.conversion import FunctionHolder, check_name, show, to_term
from lftj.syntax.expressions import Formula


class FunctionTerm(FunctionHolder):
    """`F[x]`, which becomes an atom by `F[x] == y`."""

    def __init__(self, name: str, args: tuple[tree.Term, ...]):
        self._name = name
        self._args = args

    def __repr__(self) -> str:
        return f"{self._name}[{', '.join(map(show, self._args))}]"

    def __eq__(self, value: object) -> Formula:  # type: ignore[override]
        return Formula((tree.Atom(self._name, self._args, to_term(value)),))

    __hash__ = object.__hash__

    def _refuse(self, *_: object) -> NoReturn:
        """Everything but `==`."""
        hint = (
            f"write ({self!r} == v) as a condition of its own and use v; in a rule: ({self!r} "
            f"== v) <= body"
        )
        raise ExpressionError(f"`{self!r}` has no value until it stands in a condition", hint=hint)

    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = _refuse  # type: ignore[assignment]
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = (
        _refuse
    )
    __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = _refuse
    __and__ = __rand__ = __or__ = __ror__ = __invert__ = _refuse


class Predicate:
    """A relation by name: `p(x, 1, "a", _)` is an atom; for a function, `F[x] == y` is.

    `arity` counts all columns, a function's value included, and may be None when it is not known.
    With `columns`, arguments may be given by name, and those left out are wildcards. Raises
    ArityError, and UnknownNameError (E111) for a column that is not there.
    """

    name: str
    arity: int | None
    functional: bool
    columns: tuple[str, ...] | None

    def __init__(
        self,
        name: str,
        arity: int | None = None,
        functional: bool = False,
        columns: Sequence[str] | None = None,
    ):
        check_name(name, functors.RESERVED_RELATIONS, "relation")
        self.name = name
        self.columns = None if columns is None else tuple(columns)
        self.arity = len(columns) if columns is not None and arity is None else arity
        self.functional = functional

    __iter__ = None
    """Indexing makes atoms, so a relation must not look like a sequence."""

    def __repr__(self) -> str:
        return self.name

    def __call__(self, /, *args: object, **named: object) -> Formula:
        if self.functional:
            raise ExpressionError(
                f"{self.name} is a function", hint=f"write {self.name}[…] == value"
            )
        terms = self._arguments(args, named) if named else tuple(to_term(arg) for arg in args)
        atom = Formula((tree.Atom(self.name, terms),))
        self._check_arity(len(terms), self.arity, atom)
        return atom

    def __getitem__(self, key: object) -> FunctionTerm:
        args = key if isinstance(key, tuple) else (key,)
        if not self.functional:
            raise ExpressionError(f"{self.name} is not a function", hint=f"write {self.name}(…)")
        function = FunctionTerm(self.name, tuple(to_term(arg) for arg in args))
        self._check_arity(len(args), None if self.arity is None else self.arity - 1, function)
        return function

    def _arguments(
        self, args: tuple[object, ...], named: dict[str, object]
    ) -> tuple[tree.Term, ...]:
        """Positional arguments, then those by name, wildcards for the rest."""
        columns = self.columns or ()
        if unknown := [name for name in named if name not in columns]:
            near = closest(unknown[0], columns)
            known = (
                f"columns are {', '.join(columns)}"
                if columns
                else f"the columns of {self.name} are not known here: give all by position"
            )
            hint = f"did you mean {near}?" if near else known
            raise UnknownNameError(
                f"{self.name} has no column {unknown[0]}", code="E111", hint=hint
            )
        if twice := [name for name in columns[: len(args)] if name in named]:
            raise ArityError(
                f"the column {twice[0]} of {self.name} is given twice",
                hint="give it by position or by name",
            )
        return (
            *(to_term(arg) for arg in args),
            *(to_term(named.get(name, tree.Wildcard())) for name in columns[len(args) :]),
        )

    def _check_arity(self, found: int, expected: int | None, made: Formula | FunctionTerm) -> None:
        if expected is None or found == expected:
            return
        columns = self.columns if self.columns is None or not self.functional else self.columns[:-1]
        listed = f" ({', '.join(columns)})" if columns else ""
        hint = "write _ where any value will do" + (
            f", or name the columns: {self.name}({columns[0]}=…)"
            if columns and not self.functional
            else ""
        )
        raise ArityError(
            f"{self.name} takes {expected} argument{'s' * (expected != 1)}{listed}, found {found} "
            f"in {made!r}",
            hint=hint,
        )
