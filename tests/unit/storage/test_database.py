from __future__ import annotations

from lftj.program.normal_form import RelationSchema
from lftj.scantree.tree import Arena
from lftj.storage.database import Database, base_name
from lftj.storage.relation import RelationVersion


def test_replacing_leaves_the_old_snapshot_alone():
    arena = Arena()
    p, q = (RelationVersion.empty(RelationSchema(name, ()), arena) for name in "pq")
    old = Database({"p": p})
    new = old.replace({"q": q}, drop=["p", "unknown"], version=3)
    assert (list(old), old.version) == (["p"], 0)
    assert (list(new), new.version) == (["q"], 3)
    assert new.schema("q").name == "q"
    assert "p" in old
    assert "p" not in new
    assert new.replace({}).version == 3
    assert list(new.replace({"p": p}, drop=["p", "q"])) == []


def test_base_rows_have_a_name_that_no_user_can_write():
    assert base_name("p") == "p#base"
