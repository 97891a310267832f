# SPDX-License-Identifier: Apache-2.0
"""Heads that compute something of aggregates, as their groups have them, and the row of a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lftj.explain.derivations.body_assignments import Conjunction, alternatives
from lftj.explain.derivations.conjunction_steps import tuples
from lftj.explain.derivations.version import Codes, Version, matrix
from lftj.program import (
    CheckedHead,
    CheckedHeadAggregate,
    Expression,
    Filter,
    Ref,
    RuleVariable,
    Value,
)
from lftj.types import INT


def grouping(head: CheckedHead) -> CheckedHead:
    """A head as its groups have it, where it computes something of them: with an aggregate, of
    which nothing is known, in each column that is computed.
    """
    groups = head.groups
    if groups is None:
        return head
    args: list[Expression | CheckedHeadAggregate] = []
    for arg, key in zip(head.args, groups.columns, strict=True):
        made = arg if key is None else groups.args[key]
        computed = key is None and not isinstance(arg, Value | CheckedHeadAggregate)
        args.append(CheckedHeadAggregate("", (), INT) if computed else made)
    return replace(head, args=tuple(args), literals=groups.literals)


def computed_row(
    head: CheckedHead,
    row: Codes,
    values: Codes,
    variables: Sequence[RuleVariable],
    version: Version,
) -> Codes:
    """The row that is computed of these values of aggregates, over the group of another row of the
    head; none where nothing is.
    """
    groups = head.groups
    assert groups is not None
    keys = {key: row[place] for place, key in enumerate(groups.columns) if key is not None}
    codes = (*(keys[key] for key in range(len(keys))), *values)
    types = [type for _, type in version.schema(head.relation).columns]
    first = len(variables)
    listed = [*variables, *(RuleVariable("_", type) for type in types)]
    ties = [
        Filter("=", Ref(first + place), arg)
        for place, arg in enumerate(head.args)
        if not isinstance(arg, CheckedHeadAggregate)
    ]
    begin = matrix([codes], len(codes))
    for branches, some in alternatives(head.literals):
        way = Conjunction((*some, *ties), listed, groups.results, branches)
        places = [way.bound.index(first + place) for place in range(len(types))]
        for piece in way.run(version, begin):
            return next(iter(tuples(piece[places])))
    return ()
