"""A path that an older version wrote opens, with its rows and views, and goes on.

`written_before` was written when the manifest had format 3, `written_in_format_4` when most were
written as what they add, `written_in_format_5` when runs have what is before,
`written_in_format_6` with runs that take less room. A change of the format adds a folder like
these and leaves them as they are.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import lftj
from tests.distributed.inline import InlineExecutor

WRITTEN = Path(__file__).parent


@pytest.mark.parametrize(
    ("folder", "version"),
    [
        ("written_before", 4),
        ("written_in_format_4", 4),
        ("written_in_format_5", 6),
        ("written_in_format_6", 5),
    ],
)
def test_a_path_of_an_older_version_opens_and_goes_on(
    folder: str, version: int, tmp_path: Path
) -> None:
    path = tmp_path / "path"
    shutil.copytree(WRITTEN / folder, path)
    with lftj.connect(executor=InlineExecutor(path, 2)) as workspace:
        assert workspace.version == version
        assert sorted(workspace["road"].fetchall()) == [("bern", "genf", 2), ("ulm", "bern", 3)]
        assert sorted(workspace["acct"].fetchall()) == [("a", 4.0), ("b", -2.0)]
        reach = [("bern", "genf"), ("ulm", "bern"), ("ulm", "genf")]
        assert sorted(workspace["reach"].fetchall()) == reach
        assert workspace["total"].fetchall() == [(2, 2.0)]
        assert workspace.verify() == []
        workspace.load("road", [("genf", "wien", 9)])
        assert len(workspace["reach"]) == 6
        with workspace.transaction() as tx:
            tx.upsert("acct", [("b", 1.0)])
        assert workspace["total"].fetchall() == [(2, 5.0)]
