"""`mirror` of the normal form, for the reference: a value as an integer that orders the other way
round, and back.
"""

from __future__ import annotations

import datetime
import decimal
import struct
from collections.abc import Callable

from lftj.proofs.functors import MICROSECOND
from lftj.proofs.kinds import Value

_EPOCH = datetime.datetime(1970, 1, 1)
_LOWER_BITS = 2**63 - 1


def _of_float(value: float) -> int:
    bits = struct.unpack("<q", struct.pack("<d", value))[0]
    return bits if bits >= 0 else bits ^ _LOWER_BITS


def _to_float(code: int) -> float:
    return struct.unpack("<d", struct.pack("<q", code if code >= 0 else code ^ _LOWER_BITS))[0]


def _scale(type_: str) -> int:
    return int(type_.rstrip(")").partition(",")[2])


_CODES: dict[str, tuple[Callable[..., int], Callable[..., Value]]] = {
    "int": (int, int),
    "bool": (int, bool),
    "date": (lambda value: value.toordinal(), datetime.date.fromordinal),
    "timestamp": (
        lambda value: (value - _EPOCH) // MICROSECOND,
        lambda code: _EPOCH + code * MICROSECOND,
    ),
    "float": (_of_float, _to_float),
}


def mirrored(value: Value, type_: str, back: bool) -> Value:
    """The integer for a value of this type (as declarations write it), or `back` from one."""
    if type_.startswith("decimal"):
        scale = _scale(type_)
        return (
            decimal.Decimal(~int(value)).scaleb(-scale)
            if back
            else ~int(decimal.Decimal(value).scaleb(scale))
        )  # type: ignore[arg-type]
    encode, decode = _CODES[type_]
    return decode(~value) if back else ~encode(value)  # type: ignore[operator]
