"""Every row of every view has a proof that the checker accepts, after every step of random
histories.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given

from lftj.proofs.check import ProofChecker
from tests.oracle.pair import Pair
from tests.strategies.histories import AddRule, Change, History, TakeSnapshot, Transact, histories
from tests.strategies.schemas import BASES


def program_of(pair: Pair) -> str:
    """Declarations and rules of the model, as text."""
    clauses = [*(spec.declaration for spec in pair.model.specs.values()), *pair.model.rules]
    return "".join(f"{clause}\n" for clause in clauses)


def check_all(pair: Pair, most: int = 12) -> list[Any]:
    """The proofs of rows of all relations, each accepted by the checker."""
    checker = ProofChecker(program_of(pair), pair.model.base)
    snapshot = pair.workspace.snapshot()
    found = []
    for name, rows in pair.model.relations.items():
        for row in sorted(rows, key=repr)[:most]:
            proof = snapshot.explain(name, row)
            assert (proof.relation, proof.row) == (name, row)
            checker.check(proof)
            found.append(proof)
    return found


@given(histories())
def test_oracle_every_row_of_every_view_has_a_proof(history: History):
    pair = Pair((*BASES, *history.program.specs))
    changes = (Change("insert", name, tuple(rows)) for name, rows in history.start.items() if rows)
    pair.step(Transact(tuple(changes)))
    pair.step(Transact(tuple(map(AddRule, history.program.rules))))
    check_all(pair)
    for step in history.steps:
        if not isinstance(step, TakeSnapshot):
            pair.step(step)
    check_all(pair)
