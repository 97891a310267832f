# SPDX-License-Identifier: Apache-2.0
"""Columns that a frame declares."""

from __future__ import annotations

import pandas as pd
import pytest

import lftj


def test_a_column_of_several_types_is_named() -> None:
    """Arrow has no type for it; its error says the column second."""
    frame = pd.DataFrame({"a": [1, "x"], "b": [1, 2]})
    with pytest.raises(lftj.DeclarationError, match="column a") as caught:
        lftj.connect().relation("mixed", frame)
    assert caught.value.code == "E161"
