# SPDX-License-Identifier: Apache-2.0
"""Explaining a row that is missing: `ws.why_not(…)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lftj.engine.calls import short_of_memory
from lftj.engine.versions import State
from lftj.errors import ExplanationError, OptionError
from lftj.explain.derivations.derivations import Rules
from lftj.explain.derivations.version import Version
from lftj.explain.missing.attempts import Attempts
from lftj.explain.missing.dry_run import Change, writing
from lftj.explain.missing.repairs import Repairs
from lftj.explain.present.asked_row import asked_row, check_count
from lftj.proofs import BaseChange, WhyNot, atom_text
from lftj.scantree import interrupts_as_such

if TYPE_CHECKING:
    from lftj.engine.live import Engine


def why_not(
    engine: Engine, state: State, what: object, row: object, rows: int, changes: int
) -> WhyNot:
    """The reason why a row is not there; see `Workspace.why_not`."""
    check_count("rows", rows)
    if not isinstance(changes, int) or isinstance(changes, bool) or not 0 <= changes <= MOST:
        raise OptionError(
            f"`changes` is {changes!r}", hint=f"write a number from 0 to {MOST}: changes=1"
        )
    relation, values = asked_row(state, what, row)
    short = short_of_memory("there is no explanation", "ask for fewer rows")
    with engine.dictionary.in_use(), interrupts_as_such(), short, engine.looking():
        version = Version(engine, state)
        goal = version.goal(relation, values)
        if version.has(relation, [goal.row])[0]:
            raise ExplanationError(
                f"{atom_text(relation, tuple(values))} is a row of version {state.version}",
                hint=f"ask why it is there: ws.explain({relation!r}, {tuple(values)!r})",
            )
        rules = Rules(version, rows)
        attempts = tuple(Attempts(version, rules, rows).of(goal))
        repairs = Repairs(engine, state, version, rules, changes)
        found: list[frozenset[Change]] = []
        if changes:
            with writing(engine):
                found = repairs.of(goal)
        given_up = repairs.gaps.below(repairs.size(found[0]) if found else changes + 1)
        fixes = tuple(tuple(_named(version, each) for each in sorted(fix)) for fix in found)
        named = {change.relation for fix in fixes for change in fix}
        keys = {name: key for name in named if (key := version.schema(name).key) is not None}
        return WhyNot(relation, tuple(values), attempts, fixes, changes, given_up, keys)


MOST = 4
"""Changes up to which sets are looked for."""


def _named(version: Version, change: Change) -> BaseChange:
    return BaseChange(change.sign, change.relation, version.values(change.relation, change.row))
