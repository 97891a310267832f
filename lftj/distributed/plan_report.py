"""Where relations live, and what parts are sent, for users to see."""

from __future__ import annotations

from lftj.distributed.committed_version import Present
from lftj.distributed.partitioning.cuts import ALL, ONE, Cut
from lftj.distributed.partitioning.plan import PartPlan
from lftj.engine.result import Result
from lftj.program.normal_form import RelationSchema
from lftj.storage.database import BASE_SUFFIX
from lftj.types import INT, STR

_WORDS = {ALL: "whole in every part", ONE: "in the first part"}
_COLUMNS = (("what", STR), ("stage", INT), ("relation", STR), ("how", STR), ("rows", INT))


def plan_report(present: Present) -> Result:
    """One row per local relation, by stage."""
    counts, plan = present.manifest.counts, present.plan
    rows = [
        (
            "derived",
            out.stage,
            out.relation,
            how(out.schema, out.cuts[0]) + _unsplit(plan, out.relation, out.cuts[0]),
            out.relation,
        )
        for out in plan.outputs
    ]
    rows += [
        (
            "sent",
            feed.stage,
            feed.relation,
            how(feed.schema, feed.cut) + _unsplit(plan, feed.relation, feed.cut),
            feed.relation,
        )
        for feed in plan.feeds
    ]
    rows.sort(key=lambda row: (row[1], row[0], row[2]))
    rows = [(*row[:-1], counts.get(row[-1], 0)) for row in rows]
    return Result.of_rows(_COLUMNS, rows, version=present.manifest.version, name="plan")


def _unsplit(plan: PartPlan, relation: str, cut: Cut) -> str:
    return ", hubs not split" if plan.hubs.has(relation.removesuffix(BASE_SUFFIX), cut) else ""


def how(schema: RelationSchema, cut: Cut) -> str:
    """How parts hold a relation in a cut, in words."""
    if isinstance(cut, int):
        return _WORDS.get(cut) or f"sliced by {schema.columns[cut][0]}"
    second = "whole in every part" if cut.second is None else f"by {schema.columns[cut.second][0]}"
    return f"sliced by {schema.columns[cut.column][0]}, hubs {second}"
