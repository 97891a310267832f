"""Ranges of values by type."""

from __future__ import annotations

import numpy as np

from lftj.maintenance.bootstrap import ranges_of_types
from lftj.program.normal_form import RelationSchema
from lftj.scantree import Arena
from lftj.storage.relation import RelationVersion
from lftj.types import FLOAT, INT, STR


def test_ranges_cover_every_column_of_the_wanted_types():
    arena = Arena(1 << 28)
    pair = RelationSchema("pair", (("x", INT), ("y", INT)))
    named = RelationSchema("named", (("s", STR), ("x", INT), ("v", FLOAT)))
    rows = RelationVersion.build(pair, arena, [np.array([-3, 5, 7]), np.array([100, -50, 2])])
    texts = RelationVersion.build(
        named, arena, [np.array([0, 4]), np.array([1, 900]), np.array([-8, 8])]
    )
    relations = [rows, texts, RelationVersion.empty(pair, arena)]
    assert ranges_of_types(relations, {INT, STR}) == {INT: (-50, 900), STR: (0, 4)}
    rows.tree((1, 0))  # both columns now lead a key order
    assert ranges_of_types([rows], {INT}) == {INT: (-50, 100)}
    assert ranges_of_types([], {INT}) == {}
