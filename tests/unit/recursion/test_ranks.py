"""Deletions followed by ranks: views, and the ranks themselves, after each of many changes."""

from __future__ import annotations

import random
from collections.abc import Collection

import pytest

import lftj
from lftj.maintenance.ladder import STRATA
from lftj.syntax.parser import parse
from tests.reference import evaluate
from tests.unit.recursion.proofs import Row
from tests.unit.recursion.stratum import check_ranks, ranks_of
from tests.unit.recursion.test_elastic_proofs import PROGRAMS, WIDTHS, change, fact, text

RANKED = [name for name in PROGRAMS if name != "nullary"]
ALONE = frozenset(each.name for each in STRATA if not each.needed) - {"rederivation"}
WALKED = {
    "closure",
    "mirrored closure",
    "steps of several instantiations",
    "non-linear",
    "unary",
    "base and derived",
}
"""Programs whose strata walks close, which need no ranks."""


def _connect(without: Collection[str] = ALONE, **options: float) -> lftj.Workspace:
    tuning = lftj.Tuning(ranked_at_once=1, without=without)
    return lftj.connect(tuning=tuning, **options)


@pytest.mark.parametrize("elastic", [1e9, 0.5])
@pytest.mark.parametrize("name", RANKED)
def test_ranks_and_rows_are_right_after_every_change(name: str, elastic: float):
    rules = PROGRAMS[name]
    rnd = random.Random(f"ranks {name} {elastic}")
    used = sorted({atom[0] for rule in rules for atom in (rule.head, *rule.atoms, *rule.negated)})
    facts: dict[str, set[Row]] = {relation: set() for relation in WIDTHS}
    workspace = _connect(ALONE if elastic > 1 else frozenset(), elastic=elastic)
    workspace.add_rules(text(rules, name))
    change(workspace, facts, [], [fact(rnd, used, 5) for _ in range(14)])
    used_ranks = kept = 0
    for _ in range(12):
        present = sorted((relation, row) for relation, rows in facts.items() for row in rows)
        gone = [each for each in present if rnd.random() < 0.15]
        change(workspace, facts, gone, [fact(rnd, used, 5) for _ in range(rnd.randrange(4))])
        assert {name: set(workspace[name].fetchall()) for name in WIDTHS} == evaluate(
            parse(text(rules, name)), facts
        )
        kept += check_ranks(workspace)
        used_ranks += any(ranks.used for ranks in ranks_of(workspace))
    assert workspace.verify() == []
    if elastic > 1 and name not in WALKED:
        assert kept, "no ranks were kept"
        assert used_ranks, "no deletion was followed by ranks"
