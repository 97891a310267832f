"""Where relations live, and what parts are sent, for users to see."""

from __future__ import annotations

from lftj.distributed.placing.cuts import ALL, ONE
from lftj.distributed.present import Present
from lftj.program.normal_form import RelationSchema
from lftj.result import Result
from lftj.types import INT, STR

_WORDS = {ALL: "whole in every part", ONE: "in the first part"}
_COLUMNS = (("what", STR), ("stage", INT), ("relation", STR), ("how", STR), ("rows", INT))


def plan_report(present: Present) -> Result:
    """One row per local relation, by stage."""
    counts, plan = present.manifest.counts, present.plan
    rows = [("derived", out.stage, out.relation, how(out.schema, out.cuts[0]), counts.get(out.relation, 0)) for out in plan.outputs]
    rows += [("sent", feed.stage, feed.relation, how(feed.schema, feed.cut), counts.get(feed.relation, 0)) for feed in plan.feeds]
    rows.sort(key=lambda row: (row[1], row[0], row[2]))
    return Result.of_rows(_COLUMNS, rows, version=present.manifest.version, name="plan")


def how(schema: RelationSchema, cut: int) -> str:
    """How parts hold a relation in a cut, in words."""
    return _WORDS.get(cut) or f"sliced by {schema.columns[cut][0]}"
