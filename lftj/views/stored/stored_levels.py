# SPDX-License-Identifier: Apache-2.0
"""Stored states of strata that are followed by levels: sums and levels of groups, by relation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lftj.heads.user import UserAggregate
from lftj.program.normal_form import NormalRule, RelationSchema
from lftj.storage.durable.stored_trees import OpenedTrees, StoredTrees
from lftj.types.dictionary import Dictionary
from lftj.types.sources import read_name
from lftj.views.levels_state import LevelsState, no_levels, sum_shape
from lftj.views.stored.stored_groups import (
    Rule,
    aggregate_data,
    aggregate_of,
    number_of,
    same_columns,
)


def levels_data(state: LevelsState, rules: Sequence[Rule], trees: StoredTrees) -> dict[str, Any]:
    """Data of the state of a summed stratum."""
    return {
        "rules": [number_of(rule, rules) for rule in state.rules],
        "sums": {name: aggregate_data(each, trees) for name, each in state.sums.items()},
        "levels": {name: trees.number(each) for name, each in state.levels.items()},
        "highest": state.highest,
        "work": state.work,
    }


def levels_of(
    data: Mapping[str, Any],
    rules: tuple[NormalRule, ...],
    schemas: Mapping[str, RelationSchema],
    dictionary: Dictionary,
    trees: OpenedTrees,
    verbs: Mapping[str, UserAggregate],
) -> LevelsState:
    """The state again. Raises LookupError or ValueError for what does not fit these rules."""
    state = LevelsState.begun(rules)
    named = {read_name(text): each for text, each in data["sums"].items()}
    if named.keys() != state.additions.keys():
        raise ValueError("other relations add up now")
    sums = {
        name: aggregate_of(
            each, sum_shape(schemas[name], state.additions[name]), dictionary, trees, verbs
        )
        for name, each in named.items()
    }
    levels = {
        name: same_columns(trees[number], no_levels(schemas[name], trees.arena))
        for name, number in ((read_name(text), each) for text, each in data["levels"].items())
    }
    return replace(state, sums=sums, levels=levels, highest=data["highest"], work=data["work"])
