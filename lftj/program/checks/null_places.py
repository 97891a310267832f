# SPDX-License-Identifier: Apache-2.0
"""Places of a body that constrain its variables, and what bodies around it say of these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from lftj.program.bindings import NONE, Variables, bound_by
from lftj.program.checked import (
    CheckedAggregate,
    CheckedAtom,
    CheckedDisjunction,
    CheckedLiteral,
    FunctorCall,
)
from lftj.program.checks.null_terms import absent_test
from lftj.program.normal_form import Expression, Filter, Ref
from lftj.program.schema import Catalog
from lftj.scantree.frozen import frozen
from lftj.types import Type

Literals = tuple[CheckedLiteral, ...]


@frozen(slots=True)
class Around:
    """Variables of the bodies around one: those that they bind, those that are not NULL, and those
    that have not the code of NULL either, which a plain integer may have.
    """

    bound: Variables = NONE
    valued: Variables = NONE
    safe: Variables = NONE


class Places:
    """The places of a body that constrain its variables. `carried`: its equations that carry NULL,
    each with the variable that it binds.
    """

    def __init__(
        self,
        literals: Sequence[CheckedLiteral],
        catalog: Catalog,
        carried: Mapping[Filter, int],
    ):
        self.times: Counter[int] = Counter()
        self.in_atoms: set[int] = set()
        self.optional: set[int] = set()
        self.plain: set[int] = set()
        self.safe: set[int] = set()
        for literal in literals:
            match literal:
                case CheckedAtom():
                    self._atom(literal, catalog)
                case Filter() if literal in carried:
                    self.times[carried[literal]] += 1
                case Filter("=", left, right) if absent_test(literal) is None:
                    self._count(left, right)
                case FunctorCall(result=int() as result) | CheckedAggregate(result=result):
                    self.times[result] += 1
                case CheckedDisjunction(branches) if branches:
                    read = (bound_by(constraining(branch.literals)) for branch in branches)
                    self.times.update(frozenset.intersection(*read))

    def _atom(self, atom: CheckedAtom, catalog: Catalog) -> None:
        for arg, (_, type) in zip(atom.args, catalog.relations[atom.relation].columns, strict=True):
            if isinstance(arg, Ref):
                self._count(arg)
                self.in_atoms.add(arg.variable)
                (self.optional if type.optional else self.plain).add(arg.variable)
                if not type.optional and not may_have_code(type):
                    self.safe.add(arg.variable)

    def _count(self, *sides: Expression) -> None:
        self.times.update(side.variable for side in sides if isinstance(side, Ref))


def constraining(literals: Iterable[CheckedLiteral]) -> list[CheckedLiteral]:
    """The literals that are more than a test whether a variable is NULL."""
    return [each for each in literals if absent_test(each) is None]


def others_of(literals: Sequence[CheckedLiteral], place: int, around: Around) -> Literals:
    """The literals beside one, without those that say of a variable, which something else binds,
    that it is NULL: they constrain nothing.
    """
    bound = bound_by(constraining(literals), around.bound)
    return tuple(
        each
        for number, each in enumerate(literals)
        if number != place
        if not isinstance(term := absent_test(each), Ref) or term.variable not in bound
    )


def may_have_code(type: Type) -> bool:
    """Test for a type without NULL of which a value has the code of NULL."""
    return type.name == "int" and not type.unsigned
