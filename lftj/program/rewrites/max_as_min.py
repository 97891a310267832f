"""The greatest value below a bound as a least one: `u = max s : { e(s), s < t }` looked for in the
order in which it comes first.

A search ends at the first row of a group only where it ascends (`lftj/join/run/least_values.py`).
So the atoms of s give way to hidden relations of their rows in which s is *mirrored*: every bit of
its code is turned, so that what was greatest is least. This never fails, and turning the bits once
more gives s back. Only for a maximum with an upper bound by outer variables and no lower one: this
has, for each of their values, as many proofs as there are rows below; any other has as many as its
rows, which may as well be kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from lftj.program.bindings import Variables, of_expressions, of_literal, of_literals
from lftj.program.checked import CheckedAtom, CheckedLiteral
from lftj.program.conjunct import Conjunct
from lftj.program.hidden import HiddenRelations
from lftj.program.normal_form import Apply, Expression, Filter, Ref, RuleVariable
from lftj.types import INT, Type

_BELOW, _ABOVE = ("<", "<="), (">", ">=")


def mirror(value: Expression, type: Type = INT) -> Apply:
    """The value with every bit of its code turned; of `type` where that is to be a value of a user
    again.
    """
    return Apply("mirror", (value,), type)


class Mirrored:
    """Conjunctions of one rule, with a variable mirrored. `new_variable`: as of `Agenda`, which
    gives the `variables` too.
    """

    def __init__(
        self,
        hidden: HiddenRelations,
        variables: Sequence[RuleVariable],
        new_variable: Callable[[Type], Ref],
    ):
        self._hidden = hidden
        self._variables = variables
        self._new_variable = new_variable

    def of(
        self, conjunct: Conjunct, target: Expression | None, group: Variables
    ) -> tuple[Conjunct, Ref] | None:
        """The conjunction and the variable whose least value mirrors the greatest of `target`; None
        where nothing would be won.
        """
        if (
            not isinstance(target, Ref)
            or target.variable in group
            or self._variables[target.variable].type.name == "str"
        ):
            return None
        found = [
            (test, bound)
            for test in conjunct.filters
            if (bound := bound_of(test, target)) is not None
        ]
        bounds = [
            (test, bound)
            for test, bound in found
            if (read := of_expressions(bound[1:])) and read <= group
        ]
        if not bounds or any(operator not in _BELOW for _, (operator, _) in bounds):
            return None
        atoms = [
            each
            for each in conjunct.positive
            if isinstance(each, CheckedAtom) and target.variable in of_literal(each)
        ]
        if not atoms:
            return None
        others: list[CheckedLiteral] = [each for each in conjunct.positive if each not in atoms]
        filters = [
            test for test in conjunct.filters if all(test is not other for other, _ in bounds)
        ]
        turned = self._new_variable(INT)
        asked = group | of_literals([*others, *filters, *conjunct.negated])
        made = [self._atom(each, target, turned, asked | _in_others(each, atoms)) for each in atoms]
        if target.variable in of_literals([*others, *filters, *conjunct.negated]):
            others.append(
                Filter("=", target, mirror(turned, self._variables[target.variable].type))
            )
        filters += [
            Filter(operator, mirror(bound), turned).turned for _, (operator, bound) in bounds
        ]
        return Conjunct([*made, *others], list(conjunct.negated), filters), turned

    def _atom(self, atom: CheckedAtom, target: Ref, turned: Ref, asked: Variables) -> CheckedAtom:
        """The atom of a hidden relation that has the mirrored value in place of the target, and
        other variables where somebody asks.
        """
        others = [
            Ref(variable) for variable in sorted(of_literal(atom) & asked - {target.variable})
        ]
        made = self._new_variable(INT)
        name = self._hidden.define_computed(
            atom, (*others, made), made, mirror(target), self._variables
        )
        return CheckedAtom(name, (*others, turned))


def bound_of(test: Filter, target: Ref) -> tuple[str, Expression] | None:
    """How a comparison bounds a variable: the operator as if the variable stood left of it, and
    what stands on the other side.
    """
    reading = next((each for each in (test, test.turned) if each.left == target), None)
    return (
        (reading.operator, reading.right)
        if reading is not None and reading.operator in (*_BELOW, *_ABOVE)
        else None
    )


def _in_others(atom: CheckedAtom, atoms: Iterable[CheckedAtom]) -> Variables:
    return of_expressions(arg for other in atoms if other is not atom for arg in other.args)
