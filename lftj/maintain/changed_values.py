"""Which values the rows of a commit have: a rule whose constants are not among them need not be looked at.

Many views may read one relation, each for a constant of its own, as in `late(f) :- event("late", f).` Asking all of them for what changed
took half a tenth of a millisecond each, whatever came of it.
"""

from __future__ import annotations

from collections.abc import Mapping

from lftj.program.normal_form import Expression, FunctorRule, NegatedAtom, NormalRule, PositiveAtom, Ref, Value
from lftj.storage.delta import Delta
from lftj.types.codes import Interning, lookup_scalar

_FEW = 10_000  # changed rows of a relation; among more, looking for values takes longer than asking views in vain


class ChangedValues:
    """The values in the columns of changes that rules have constants for; each column is gone through once. `deltas` may grow."""

    def __init__(self, deltas: Mapping[str, Delta], dictionary: Interning):
        self._deltas = deltas
        self._dictionary = dictionary
        self._values: dict[tuple[str, int], frozenset[int]] = {}

    def concern(self, rule: NormalRule | FunctorRule) -> bool:
        """Whether an atom of a rule, negated or not, may match a row that came or went; of many rows some do. O(atoms)."""
        if isinstance(rule, FunctorRule):
            return rule.domain in self._deltas
        atoms = [atom for atom in (*rule.atoms, *rule.negated) if atom.relation in self._deltas]
        fixed = {given.variable: given.expression for given in rule.assignments} if atoms else {}
        return any(self._match(atom, fixed) for atom in atoms)

    def _match(self, atom: PositiveAtom | NegatedAtom, fixed: Mapping[int, Expression]) -> bool:
        """`fixed`: what variables are by equations, as of `x = 3`, each of which has to hold as well."""
        if len(self._deltas[atom.relation]) > _FEW:
            return True
        for column, given in enumerate(atom.args):
            argument = fixed.get(given.variable) if isinstance(given, Ref) else given
            if isinstance(argument, Value):
                code = lookup_scalar(argument.type, argument.value, self._dictionary)
                if code is None or code not in self._in(atom.relation, column):
                    return False
        return True

    def _in(self, relation: str, column: int) -> frozenset[int]:
        if (relation, column) not in self._values:
            delta = self._deltas[relation]
            self._values[relation, column] = frozenset(delta.inserts[column].tolist()).union(delta.erases[column].tolist())
        return self._values[relation, column]
