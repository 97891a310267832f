# SPDX-License-Identifier: Apache-2.0
"""A checker of proofs. It believes nothing but base facts and rules, and shares no code with the
engine.

Each step is looked at by itself: its rule is one of the program's, its premises fit the rule's
literals under its bindings, what they rest on was derived before, and its height is right. What is
said about all rows, that none matches or what a group comes to, is checked against relations that
the naive engine evaluates from the facts when the first such premise asks for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from lftj.errors import ProofError
from lftj.proofs.aggregates import UserFold
from lftj.proofs.assignments import AssignmentChecker, same_rows
from lftj.proofs.instances import atom_text
from lftj.proofs.kinds import of_users
from lftj.proofs.proof import Proof
from lftj.proofs.steps import Chosen, Premise, Step, rests_on
from lftj.proofs.world import Facts, World, Wrong, check_chosen
from lftj.syntax.user_function import UserFunction

NO_AGGREGATES: Mapping[str, UserFold] = MappingProxyType({})


def check_proof(
    proof: Proof,
    facts: Facts,
    program: str | None = None,
    *,
    aggregates: Mapping[str, UserFold] | None = None,
    functions: Iterable[UserFunction] = (),
) -> None:
    """Accept a proof, or raise ProofError (E360) that names the first wrong step.

    `facts`: the base facts by relation. `program`: declarations and rules as text, those that the
    proof itself names where none are given; facts in the text count. `aggregates`: functions of the
    user's own aggregates, from the argument tuples of a group to its value. `functions`: those of
    the user's own that rules call; they are called again.

    A proof by rules alone takes time in proportion to its steps. Negations, aggregates and choices
    have the relations evaluated naively, which suits small facts only.
    """
    text = proof.program if program is None else program
    ProofChecker(text, facts, aggregates or {}, functions).check(proof)


class ProofChecker:
    """Checks any number of proofs against the same facts and rules, which it evaluates once at
    most; arguments as of `check_proof`.
    """

    def __init__(
        self,
        program: str,
        facts: Facts,
        aggregates: Mapping[str, UserFold] = NO_AGGREGATES,
        functions: Iterable[UserFunction] = (),
    ):
        self._world = World(program, facts, aggregates, of_users(functions))

    def check(self, proof: Proof) -> None:
        """Accept a proof, or raise ProofError (E360)."""
        if not proof.steps:
            raise ProofError("the proof has no steps", hint="take what ws.explain(…) returns")
        for number in range(len(proof.steps)):
            check_step(self._world, proof.steps, number)


def check_step(world: World, steps: Sequence[Step], number: int) -> None:
    """Accept one step of a proof, or raise ProofError (E360)."""
    step = steps[number]
    try:
        _StepChecker(world, steps, number).check(step)
    except (Wrong, *_UNREADABLE) as problem:
        found = problem.args[0] if isinstance(problem, Wrong) else f"no value: {problem!r}"
        row = atom_text(step.relation, step.row)
        message = f"step {number} of the proof, {row}, is wrong: {found}"
        raise ProofError(message, step=number, hint="do not believe it") from None


_UNREADABLE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    TypeError,
    ValueError,
)
"""Errors that made-up steps may lead to."""


class _StepChecker:
    """One step of a proof."""

    def __init__(self, world: World, steps: Sequence[Step], number: int):
        self._world, self._steps, self._number = world, steps, number

    def check(self, step: Step) -> None:
        """Raise Wrong, KeyError, TypeError, ValueError or ArithmeticError where it is none."""
        if any(not 0 <= each < self._number for each in rests_on(step.premises)):
            raise Wrong("it rests on a step that does not come before it")
        chosen = [each for each in step.premises if isinstance(each, Chosen)]
        if step.rule is None:
            self._base(step)
            rest: tuple[Premise, ...] = step.premises
        else:
            rest = self._by_rule(step)
        self._accepted(step, rest)
        below = [self._steps[each].height for each in rests_on(step.premises)]
        height = 0 if step.rule is None else 1 + max(below, default=0)
        if step.height != height or (step.rule is None and len(chosen) != len(step.premises)):
            raise Wrong(f"its height is {height}, not {step.height}")

    def _base(self, step: Step) -> None:
        row = self._world.facts.get(step.relation, {}).get(step.row)
        if row is None or not same_rows(step.row, row):
            raise Wrong("it is no base fact")
        if step.bindings or step.head:
            raise Wrong("a base fact binds nothing")

    def _by_rule(self, step: Step) -> tuple[Premise, ...]:
        """Check a step against its rule; the premises that are left, about the relation itself."""
        rule = self._world.rules.get(step.rule or "")
        if rule is None:
            raise Wrong("the program has no such rule")
        if not 0 <= step.head < len(rule.heads):
            raise Wrong("the rule has no such head")
        if rule.heads[step.head].relation != step.relation:
            raise Wrong(f"its rule derives {rule.heads[step.head].relation}")
        checker = AssignmentChecker(self._world, self._steps, rule, step.head)
        return checker.check(step.row, step.bindings, step.premises)

    def _accepted(self, step: Step, premises: Sequence[Premise]) -> None:
        """Check that a relation with choice domains took the row, and what is said of others."""
        domains = self._world.domains.get(step.relation, [])
        if len(premises) != len(domains):
            raise Wrong("it has another number of premises than its rule has literals")
        if not domains:
            return
        if step.row not in self._world.relations[step.relation]:
            raise Wrong("another row was chosen")
        candidates = self._world.candidates(step.relation)
        names = self._world.columns(step.relation)
        for domain, premise in zip(domains, premises, strict=True):
            bindings = tuple((names[column], step.row[column]) for column in domain)
            alike = {row for row in candidates if all(row[c] == step.row[c] for c in domain)}
            check_chosen(premise, bindings, alike, step.row)
