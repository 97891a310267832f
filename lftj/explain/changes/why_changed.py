# SPDX-License-Identifier: Apache-2.0
"""Explaining why a row came or went by a commit: `tx.explain_change(…)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lftj.engine.calls import short_of_memory
from lftj.engine.commit import Proposal, carry_out
from lftj.engine.versions import State
from lftj.errors import ExplanationError
from lftj.explain.changes.change_reasons import ChangeReasons
from lftj.explain.present.asked_row import asked_row, check_count
from lftj.explain.present.explain import explain
from lftj.proofs import ChangedProof, ChangeExplanation, Row, atom_text
from lftj.scantree import interrupts_as_such

if TYPE_CHECKING:
    from lftj.engine.live import Engine


def explain_change(
    engine: Engine, before: State, after: State, what: object, row: object, rows: int
) -> ChangeExplanation:
    """The reason why a row came or went between two versions; see `Transaction.explain_change`."""
    check_count("rows", rows)
    relation, values = changed_row(before, after, what, row)
    short = short_of_memory("there is no explanation", "ask for fewer rows")
    with engine.dictionary.in_use(), interrupts_as_such(), short:
        changed = ChangeReasons(engine, before, after, rows)
        was, now = changed.has(before, relation, values), changed.has(after, relation, values)
        if was == now:
            raise _unchanged(relation, values, now)
        if now:
            proof = explain(engine, after, relation, values, rows)
            one = ChangedProof(proof, tuple(changed.reasons(proof, 1)))
            return ChangeExplanation(relation, values, 1, after.version, (one,))
        found = list(explain(engine, before, relation, values, rows, rows + 1))
        broken = tuple(
            ChangedProof(each, tuple(changed.reasons(each, -1))) for each in found[:rows]
        )
        more = len(found) > rows
        return ChangeExplanation(relation, values, -1, after.version, broken, more)


def after_proposal(engine: Engine, state: State, proposal: Proposal) -> State:
    """The state that a transaction would make if it were committed now; it is not published."""
    return carry_out(state, proposal, engine.context(proposal.aggregates)).state


def changed_row(before: State, after: State, what: object, row: object) -> tuple[str, Row]:
    """The row that is asked about, of the version after where its relation is known there; raises
    as `asked_row`.
    """
    name = getattr(what, "name", what)
    there = not isinstance(name, str) or "(" in name or name in after.program.catalog.relations
    return asked_row(after if there else before, what, row)


def _unchanged(relation: str, values: Row, there: bool) -> ExplanationError:
    ask = "explain" if there else "why_not"
    place = "before and after" if there else "neither before nor after"
    return ExplanationError(
        f"the commit did not change {atom_text(relation, values)}: it was there {place}",
        hint=f"ask about the version itself: ws.{ask}({relation!r}, {values!r})",
    )
