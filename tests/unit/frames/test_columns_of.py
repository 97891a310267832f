# SPDX-License-Identifier: Apache-2.0
"""Columns that a frame declares."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pandas as pd
import pytest

import lftj


def test_a_column_of_several_types_is_named() -> None:
    """Arrow has no type for it; its error says the column second."""
    frame = pd.DataFrame({"a": [1, "x"], "b": [1, 2]})
    with pytest.raises(lftj.DeclarationError, match="column a") as caught:
        lftj.connect().relation("mixed", frame)
    assert caught.value.code == "E161"


def test_a_text_file_has_optional_columns_where_fields_are_empty(tmp_path: Path) -> None:
    """Earlier the relation had no NULL, and the file it was declared by was refused."""
    file = tmp_path / "g.csv"
    file.write_text("a,b,c,d,e\n1,x,1.5,,2020-01-01\n,,2,,\n3,z,,,2020-01-03\n")
    ws = lftj.connect()
    relation = ws.relation("g", file)
    assert list(map(str, relation.types)) == ["int?", "str", "float?", "str", "date?"]
    ws.load("g", file)
    assert ws["g"].sort().fetchall()[0] == (1, "x", 1.5, "", date(2020, 1, 1))
    assert (None, "", 2.0, "", None) in ws["g"].fetchall()


def test_what_the_first_fields_are_is_asked_of_all(tmp_path: Path) -> None:
    file = tmp_path / "h.csv"
    rows = [f"{n},{n}.0,{n}" for n in range(2000)]
    file.write_text("\n".join(["a,b,c", *rows, "x,1.5,2.5"]))
    assert list(map(str, lftj.connect().relation("h", file).types)) == ["str", "float", "float"]
