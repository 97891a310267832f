"""Rules that stay prepared: plans are made once for relations of about one size, and evaluations do
not know of each other.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import lftj
from lftj.maintenance.bootstrap import Iterations
from lftj.maintenance.semi_naive.closure import Closure
from lftj.maintenance.semi_naive.prepared_rules import PreparedRules
from lftj.program.normal_form import NormalRule

RULES = """
.decl e(d: number, x: number, y: number)
.decl r(d: number, x: number, y: number)
.decl s(d: number, x: number)
r(d, x, y) :- e(d, x, y).
r(d, x, z) :- r(d, x, y), s(d, y), e(d, y, z).
s(d, x) :- r(d, x, _), x > 2.
"""


def test_every_evaluation_gives_what_one_from_nothing_gives():
    workspace: Any = lftj.connect()
    workspace.add_rules(RULES)
    engine = workspace._backend
    program = engine.state.program.stratified
    stratum = next(stratum for stratum in program.strata if stratum.recursive)
    rules = [rule for rule in stratum.rules if isinstance(rule, NormalRule)]
    schemas = {name: program.relations[name] for name in stratum.relations}
    prepared = PreparedRules(schemas, rules)
    chooser, plans = random.Random(4), []
    for rows in (150, 160, 140, 900):
        with workspace.transaction() as tx:
            tx.delete("e", workspace["e"].fetchall())
            tx.insert(
                "e",
                [
                    (chooser.randrange(9), chooser.randrange(12), chooser.randrange(12))
                    for _ in range(rows)
                ],
            )
        context = engine.context({})
        closure = Closure(schemas, rules, engine.state.database, context)
        expected: Any = Iterations(closure, None).run()
        found: Any = Iterations(replace(closure, prepared=prepared), None).run()
        assert {
            name: [column.tolist() for column in columns] for name, columns in found.items()
        } == {name: [column.tolist() for column in columns] for name, columns in expected.items()}
        assert len(found["r"][0]) > rows / 2
        plans.append([variant.idle_plans[0] for variant in (*prepared.seeds, *prepared.variants)])
    assert plans[0] == plans[1] == plans[2]
    assert not set(plans[2]) & set(plans[3])
