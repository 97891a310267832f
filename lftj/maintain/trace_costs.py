"""What changes cost a rule that is maintained by its trace: known from those before, guessed where there were none."""

from __future__ import annotations

from collections.abc import Mapping

from lftj.maintain.trace_state import TraceState
from lftj.program.normal_form import NormalRule

_STAB = 30  # a look-up in a sensitivity index, in kernel steps
_SEEN = 64  # changed rows after which their average tells something


class TraceCosts:
    """The costs of one body, in kernel steps, by which of its relations changed; look-ups in indices are no steps but take time too."""

    def __init__(self, rule: NormalRule):
        self._reads = frozenset(rule.reads)
        self._seen: dict[frozenset[str], tuple[int, float]] = {}

    def note(self, sizes: Mapping[str, int], steps: int, stabs: int) -> None:
        """Remember what a change took, also one that was given up. `sizes`: the changed rows of each relation."""
        changed = self._reads.intersection(sizes)
        rows, cost = self._seen.get(changed, (0, 0.0))
        self._seen[changed] = rows + sum(sizes[name] for name in changed), cost + steps + _STAB * stabs

    def expected(self, trace: TraceState, sizes: Mapping[str, int]) -> float:
        """What a change is to cost: as much a row as before, or until that is known a look-up for each row of an atom with an index."""
        changed = self._reads.intersection(sizes)
        rows, cost = self._seen.get(changed, (0, 0.0))
        if rows >= _SEEN:
            return cost / rows * sum(sizes[name] for name in changed)
        atoms = (*trace.body.plan.atoms, *trace.body.plan.probes)
        looked_up = {number for number, _ in trace.indices}
        return float(_STAB * sum(sizes.get(atoms[number].relation, 0) for number in looked_up))
