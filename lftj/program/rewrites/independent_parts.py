# SPDX-License-Identifier: Apache-2.0
"""Parts of a body that no variable links: those without a variable of the head only have to hold,
and are decided once each.

    q(x) :- i(x), d(_), e(y), f(y, _).     becomes     q(x) :- i(x), any1(), any2().   any1() :-
    d(_).   any2() :- e(y), f(y, _).

Joined, they would multiply each other: every row of d would be tried with every one of e, and
counted with every one of i. Where several parts have variables of the head, each gives way to its
values of these, so that only as much is combined as the head has rows. Where a head counts
assignments, all of them count, and nothing is changed; `min` and `max` do not count.

Arithmetic that fails matters only if the rest of the body holds. So a part in which it may fail is
asked with the others beside it, and parts in which it may fail are not taken apart from each other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import pairwise

from lftj.functions.aggregates import EXTREMES
from lftj.program.arithmetic import comparison_may_fail, may_fail
from lftj.program.bindings import (
    NONE,
    Variables,
    definitions,
    of_expressions,
    of_literal,
    of_literals,
)
from lftj.program.checked import CheckedAtom, CheckedLiteral
from lftj.program.hidden import PART
from lftj.program.normal_form import Filter, Ref
from lftj.program.rewrites.conjunct import Conjunct
from lftj.program.rewrites.rule_program import (
    Copied,
    HeadTerm,
    RuleProgram,
    aggregates_in,
    values_in,
)
from lftj.program.statistics_hints import Known
from lftj.scantree.frozen import frozen

Define = Callable[[Sequence[Ref], Conjunct], CheckedAtom]
"""The atom of a hidden relation of these variables, for which a conjunction holds."""
Fixed = Mapping[int, Sequence[CheckedLiteral]]


@frozen
class _Part:
    """Literals that variables link, and these variables."""

    literals: Conjunct
    variables: Variables

    @property
    def may_fail(self) -> bool:
        """Test for arithmetic that may have no value."""
        return any(
            comparison_may_fail(each) for each in self.literals.literals if isinstance(each, Filter)
        )

    @property
    def reads(self) -> set[str]:
        """The relations in it."""
        return {each.relation for each in self.literals.literals if isinstance(each, CheckedAtom)}


def independent_parts(program: RuleProgram) -> RuleProgram:
    """Hidden relations in place of parts of the bodies, where those would multiply each other."""
    definition = program.finished
    if definition is None or not definition.whole or definition.functor is not None:
        return program
    copied = Copied(program)

    def part(columns: Sequence[Ref], literals: Conjunct) -> CheckedAtom:
        return CheckedAtom(copied.draft.define_by(PART, columns, literals), tuple(columns))

    parts = IndependentParts(part, program.known, program.avoid)
    finished = tuple(parts.of(conjunct, definition.head) for conjunct in definition.finished)
    if all(made is was for made, was in zip(finished, definition.finished, strict=True)):
        return program
    copied.draft.replace_top(finished=finished, whole=False)
    return copied.draft


class IndependentParts:
    """Takes bodies apart. Nothing is taken out that reads one of the relations to `avoid`, or one
    that chooses.
    """

    def __init__(self, define: Define, known: Known, avoid: Collection[str]):
        self._define, self._known, self._avoid = define, known, avoid

    def of(self, conjunct: Conjunct, head: Sequence[HeadTerm]) -> Conjunct:
        """Restrict the conjunction to the variables of the head, with hidden relations in place of
        parts.
        """
        aggregates = aggregates_in(head)
        if any(term.function not in EXTREMES for term in aggregates):
            return conjunct
        fixed = _fixed(conjunct)  # a constant links nothing
        parts, rest = _parts_of(conjunct, fixed)
        if len(parts) < 2:
            return conjunct
        terms = values_in(head)
        wanted = of_expressions(terms)
        kept, tested = self._tested(
            parts, fixed, rest, wanted - fixed.keys(), any(map(may_fail, terms))
        )
        if not aggregates:
            kept = self._projected(kept, wanted - fixed.keys(), fixed)
        if kept == parts:
            return conjunct
        return Conjunct.union(
            [_together(kept, fixed, wanted | of_literals(rest.literals)), rest, Conjunct([*tested])]
        )

    def _tested(
        self,
        parts: Sequence[_Part],
        fixed: Fixed,
        rest: Conjunct,
        wanted: Variables,
        head_may_fail: bool,
    ) -> tuple[list[_Part], list[CheckedAtom]]:
        """The parts that stay, and what is asked instead of the others."""
        kept = [part for part in parts if part.variables & wanted or self._is_stuck(part)]
        if not kept:
            kept = [part for part in parts if part.may_fail] or [parts[0]]
        loose = [part for part in parts if part not in kept]
        failing = [part for part in loose if part.may_fail]
        if head_may_fail or any(part.may_fail or self._is_stuck(part) for part in kept):
            kept, failing = [part for part in parts if part in kept or part in failing], []
        tested = [
            self._define((), _together([part], fixed))
            for part in loose
            if part not in kept and not part.may_fail
        ]
        if failing:
            others = [self._define((), _together(kept, fixed))]
            beside = Conjunct([*rest.positive, *tested, *others], rest.negated, rest.filters)
            tested.append(
                self._define(
                    (),
                    Conjunct.union([_together(failing, fixed, of_literals(rest.literals)), beside]),
                )
            )
        return kept, tested

    def _projected(self, parts: Sequence[_Part], wanted: Variables, fixed: Fixed) -> list[_Part]:
        """The parts, where several have wanted variables each with no others, if those might repeat
        their values.
        """
        if sum(not part.variables.isdisjoint(wanted) for part in parts) < 2:
            return list(parts)
        return [self._of_wanted(part, wanted & part.variables, fixed) for part in parts]

    def _of_wanted(self, part: _Part, own: Variables, fixed: Fixed) -> _Part:
        decided = frozenset(_fixed(part.literals, own)) | own
        alone = [each for each in part.literals.positive if isinstance(each, CheckedAtom)]
        unique = decided >= part.variables or (
            len(alone) == 1 and self._known.keyed(alone[0], decided | fixed.keys())
        )
        if not own or unique or part.may_fail or self._is_stuck(part):
            return part
        return _Part(
            Conjunct(
                [
                    self._define(
                        [Ref(variable) for variable in sorted(own)], _together([part], fixed)
                    )
                ]
            ),
            own,
        )

    def _is_stuck(self, part: _Part) -> bool:
        return any(name in self._avoid or self._known.chooses(name) for name in part.reads)


# ── parts ─────────────────────────────────────────────────────────────────────────────────────────
def _fixed(conjunct: Conjunct, given: Variables = NONE) -> Fixed:
    """The variables that constants settle, and values that are `given`, with the equations that say
    so, one for each. A further equation of such a variable is a test.
    """
    found: dict[int, list[CheckedLiteral]] = {}
    equations, size = (
        [
            each
            for each in conjunct.positive
            if isinstance(each, Filter) and not comparison_may_fail(each)
        ],
        -1,
    )
    while size != (size := len(found)):
        for equation in equations:
            for variable, value in definitions(equation):
                needed = of_expressions([value]) - given
                if variable not in found and needed <= found.keys() and variable not in needed:
                    said = [literal for each in sorted(needed) for literal in found[each]]
                    found[variable] = list(dict.fromkeys([*said, equation]))
    return found


def _parts_of(conjunct: Conjunct, fixed: Fixed) -> tuple[list[_Part], Conjunct]:
    """The parts, by their first literals, and the literals that no variable links, without the
    equations that fix one.
    """
    equations = {id(each) for equations in fixed.values() for each in equations}
    linked: dict[
        int, int
    ] = {}  # each variable leads to another of its part, the last one to itself

    def last(variable: int) -> int:
        while linked.setdefault(variable, variable) != variable:
            linked[variable] = variable = linked[linked[variable]]
        return variable

    for literal in conjunct.literals:
        for one, other in pairwise(of_literal(literal) - fixed.keys()):
            linked[last(one)] = last(other)

    def part_of(literal: CheckedLiteral) -> int | None:
        return next((last(each) for each in sorted(of_literal(literal)) if each not in fixed), None)

    found = Conjunct(
        [each for each in conjunct.positive if id(each) not in equations],
        conjunct.negated,
        conjunct.filters,
    ).split(part_of)
    rest = found.pop(None, Conjunct())
    return [_Part(part, of_literals(part.literals) - fixed.keys()) for part in found.values()], rest


def _together(parts: Iterable[_Part], fixed: Fixed, wanted: Variables = NONE) -> Conjunct:
    """The literals of parts, and the equations that fix a variable of theirs, or a wanted one."""
    whole = Conjunct.union(part.literals for part in parts)
    own = of_literals(whole.literals) | wanted
    said = dict.fromkeys(
        each for variable, equations in fixed.items() if variable in own for each in equations
    )
    return Conjunct.union([Conjunct([*said]), whole])
