"""Types by name, and every value to its code and back."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal, localcontext

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lftj.errors import DeclarationError, LftjError, NullValueError, ValueRangeError, ValueTypeError
from lftj.types import (
    BOOL,
    DATE,
    FLOAT,
    INT,
    STR,
    TIMESTAMP,
    Type,
    codes_to_floats,
    decimal,
    decode_scalar,
    encode_scalar,
    floats_to_codes,
    lookup_scalar,
    parse_type,
    type_of_python,
    type_of_value,
)
from lftj.types.dictionary import Dictionary

ENDS = [-(2**63), -(2**63) + 1, -1, 0, 1, 2**63 - 1]
VALUES = {
    INT: st.integers(-(2**63), 2**63 - 1) | st.sampled_from(ENDS),
    FLOAT: st.floats(allow_nan=False),
    BOOL: st.booleans(),
    DATE: st.dates(),
    TIMESTAMP: st.datetimes(),
    decimal(18, 0): st.decimals(-(10**18) + 1, 10**18 - 1, places=0),
    decimal(10, 3): st.decimals(-9_999_999, 9_999_999, places=3),
}


@pytest.mark.parametrize("type", VALUES, ids=str)
def test_codes_round_trip_and_keep_order(type: Type) -> None:
    @given(VALUES[type], VALUES[type])
    def check(left: object, right: object) -> None:
        codes = [encode_scalar(type, value, Dictionary()) for value in (left, right)]
        assert all(-(2**63) <= code < 2**63 for code in codes)
        decoded = [decode_scalar(type, code, Dictionary()) for code in codes]
        assert decoded == [left, right]
        assert (codes[0] < codes[1]) == (left < right)  # type: ignore[operator]
        assert isinstance(decoded[0], type_of(type))

    check()


def type_of(type: Type) -> type:
    names = {
        "int": int,
        "float": float,
        "bool": bool,
        "date": datetime.date,
        "timestamp": datetime.datetime,
        "decimal": Decimal,
    }
    return names[type.name]


@given(st.lists(st.floats(allow_nan=False)))
def test_floats_in_bulk_agree_with_one_by_one(values: list[float]) -> None:
    codes = floats_to_codes(np.array(values, dtype=np.float64))
    assert codes.tolist() == [encode_scalar(FLOAT, value, Dictionary()) for value in values]
    assert codes_to_floats(codes).tolist() == values


def test_minus_zero_is_zero() -> None:
    assert encode_scalar(FLOAT, -0.0, Dictionary()) == encode_scalar(FLOAT, 0.0, Dictionary()) == 0
    assert floats_to_codes(np.array([-0.0])).tolist() == [0]
    assert math.copysign(1, decode_scalar(FLOAT, 0, Dictionary())) == 1


def test_strings_go_through_the_dictionary() -> None:
    dictionary = Dictionary()
    assert lookup_scalar(STR, "a", dictionary) is None
    assert encode_scalar(STR, "b", dictionary) == 0
    assert lookup_scalar(STR, "b", dictionary) == 0
    assert decode_scalar(STR, 0, dictionary) == "b"
    assert lookup_scalar(INT, 7, dictionary) == 7


def test_decimals_come_back_whole_in_any_context() -> None:
    with localcontext() as context:
        context.prec = 3
        code = encode_scalar(decimal(18, 2), Decimal("1234567890123456.78"), Dictionary())
        assert code == 123456789012345678
        assert str(decode_scalar(decimal(18, 2), code, Dictionary())) == "1234567890123456.78"


@pytest.mark.parametrize(
    ("type", "value", "code"),
    [
        (INT, np.int32(-3), -3),
        (FLOAT, 2, encode_scalar(FLOAT, 2.0, Dictionary())),
        (FLOAT, np.float32(0.5), encode_scalar(FLOAT, 0.5, Dictionary())),
        (BOOL, np.bool_(True), 1),
        (DATE, np.datetime64("1970-01-03"), 2),
        (TIMESTAMP, np.datetime64("1970-01-01T00:00:00.000001000"), 1),
        (decimal(4, 2), 7, 700),
        (decimal(4, 2), Decimal("7E0"), 700),
        (decimal(4, 2), Decimal("1.500"), 150),
        (decimal(4, 2), Decimal("-0"), 0),
    ],
)
def test_exact_relatives_are_welcome(type: Type, value: object, code: int) -> None:
    assert encode_scalar(type, value, Dictionary()) == code


REFUSED = [
    (INT, 1.0, ValueTypeError, "E210", "expected int, found 1.0 (float)"),
    (INT, True, ValueTypeError, "E210", "expected int, found True (bool)"),
    (INT, "1", ValueTypeError, "E210", "expected int, found '1' (str)"),
    (
        INT,
        2**63,
        ValueRangeError,
        "E220",
        "9223372036854775808 is outside the range of int, -9223372036854775808 … "
        "9223372036854775807",
    ),
    (INT, None, NullValueError, "E200", "NULL is not a value"),
    (FLOAT, math.nan, NullValueError, "E201", "NaN is not a value"),
    (FLOAT, 2**53 + 1, ValueTypeError, "E210", "the integer 9007199254740993 has no exact float"),
    (FLOAT, 10**400, ValueTypeError, "E210", f"the integer {10**76}… has no exact float"),
    (
        INT,
        10**5000,
        ValueRangeError,
        "E220",
        "<16610 bits> is outside the range of int, -9223372036854775808 … 9223372036854775807",
    ),
    (BOOL, 10**5000, ValueTypeError, "E210", "expected bool, found <16610 bits> (int)"),
    (FLOAT, True, ValueTypeError, "E210", "expected float, found True (bool)"),
    (STR, 1, ValueTypeError, "E210", "expected str, found 1 (int)"),
    (BOOL, 1, ValueTypeError, "E210", "expected bool, found 1 (int)"),
    (
        DATE,
        datetime.datetime(2013, 1, 1),
        ValueTypeError,
        "E210",
        "expected date, found datetime.datetime(2013, 1, 1, 0, 0) (datetime)",
    ),
    (
        TIMESTAMP,
        datetime.date(2013, 1, 1),
        ValueTypeError,
        "E210",
        "expected timestamp, found datetime.date(2013, 1, 1) (date)",
    ),
    (TIMESTAMP, np.datetime64("NaT"), NullValueError, "E200", "NULL is not a value"),
    (
        TIMESTAMP,
        np.datetime64(2**62, "s"),  # which wraps around to 1970 in microseconds
        ValueTypeError,
        "E210",
        "expected timestamp, found np.datetime64('146138514283-06-19T07:45:04') (datetime64)",
    ),
    (
        DATE,
        np.datetime64("20000-01-01"),
        ValueTypeError,
        "E210",
        "expected date, found np.datetime64('20000-01-01') (datetime64)",
    ),
    (
        decimal(4, 2),
        Decimal("1.234"),
        ValueTypeError,
        "E210",
        "1.234 has more than the 2 decimal places of decimal(4,2)",
    ),
    (
        decimal(4, 2),
        Decimal("100"),
        ValueRangeError,
        "E220",
        "100 is outside the range of decimal(4,2)",
    ),
    (decimal(4, 2), Decimal("NaN"), NullValueError, "E201", "NaN is not a value"),
    (
        decimal(4, 2),
        Decimal("Infinity"),
        ValueRangeError,
        "E220",
        "Infinity is outside the range of decimal(4,2)",
    ),
    (decimal(4, 2), 0.5, ValueTypeError, "E210", "expected decimal(4,2), found 0.5 (float)"),
]


@pytest.mark.parametrize(
    ("type", "value", "error", "code", "message"), REFUSED, ids=[row[4][:40] for row in REFUSED]
)
def test_nothing_is_converted_silently(
    type: Type, value: object, error: type[LftjError], code: str, message: str
) -> None:
    with pytest.raises(error) as caught:
        encode_scalar(type, value, Dictionary())
    assert (caught.value.code, caught.value.message) == (code, message)


@pytest.mark.parametrize(
    ("type", "value", "remedy"),
    [
        (INT, math.nan, "None"),
        (STR, math.nan, "None"),
        (INT, Decimal(1), "int(…)"),
        (FLOAT, Decimal("0.1"), "float(…)"),
        (BOOL, 1, "bool(…)"),
        (STR, b"a", "decode()"),
        (TIMESTAMP, np.datetime64(1, "ns"), "microseconds"),
        (decimal(4, 2), "1.5", "Decimal(value)"),
    ],
)
def test_a_clash_is_told_with_its_remedy(type: Type, value: object, remedy: str) -> None:
    with pytest.raises(ValueTypeError) as caught:
        encode_scalar(type, value, Dictionary())
    assert remedy in (caught.value.hint or "")


@pytest.mark.parametrize("year", [1, 9999])
def test_instants_outside_the_years_of_utc_are_refused(year: int) -> None:
    zone = datetime.timezone(datetime.timedelta(hours=14 if year == 1 else -12))
    edge = datetime.datetime(1, 1, 1) if year == 1 else datetime.datetime(9999, 12, 31, 23)
    with pytest.raises(ValueRangeError, match="outside the years 1 to 9999 in UTC"):
        encode_scalar(TIMESTAMP, edge.replace(tzinfo=zone), Dictionary())


@pytest.mark.parametrize(
    ("type", "text"),
    [(DATE, "2013-01-01"), (TIMESTAMP, "2013-01-01T08:30:00")],
    ids=["date", "timestamp"],
)
def test_dates_as_text_are_told_what_reads_them(type: Type, text: str) -> None:
    with pytest.raises(ValueTypeError, match="fromisoformat") as caught:
        encode_scalar(type, text, Dictionary())
    assert "pandas.to_datetime" in str(caught.value.hint)


def test_pandas_timestamps_with_nanoseconds_are_refused() -> None:
    import pandas

    assert encode_scalar(TIMESTAMP, pandas.Timestamp(1_000, unit="ns"), Dictionary()) == 1
    with pytest.raises(ValueTypeError, match="microseconds"):
        encode_scalar(TIMESTAMP, pandas.Timestamp(1_001, unit="ns"), Dictionary())


def test_dates_python_cannot_show() -> None:
    for type in (DATE, TIMESTAMP):
        with pytest.raises(ValueRangeError, match="years 1 to 9999"):
            decode_scalar(type, 2**62, Dictionary())


def test_names() -> None:
    assert [
        str(parse_type(text))
        for text in ("number", "unsigned", "symbol", "float", "bool", " decimal( 10 , 2 ) ")
    ] == [*("int", "unsigned", "str", "float", "bool", "decimal(10,2)")]
    assert [
        parse_type(text) for text in ("record", "", "decimal", "decimal(19,2)", "decimal(2,3)")
    ] == [None] * 5
    assert [
        type_of_python(t) for t in (int, "str", datetime.datetime, INT, datetime.date, bool)
    ] == [INT, STR, TIMESTAMP, INT, DATE, BOOL]
    assert str(type_of_python("decimal(10,2)")) == "decimal(10,2)"


@pytest.mark.parametrize("type", VALUES, ids=str)
def test_arrow_types_lead_back(type: Type) -> None:
    assert type_of_python(type.arrow) == type


def test_arrow_relatives() -> None:
    kinds = (
        pa.uint8(),
        pa.large_string(),
        pa.float32(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.date64(),
        pa.timestamp("ns"),
    )
    assert [type_of_python(kind) for kind in kinds] == [INT, STR, FLOAT, STR, DATE, TIMESTAMP]


def test_unknown_types_say_what_to_write() -> None:
    with pytest.raises(DeclarationError) as caught:
        type_of_python(list)
    assert str(caught.value) == (
        "error[E161]: list is not a column type\n  help: write int, float, str, bool, "
        'datetime.date, datetime.datetime or "decimal(10,2)"; with NULL: int | None'
    )
    for annotation in (
        "decimal(19,2)",
        pa.duration("us"),
        pa.list_(pa.int64()),
        None,
        "record",
    ):
        with pytest.raises(DeclarationError):
            type_of_python(annotation)


def test_types_of_values() -> None:
    values = (
        1,
        True,
        1.5,
        "a",
        datetime.date(2013, 1, 1),
        datetime.datetime(2013, 1, 1),
        Decimal("12.50"),
        Decimal("0.001"),
        Decimal("1E3"),
    )
    assert [str(type_of_value(value)) for value in values] == [
        *(
            "int",
            "bool",
            "float",
            "str",
            "date",
            "timestamp",
            "decimal(4,2)",
            "decimal(3,3)",
            "decimal(4,0)",
        )
    ]
    for value in (None, [], Decimal("NaN")):
        with pytest.raises(ValueTypeError):
            type_of_value(value)
