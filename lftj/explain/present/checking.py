# SPDX-License-Identifier: Apache-2.0
"""Proofs are checked before they are shown.

The checker of `lftj.proofs` goes through the steps. It looks up base facts in the version, and what
is said of all rows, that none matches or what a group comes to, it evaluates naively over the rows
of the version.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

from lftj.errors import ProofError
from lftj.explain.derivations.derivations import RuleKinds
from lftj.explain.derivations.version import Version
from lftj.proofs import HIDDEN, Row, Step, World, atom_text, check_step
from lftj.storage import base_name

STEPS = 1_000
"""Steps that a check takes at most: the last ones of a proof, and rows that are read for what is
said of all. Tests take as many as there are.
"""


def check_before_showing(version: Version, steps: Sequence[Step]) -> None:
    """Check a proof as far as that takes no more than STEPS. Raises ProofError (E364)."""
    world = _VersionWorld(version, steps, STEPS)
    for number in range(max(0, len(steps) - STEPS), len(steps)):
        try:
            with suppress(_EnoughError):
                check_step(world, steps, number)
        except ProofError as problem:
            asked = atom_text(steps[-1].relation, steps[-1].row)
            raise ProofError(
                f"the proof that was found of {asked} does not hold: {problem.message}",
                step=number,
                code="E364",
                hint="this is a defect of lftj, please report it with the rules and facts; "
                "ws.verify() tells whether the row itself is right",
            ) from None


class _EnoughError(Exception):
    """The check has read as many rows as it may."""


class _VersionWorld(World):
    """The rules that a proof names, and the rows of one version."""

    def __init__(self, version: Version, steps: Sequence[Step], most: int):
        derived = {step.relation for step in steps}
        sources = [
            source
            for source in version.state.program.sources.values()
            if any(head.relation in derived for head in source.rule.heads)
        ]
        self._version, self._read = version, _Read(version, most)
        kinds = RuleKinds(version)
        self.clauses = tuple(kinds.typed(source.rule) for source in sources)
        self.rules = {str(rule): rule for rule in self.clauses}
        self.users = dict.fromkeys(version.state.aggregates, _give_up)
        self.facts = {name: _BaseFacts(version, name, self._read) for name in derived}
        schemas = version.state.program.catalog.relations
        self.domains = {name: list(each.choice) for name, each in schemas.items() if each.choice}
        self._hidden = {
            f"{HIDDEN}{number}": schema.name
            for number, source in enumerate(sources)
            for schema in source.normal.hidden
            if schema.choice
        }

    @cached_property
    def relations(self) -> Mapping[str, set[Row]]:
        """Relations of the version, each read when it is asked for."""
        return _Relations(self._read, self._hidden)

    def columns(self, relation: str) -> list[str]:
        """See `World`."""
        return [name for name, _ in self._version.schema(relation).columns]


def _give_up(_: object) -> Any:
    """A user's aggregate may depend on the order of its rows, as sums of floats do."""
    raise _EnoughError


class _Read:
    """Rows of relations, counted each time that they are read."""

    def __init__(self, version: Version, most: int):
        self._version, self._left = version, most
        self._rows: dict[str, set[Row]] = {}

    def rows(self, name: str) -> set[Row]:
        """All rows of a relation."""
        if name not in self._version.relations:
            return set()
        relation = self._version.relations[name]
        self._left -= relation.count
        if self._left < 0:
            raise _EnoughError
        if name not in self._rows:
            codes = [column.tolist() for column in relation.columns()]
            arity = relation.schema.arity
            listed = zip(*codes[:arity], strict=True) if arity else [()] * bool(relation.count)
            self._rows[name] = {self._version.values(name, row) for row in listed}
        return self._rows[name]


class _Relations(Mapping[str, set[Row]]):
    """Relations by their names in rules, and those of choices by the checker's names."""

    def __init__(self, read: _Read, hidden: Mapping[str, str]):
        self._read, self._hidden = read, hidden

    def __getitem__(self, name: str) -> set[Row]:
        return self._read.rows(self._hidden.get(name, name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._hidden)

    def __len__(self) -> int:
        return len(self._hidden)


class _BaseFacts(Mapping[Row, Row]):
    """The base facts of a relation, of which one is looked up without reading the others."""

    def __init__(self, version: Version, relation: str, read: _Read):
        self._version, self._relation, self._read = version, relation, read

    def __getitem__(self, row: Row) -> Row:
        if not self._version.is_base(self._version.goal(self._relation, row)):
            raise KeyError(row)
        return row

    def __iter__(self) -> Iterator[Row]:
        name = base_name(self._relation)
        if name in self._version.relations:
            return iter(self._read.rows(name))
        return iter(() if self._relation in self._version.derived else self._all())

    def _all(self) -> set[Row]:
        return self._read.rows(self._relation)

    def __len__(self) -> int:
        return sum(1 for _ in self)
