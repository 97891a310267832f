"""Results over parts written to files are read back as they were; neither they nor workspaces are
copied to other processes.
"""

from __future__ import annotations

import copy
import pickle
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import lftj
from tests.distributed.inline import InlineExecutor

COLUMNS = {
    "x": int,
    "t": str,
    "f": float,
    "b": bool,
    "d": date,
    "m": "decimal(18, 2)",
    "w": datetime,
}
ROWS = [
    (
        n,
        ["", "two words", 'a "quote"', "tab\tand\nline", "ünï"][n % 5],
        n / 3,
        n % 2 == 0,
        date(2024, 1, 1 + n % 28),
        Decimal(n) / 100,
        datetime(2024, 1, 1, 12, n % 60, 1, n),
    )
    for n in range(40)
]


def filled(folder: Path) -> Any:
    workspace: Any = lftj.connect(executor=InlineExecutor(folder, 3))
    workspace.relation("r", COLUMNS)
    workspace.load("r", ROWS)
    return workspace


@pytest.mark.parametrize("way", ["csv", "facts"])
def test_what_is_written_over_parts_is_read_as_it_was(tmp_path: Path, way: str) -> None:
    workspace = filled(tmp_path / "path")
    if way == "facts":  # a tab or a line break in text is an error there
        with workspace.transaction() as tx:
            tx.delete_where("r", t=ROWS[3][1])
    target = tmp_path / f"r.{way}"
    getattr(workspace["r"], f"write_{way}")(target)
    written = workspace["r"].fetchall()
    assert set(written) == {row for row in ROWS if way == "csv" or "\t" not in row[1]}
    for again in (filled(tmp_path / "again"), lftj.connect()):
        again.relation("s", COLUMNS)
        again.load("s", target)
        assert again["s"].fetchall() == written


def test_what_belongs_to_a_process_is_not_copied_to_others(tmp_path: Path) -> None:
    workspace = filled(tmp_path)
    with workspace.transaction() as tx:
        for each in (workspace, workspace.snapshot(), tx):
            for way in (pickle.dumps, copy.copy, copy.deepcopy):
                with pytest.raises(lftj.CopyError) as caught:
                    way(each)
                assert caught.value.code == "E343"


def test_a_result_over_parts_is_pickled_with_its_rows(tmp_path: Path) -> None:
    result = filled(tmp_path)["r"]
    again = pickle.loads(pickle.dumps(result))
    assert again.fetchall() == sorted(ROWS)
    assert again.columns == result.columns
