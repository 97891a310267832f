# SPDX-License-Identifier: Apache-2.0
"""A change of one row as data: the proof that made it come, or the proofs that a commit broke."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from lftj.proofs.folding import to_pre
from lftj.proofs.instances import atom_text
from lftj.proofs.missing import BaseChange
from lftj.proofs.proof import Proof
from lftj.proofs.steps import Row


class Reason(NamedTuple):
    """One thing that the commit changed: `what` in words, with the base changes behind it. `step`:
    the step of the proof that it is about.
    """

    step: int
    what: str
    changes: tuple[BaseChange, ...] = ()


class ChangedProof(NamedTuple):
    """A proof, and what the commit changed of it: what is new of it, or what broke it."""

    proof: Proof
    reasons: tuple[Reason, ...]


@dataclass(frozen=True)
class ChangeExplanation:
    """The reason why a row came or went by a commit. `print()` it; `to_dict()` gives plain data.

    `sign` is +1 for a row that came and −1 for one that went. `proofs`: of a row that came one
    proof, of the version after; of one that went its proofs in the version before. Of each
    `reasons` says what the commit changed. `more` is True where the row had further proofs.
    """

    relation: str
    row: Row
    sign: int
    version: int
    proofs: tuple[ChangedProof, ...]
    more: bool = False

    @property
    def changes(self) -> tuple[BaseChange, ...]:
        """The base facts that the commit added (+1) or removed (−1) and that the row turned on."""
        every = (each for one in self.proofs for reason in one.reasons for each in reason.changes)
        return tuple(dict.fromkeys(every))

    def to_dict(self) -> dict[str, Any]:
        """The answer as dictionaries and lists."""
        return {
            "relation": self.relation,
            "row": list(self.row),
            "sign": self.sign,
            "version": self.version,
            "more": self.more,
            "proofs": [
                {
                    "proof": each.proof.to_dict(),
                    "reasons": [
                        {
                            "step": reason.step,
                            "what": reason.what,
                            "changes": [
                                {"sign": c.sign, "relation": c.relation, "row": list(c.row)}
                                for c in reason.changes
                            ],
                        }
                        for reason in each.reasons
                    ],
                }
                for each in self.proofs
            ],
        }

    def __str__(self) -> str:
        verb = "came with" if self.sign > 0 else "went with"
        lines = [f"{atom_text(self.relation, self.row)} {verb} version {self.version}"]
        for number, each in enumerate(self.proofs, 1):
            if self.sign < 0:
                lines.append(f"  proof {number} is broken:")
            for reason in each.reasons:
                lines.append(f"    {reason.what}")
                lines += [
                    f"      {change}" for change in reason.changes if str(change) != reason.what
                ]
            lines.append("  by this proof:" if self.sign > 0 else "    it was:")
            indent = "    " if self.sign > 0 else "      "
            lines += [f"{indent}{line}" for line in str(each.proof).splitlines()]
        return "\n".join([*lines, *["  it had further proofs"] * self.more])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return to_pre(str(self), "lftj-change")
