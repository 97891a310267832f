# SPDX-License-Identifier: Apache-2.0
"""The column types, and how every value becomes one int64 code.

| type | Python value | code |
|---|---|---|
| `int` | `int` | itself |
| `unsigned` | `int` from 0 on | itself |
| `float` | `float` | order-preserving bijection of the bits; −0.0 is 0.0; NaN is refused |
| `str` | `str` | number in the dictionary (order of arrival, not of the alphabet) |
| `bool` | `bool` | 0 or 1 |
| `date` | `datetime.date` | days since 1970-01-01 |
| `timestamp` | `datetime.datetime` | microseconds since 1970-01-01T00:00:00 |
| `decimal(p, s)` | `decimal.Decimal` | the value times 10ˢ, fewer than 10ᵖ in size; p ≤ 18 |

An optional type, as `int | None`, has one code more for NULL: the least int64, for every type.
A `datetime` with a zone is an instant, and its date and time are those of UTC; one without a zone
is taken as it is. Codes order as their values do, for every type but `str`. Nothing else is
converted: a value that does not fit exactly is an error.
"""

from __future__ import annotations

from lftj.types.arrow_arrays import arrow_array
from lftj.types.arrow_validity import require_valid
from lftj.types.codes import (
    INT64_MAX,
    INT64_MIN,
    NULL_CODE,
    Interning,
    Unsigned,
    code_of,
    code_range,
    codes_to_floats,
    decode_scalar,
    encode_constant,
    encode_scalar,
    float_text,
    floats_to_codes,
    in_utc,
    in_words,
    lookup_scalar,
    null_hint,
    plain,
    type_of_value,
)
from lftj.types.column import (
    BOOL,
    DATE,
    FLOAT,
    INT,
    MAX_DECIMAL_PRECISION,
    STR,
    TIMESTAMP,
    UNSIGNED,
    Type,
    decimal,
    parse_type,
    type_of_python,
    without_mark,
)
from lftj.types.dictionary import Dictionary
from lftj.types.sources import (
    Role,
    Source,
    in_role,
    is_hidden,
    lineage,
    read_name,
    without_role,
)

__all__ = [
    "BOOL",
    "DATE",
    "FLOAT",
    "INT",
    "INT64_MAX",
    "INT64_MIN",
    "MAX_DECIMAL_PRECISION",
    "NULL_CODE",
    "STR",
    "TIMESTAMP",
    "UNSIGNED",
    "Dictionary",
    "Interning",
    "Role",
    "Source",
    "Type",
    "Unsigned",
    "arrow_array",
    "code_of",
    "code_range",
    "codes_to_floats",
    "decimal",
    "decode_scalar",
    "encode_constant",
    "encode_scalar",
    "float_text",
    "floats_to_codes",
    "in_role",
    "in_utc",
    "in_words",
    "is_hidden",
    "lineage",
    "lookup_scalar",
    "null_hint",
    "parse_type",
    "plain",
    "read_name",
    "require_valid",
    "type_of_python",
    "type_of_value",
    "without_mark",
    "without_role",
]
