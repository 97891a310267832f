"""A few rows are written without Arrow's functions: the same text, and the same errors."""

from __future__ import annotations

import io
from importlib import import_module

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lftj

TEXTS = st.text(alphabet='a"\t\r\n,;\ufeffé€', max_size=4)
FLOATS = st.floats(allow_nan=False)
ROWS = st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), FLOATS, TEXTS), max_size=6)


def written(rows: list[tuple[object, ...]], parameters: dict[str, str | int], few: int) -> object:
    """Text that is written, or the error."""
    ws = lftj.connect()
    ws.load(ws.relation("r", {"n": int, "f": float, "s": str}), rows)
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("lftj.frames.write_facts"), "_FEW", few)
        try:
            ws["r"].write_facts(out, parameters)
        except lftj.FrameError as error:
            return error.code, error.hint, error.message.partition("the string")[0]
    return out.getvalue()


@settings(max_examples=50)
@given(ROWS, st.sampled_from([{}, {"rfc4180": "true"}, {"delimiter": ";", "headers": "true"}]))
def test_few_rows_are_written_as_many(
    rows: list[tuple[object, ...]], parameters: dict[str, str | int]
) -> None:
    assert written(rows, parameters, 200) == written(rows, parameters, 0)
