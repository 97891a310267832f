# SPDX-License-Identifier: Apache-2.0
"""A proof as data: steps in an order in which each rests on earlier ones only.

A step derives one row, by one rule under bindings of its variables, from premises, one for each
literal of the rule as written. A base fact is a step without a rule. The last step derives the row
that was asked about. A row that is needed several times is derived once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from lftj.proofs.steps import (
    Absent,
    Assignment,
    Bindings,
    Branch,
    Chosen,
    Follows,
    Group,
    Holds,
    Origin,
    Part,
    Premise,
    Row,
    Step,
    plain,
)

__all__ = [
    "Absent",
    "Assignment",
    "Bindings",
    "Branch",
    "Chosen",
    "Follows",
    "Group",
    "Holds",
    "Origin",
    "Part",
    "Premise",
    "Proof",
    "Row",
    "Step",
]


@dataclass(frozen=True)
class Proof:
    """The reason why one row is there. `print()` it for a tree of text; `to_dict()` gives plain
    data.

    `smallest`: no proof of this row has a smaller height; False where the search was bounded and
    found some proof. `program` is the text of the declarations and rules that it speaks of.
    """

    steps: tuple[Step, ...]
    smallest: bool = True
    _program: Callable[[], str] = field(default=str, repr=False, compare=False)
    _count: Callable[[], int] = field(default=int, repr=False, compare=False)
    _origins: Callable[[], dict[int, Origin]] = field(default=dict, repr=False, compare=False)

    @property
    def relation(self) -> str:
        """The relation of the row."""
        return self.steps[-1].relation

    @property
    def row(self) -> Row:
        """The row that is proven."""
        return self.steps[-1].row

    @property
    def height(self) -> int:
        """Rules one above the other, 0 for a base fact."""
        return self.steps[-1].height

    @property
    def program(self) -> str:
        """Declarations and rules of all relations that the proof can speak of, as text."""
        return self._program()

    @property
    def facts(self) -> dict[str, list[Row]]:
        """The base facts that the proof rests on, by relation."""
        found: dict[str, list[Row]] = {}
        for step in self.steps:
            if step.rule is None:
                found.setdefault(step.relation, []).append(step.row)
        return found

    @cached_property
    def origins(self) -> dict[int, Origin]:
        """The commits with which base facts came, by the number of their step, as far as the past
        is kept: see `keep` of `connect`. They are looked for when they are first asked about.
        """
        return self._origins()

    def count(self) -> int:
        """Number of derivations that the row has directly: rules with bindings, whatever is beneath
        them; for a base fact one more.
        """
        return self._count()

    def to_dict(self) -> dict[str, Any]:
        """The proof as dictionaries and lists."""
        return {
            "relation": self.relation,
            "row": list(self.row),
            "height": self.height,
            "smallest": self.smallest,
            "steps": [
                {**plain(step), **self._since(number)} for number, step in enumerate(self.steps)
            ],
        }

    def _since(self, number: int) -> dict[str, Any]:
        if (origin := self.origins.get(number)) is None:
            return {}
        return {"since": {**origin._asdict(), "time": origin.time.isoformat(" ")}}

    def to_dot(self) -> str:
        """The proof as a graph for Graphviz."""
        from lftj.proofs.graph import drawing

        return drawing(self.steps).to_dot()

    def to_networkx(self) -> Any:
        """The proof as a `networkx.DiGraph` of the numbers of its steps, which needs networkx."""
        from lftj.proofs.graph import drawing

        return drawing(self.steps).to_networkx()

    def _repr_html_(self) -> str:
        from lftj.proofs.graph import to_html

        return to_html(self.steps, self.origins)

    def __len__(self) -> int:
        return len(self.steps)

    def __str__(self) -> str:
        from lftj.proofs.text import proof_text

        return proof_text(self.steps, self.origins)

    __repr__ = __str__
