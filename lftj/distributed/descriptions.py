# SPDX-License-Identifier: Apache-2.0
"""Descriptions of programs with the sizes and hubs by which their rules are planned. These are
looked at only when rules are new, so that equal rules have equal plans.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lftj.distributed.bounds import Bounds
from lftj.distributed.committed_version import Present
from lftj.distributed.hub_counts import counted_hubs, two_digits
from lftj.distributed.partitioning.programs import described
from lftj.program import Program
from lftj.types import Role, in_role


def described_as(
    known: Mapping[str, Any], program: Program, views: frozenset[str]
) -> dict[str, Any]:
    """The description of a program by sizes and hubs of a `known` one."""
    return described(program, views, known.get("sizes", {}), known.get("hubs", {}))


def described_now(
    present: Present, program: Program, views: frozenset[str], bounds: Bounds, *, count: bool
) -> dict[str, Any]:
    """The description of a program that a commit brings: by sizes and hubs of the version where its
    rules are new. `count`: hubs are counted in any case. Raises as `counted_hubs`.
    """
    known = present.manifest.program
    description = described_as(known, program, views)
    is_known = description["rules"] == known.get("rules", [])
    if is_known and not count:
        return description
    hubs = (
        counted_hubs(present, program.catalog.relations.values(), bounds)
        if description["rules"]
        else {}
    )
    if is_known and hubs == known.get("hubs", {}):
        return description
    return described(program, views, _sizes(present.manifest.counts), hubs)


def _sizes(counts: Mapping[str, int]) -> dict[str, int]:
    """Rows of base relations, to two digits."""
    base = {name.name: count for name, count in counts.items() if in_role(name, Role.BASE)}
    return {name: two_digits(count) for name, count in base.items()}
