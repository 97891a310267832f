"""What Python would compute of a term at once, and what a rule says instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from lftj.errors import ExpressionError

_WHOLE = "lftj.to_number(x), which cuts off the fraction and reads the number that a string holds"


def _refused(written: str, hint: str) -> Callable[..., NoReturn]:
    def refuse(self: object, *others: object) -> NoReturn:
        raise ExpressionError(f"`{written.format(repr(self))}` is not known before the rule runs", hint=f"write {hint}")

    return refuse


class RefusedOperators:
    """Functions and operators of Python that have another name in rules. They raise ExpressionError, with that name."""

    __slots__ = ()

    __abs__ = _refused("abs({})", "lftj.max_(x, -x)")
    __len__ = _refused("len({})", "lftj.strlen(x)")
    __int__ = __trunc__ = _refused("int({})", _WHOLE)
    __floor__ = __ceil__ = _refused("round({})", _WHOLE)
    __round__ = _refused("round({})", "lftj.round_(x, places) for a decimal, or " + _WHOLE)
    __float__ = _refused("float({})", "lftj.to_float(x)")
    __lshift__ = __rlshift__ = _refused("{} << …", "lftj.bshl(x, n)")
    __rshift__ = __rrshift__ = _refused("{} >> …", "lftj.bshr(x, n)")
    __getitem__ = _refused("{}[…]", "lftj.substr(x, first, length)")

    def __iter__(self) -> NoReturn:
        """For `sum`, `min`, `max` and unpacking. A TypeError, as of what is no sequence, which all ExpressionErrors are."""
        hint = "in a head lftj.sum_(x), lftj.min_(x), lftj.max_(x) aggregate over a group; lftj.max_(x, y) is the greater of two"
        raise ExpressionError(f"`{self!r}` is not known before the rule runs, so Python cannot go through its values", hint=hint)

    def __contains__(self, value: object) -> NoReturn:
        raise ExpressionError(f"`{value!r} in {self!r}` is not known before the rule runs", hint="write lftj.contains(part, text)")
