# SPDX-License-Identifier: Apache-2.0
"""A conjunction as a problem of variable elimination: what may be derived in parts, and what stays
where the head is.

Nothing is derived apart that depends on the rule itself, or that chooses, nor a comparison whose
arithmetic may fail: it matters only where the rest of the body holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, reduce
from operator import or_

from lftj.program.arithmetic import comparison_may_fail
from lftj.program.bindings import Variables, definitions, of_literal
from lftj.program.checked import CheckedAtom, CheckedLiteral
from lftj.program.normal_form import Expression, Filter, Ref, Value
from lftj.program.rewrites.conjunct import Conjunct
from lftj.program.rewrites.elimination_trees import (
    Atom,
    Part,
    Problem,
    Total,
    eliminated,
    is_cheap,
    steps_of,
)
from lftj.program.rewrites.join_estimates import Profile, bits
from lftj.program.rewrites.rule_program import RuleProgram
from lftj.program.statistics_hints import NO_SIZE, Size
from lftj.types.sources import is_hidden

_SEARCHED_VARIABLES = 9
"""Variables up to which a body of relations without rows waits for these: any order will do."""
_LONGEST = 64
"""Literals that a body has at most which trees are looked for: more take longer than all else."""
_ROWS, _VALUES, _CROWD = 1_000, 250.0, 5.0
"""Rows that a relation is taken to have of which nothing is known, values of each column, and rows
with the value of a row drawn at random.
"""


def linked(literals: Iterable[CheckedLiteral]) -> list[int]:
    """The variables of literals, as bits, in groups that no literal links."""
    found: list[int] = []
    for literal in literals:
        variables = bits(of_literal(literal))
        near = [group for group in found if group & variables]
        found = [group for group in found if not group & variables]
        if variables:
            found.append(reduce(or_, near, variables))
    return found


class DividedBody:
    """The literals of a conjunction by what may be done with them: `atoms` and `tests` may be in
    parts, the `rest` not. `asked`: the variables of the head but for aggregated values, which the
    `totals` are of.
    """

    def __init__(
        self, conjunct: Conjunct, asked: Variables, totals: Sequence[Total], program: RuleProgram
    ):
        self.atoms: list[CheckedAtom | Filter] = []
        self.tests: list[CheckedAtom | Filter] = []
        self.rest = Conjunct()
        self._program, self._totals = program, totals
        self._held = bits(asked)
        for literal in conjunct.positive:
            if isinstance(literal, CheckedAtom) or _constant(literal) is not None:
                self.atoms.append(literal)  # type: ignore[arg-type]
            else:
                self.rest.positive.append(literal)
                self._held |= bits(of_literal(literal))
        self.tests += conjunct.negated
        for test in conjunct.filters:
            if comparison_may_fail(test):
                self.rest.filters.append(test)
                self._held |= bits(of_literal(test))
            else:
                self.tests.append(test)

    def best(self) -> Part | None:
        """The cheapest tree of parts; None where the conjunction is to stay as it is."""
        if len(self._read) < (2 if self._totals else 3) or not self._variables & ~self._held:
            return None
        if len(self.atoms) + len(self.tests) > _LONGEST:
            return None
        problem = self._problem()
        return None if problem is None or is_cheap(problem) else eliminated(self._apart(problem))

    def steps(self) -> float | None:
        """Kernel steps of the conjunction as it is; None where too little is known."""
        problem = self._problem(few=True)
        return None if problem is None else steps_of(problem)

    @cached_property
    def _read(self) -> list[CheckedAtom]:
        return [atom for atom in self.atoms if isinstance(atom, CheckedAtom)]

    @cached_property
    def _variables(self) -> int:
        """The variables of the atoms, as bits."""
        return bits(v for atom in self.atoms for v in of_literal(atom))

    def _problem(self, *, few: bool = False) -> Problem | None:
        sizes = self._sizes(few)
        if sizes is None:
            return None
        return Problem(
            [self._atom(atom, sizes) for atom in self.atoms],
            [bits(of_literal(test)) for test in self.tests],
            self._held,
            self._totals,
        )

    def _sizes(self, few: bool) -> dict[str, Size] | None:
        """The sizes of the relations read; those of relations like any other where too little is
        known, if the body is too long to leave it at that. `few` rows of all may be enough.
        """
        known = {
            each.relation: None
            if is_hidden(each.relation)
            else self._program.known.sizes(each.relation)
            for each in self._read
        }
        sizes = [*known.values()]
        if NO_SIZE in sizes:
            return None
        enough = None not in sizes and (
            few or not all(size.few for size in sizes if size is not None)
        )
        short = self._variables.bit_count() <= _SEARCHED_VARIABLES
        if not enough and short and not self._multiplies():
            return None
        width = max(len(each.args) for each in self._read)
        usual = Size(_ROWS, (_VALUES,) * width, (_CROWD,) * width)
        return {
            name: usual if size is None or (size.few and not enough) else size
            for name, size in known.items()
        }

    def _multiplies(self) -> bool:
        """Test for an aggregate over atoms that nothing links, each of which would be combined with
        every row of the others, however few they are now.
        """
        literals = (*self.atoms, *self.tests, *self.rest.literals)
        return bool(self._totals) and len(linked(literals)) > 1

    def _atom(self, atom: CheckedAtom | Filter, sizes: dict[str, Size]) -> Atom:
        if isinstance(atom, Filter):
            found = _constant(atom)
            assert found is not None
            variable, value = found
            return Atom(f"={value}", (variable,), Profile.constant(variable))
        columns = [arg.variable if isinstance(arg, Ref) else None for arg in atom.args]
        constants = [None if isinstance(arg, Ref) else arg for arg in atom.args]
        label = f"{atom.relation}{constants if any(constants) else ''}"
        named = tuple([each for each in columns if each is not None])
        profile = Profile.of(columns, sizes[atom.relation])
        keys = [v for v in named if self._program.known.keyed(atom, frozenset({v}))]
        return Atom(label, named, profile.keyed(keys))

    # ── what must not be apart ────────────────────────────────────────────────────────────────────
    def _apart(self, problem: Problem) -> Problem:
        """The problem without freedoms that recursion and choice take."""
        stuck = {
            name: is_stuck(self._program, name)
            for literal in (*self.atoms, *self.tests)
            if isinstance(literal, CheckedAtom)
            for name in [literal.relation]
        }
        atoms = [
            each._replace(apart=not stuck.get(getattr(atom, "relation", ""), False))
            for atom, each in zip(self.atoms, problem.atoms, strict=True)
        ]
        held = problem.held
        for test, variables in zip(self.tests, problem.tests, strict=True):
            if isinstance(test, CheckedAtom) and stuck[test.relation]:
                held |= variables
        return problem._replace(atoms=atoms, held=held)


def is_stuck(program: RuleProgram, name: str) -> bool:
    """Test for a relation that depends on the rule, or that chooses."""
    if is_hidden(name):
        shown = program.names.get(name) or name
        read = {
            each for rule in program.hidden_rules if rule.relation == shown for each in rule.reads
        }
        return name in program.cyclic or any(is_stuck(program, each) for each in read)
    if name in program.cyclic or name in program.avoid or program.known.chooses(name):
        return True
    return program.known.recursive(name, program.targets)


def _constant(literal: object) -> tuple[int, Expression] | None:
    """The variable and the constant of an equation that says no more than that."""
    if not isinstance(literal, Filter):
        return None
    return next(
        ((variable, value) for variable, value in definitions(literal) if isinstance(value, Value)),
        None,
    )
