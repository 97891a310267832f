"""The checker rejects whatever is not a proof: ten thousand random changes of proofs, and some by
hand.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

import lftj
from lftj.proofs.proof import Proof
from lftj.proofs.steps import (
    Absent,
    Assignment,
    Branch,
    Chosen,
    Follows,
    Group,
    Holds,
    Premise,
    Step,
)
from tests.unit.explain.proven import PROGRAMS, history


def other(value: Any) -> Any:
    """A value of the same kind that no test has."""
    return f"{value}?" if isinstance(value, str) else value + 987_654


def changed(values: tuple[Any, ...], chosen: random.Random) -> tuple[Any, ...]:
    """The values, one of them another."""
    place = chosen.randrange(len(values))
    return (*values[:place], other(values[place]), *values[place + 1 :])


def renamed(bindings: Any, chosen: random.Random) -> Any:
    """Bindings with another value for one name."""
    place = chosen.randrange(len(bindings))
    name, value = bindings[place]
    return (*bindings[:place], (name, other(value)), *bindings[place + 1 :])


def tampered_premise(premise: Premise, proof: Proof, number: int, chosen: random.Random) -> Premise:
    """The premise of a step, with something wrong in it."""
    match premise:
        case Follows():
            relation = proof.steps[premise.step].relation
            wrong = [
                place
                for place, step in enumerate(proof.steps)
                if place >= number or step.relation != relation
            ]
            return premise._replace(step=chosen.choice(wrong))
        case Holds() if premise.values and chosen.random() < 0.5:
            return premise._replace(values=changed(premise.values, chosen))
        case Holds() | Absent():
            return premise._replace(instance=premise.instance + " ")
        case Branch():
            if chosen.random() < 0.3:
                return premise._replace(number=premise.number + 7)
            return premise._replace(holds=tampered_inside(premise.holds, proof, number, chosen))
        case Group():
            if premise.shown and chosen.random() < 0.5:
                place = chosen.randrange(len(premise.shown))
                inside = tampered_inside(premise.shown[place], proof, number, chosen)
                shown = (*premise.shown[:place], inside, *premise.shown[place + 1 :])
                return premise._replace(shown=shown)
            if chosen.random() < 0.5:
                return premise._replace(size=premise.size + 1)
            return premise._replace(value=other(premise.value))
        case Chosen():
            if premise.rejected and chosen.random() < 0.5:
                rows = premise.rejected
                return premise._replace(rejected=(changed(rows[0], chosen), *rows[1:]))
            return premise._replace(size=premise.size + 1)
    raise AssertionError(premise)


def tampered_inside(
    inside: Assignment, proof: Proof, number: int, chosen: random.Random
) -> Assignment:
    """An assignment with something wrong in it."""
    if inside.bindings and (not inside.premises or chosen.random() < 0.4):
        return inside._replace(bindings=renamed(inside.bindings, chosen))
    premises = list(inside.premises)
    place = chosen.randrange(len(premises))
    premises[place] = tampered_premise(premises[place], proof, number, chosen)
    return inside._replace(premises=tuple(premises))


def tampered_step(proof: Proof, number: int, chosen: random.Random) -> Step:
    """A step of the proof with something wrong in it."""
    step = proof.steps[number]
    ways: list[Callable[[], Step]] = [lambda: replace(step, height=step.height + 1)]
    if step.row:
        ways.append(lambda: replace(step, row=changed(step.row, chosen)))
    if step.rule is None:
        ways.append(lambda: replace(step, bindings=(("x", 1),)))
        ways.append(lambda: replace(step, rule="e(x, y) :- e(y, x)."))
    else:
        ways.append(lambda: replace(step, rule=None, height=0, bindings=(), premises=()))
        ways.append(lambda: replace(step, head=step.head + 2))
    if step.bindings:
        ways.append(lambda: replace(step, bindings=renamed(step.bindings, chosen)))
        ways.append(lambda: replace(step, bindings=step.bindings[1:] + step.bindings[1:2] * 2))
    if step.premises:
        place = chosen.randrange(len(step.premises))
        rest = step.premises[:place] + step.premises[place + 1 :]
        ways.append(lambda: replace(step, premises=rest))
        ways.append(lambda: replace(step, premises=(*step.premises, step.premises[place])))
        wrong = tampered_premise(step.premises[place], proof, number, chosen)
        for _ in range(4):
            ways.append(
                lambda: replace(
                    step, premises=(*step.premises[:place], wrong, *step.premises[place + 1 :])
                )
            )
    return chosen.choice(ways)()


def proofs(name: str) -> Iterator[tuple[lftj.ProofChecker, Proof]]:
    """Proofs of a program with the checker of their facts."""
    for seed in range(3):
        for workspace, facts in history(name, seed):
            checker = lftj.ProofChecker(PROGRAMS[name], facts)
            for view in workspace.relations:
                for row in workspace[view]:
                    yield checker, workspace.explain(view, row)


@pytest.mark.parametrize("name", PROGRAMS)
def test_tampered_proofs_are_rejected(name: str) -> None:
    chosen, known = random.Random(name), list(proofs(name))
    for _ in range(900):
        checker, proof = chosen.choice(known)
        number = chosen.randrange(len(proof))
        steps = list(proof.steps)
        steps[number] = tampered_step(proof, number, chosen)
        wrong = replace(proof, steps=tuple(steps))
        with pytest.raises(lftj.ProofError) as raised:
            checker.check(wrong)
        assert raised.value.code == "E360"
        assert raised.value.step is not None, wrong
        assert raised.value.step >= number, wrong


def test_the_wrong_step_is_named() -> None:
    workspace = lftj.connect()
    text = ".decl e(x: number) .decl f(x: number) f(x) :- e(x), x > 1."
    workspace.add_rules(text)
    workspace.load("e", [(2,)])
    proof = workspace.explain("f", (2,))
    lftj.check_proof(proof, {"e": [(2,)]}, text)
    with pytest.raises(
        lftj.ProofError, match=r"step 0 of the proof, e\(2\), is wrong: it is no base"
    ):
        lftj.check_proof(proof, {"e": [(3,)]}, text)
    with pytest.raises(lftj.ProofError, match=r"step 1 of the proof, .* no such rule"):
        lftj.check_proof(proof, {"e": [(2,)]}, text.replace("> 1", "> 0"))
    with pytest.raises(lftj.ProofError, match="no steps"):
        lftj.check_proof(Proof(()), {})


def test_facts_in_the_text_count_and_true_is_not_one() -> None:
    text = ".decl e(x: bool) .decl f(x: bool) e(true). f(x) :- e(x)."
    workspace = lftj.connect()
    workspace.add_rules(text)
    proof = workspace.explain("f", (True,))
    lftj.check_proof(proof, {}, text)
    one = replace(proof.steps[0], row=(1,))
    with pytest.raises(lftj.ProofError, match="step 0"):
        lftj.check_proof(replace(proof, steps=(one, *proof.steps[1:])), {}, text)


def test_aggregates_of_the_user_are_checked_with_their_function() -> None:
    workspace = lftj.connect()
    workspace.add_aggregate(
        lftj.UserAggregate(
            "times",
            zero=1,
            lift=lambda v: v,
            combine=lambda a, b: a * b,
            argument_types=(int,),
            result_type=int,
        )
    )
    text = ".decl e(x: number) .decl f(x: number) f(times(x)) :- e(x)."
    workspace.add_rules(text)
    workspace.load("e", [(2,), (3,)])
    proof = workspace.explain("f", (6,))

    def product(rows: Any) -> int:
        return rows[0][0] * rows[1][0]

    lftj.check_proof(proof, {"e": [(2,), (3,)]}, text, aggregates={"times": product})
    with pytest.raises(lftj.ProofError):
        lftj.check_proof(proof, {"e": [(2,), (4,)]}, text, aggregates={"times": product})
