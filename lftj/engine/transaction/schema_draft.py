# SPDX-License-Identifier: Apache-2.0
"""The schemas of an open transaction in this process: the state that its commit begins with, once
relations were altered, and what else of the draft an alteration changes.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from lftj.engine.commit.commit import Outcome
from lftj.engine.commit.staging import Staging
from lftj.engine.delivery.consumers import Position
from lftj.engine.machine_code.compiled_ahead import compile_for
from lftj.engine.programs.handles import RuleHandle
from lftj.engine.transaction.program_draft import ProgramDraft
from lftj.engine.versions.state import State
from lftj.errors import DeclarationError
from lftj.program.alteration import Alteration, rekeyed
from lftj.program.alterations_apart import since
from lftj.program.normal_form import RelationSchema
from lftj.program.program import Program
from lftj.program.statistics_hints import Sizes
from lftj.storage.delta import Columns
from lftj.storage.relation import RelationVersion
from lftj.syntax.attention import attending
from lftj.types.texts import Texts

if TYPE_CHECKING:
    from lftj.engine.live.engine import Engine


def refusal(message: str, hint: str) -> DeclarationError:
    """The error for a change of a schema that cannot be."""
    return DeclarationError(message, code="E172", hint=hint)


class Mark(NamedTuple):
    """The parts of a draft that an alteration may change."""

    program: Program
    views: frozenset[str]
    base: State
    dropped: frozenset[str]
    changed_rules: frozenset[str]
    staged: dict[str, Staging]
    positions: dict[str, Position]


class SchemaDraft(ProgramDraft):
    """Base of the draft of this process."""

    def __init__(self, engine: Engine, before: State):
        super().__init__(before.program, before.views)
        self.before = before
        self.base = before
        """State that the commit begins with: that before, with relations as they were altered."""
        self.outcome: Outcome | None = None
        """Outcome of the operations so far, where someone has looked at it."""
        self.positions: dict[str, Position] = {}
        """Consumers that acknowledge with this commit."""
        self._engine = engine
        self._changed_rules: set[str] = set()
        self._dropped: frozenset[str] = frozenset()
        self._staged: dict[str, Staging] = {}
        self._compile_seconds = 0.0

    @property
    def engine(self) -> Engine:
        """The engine that the commit is of."""
        return self._engine

    @abstractmethod
    def staging(self, name: str) -> Staging:
        """The pending operations on a relation."""

    @abstractmethod
    def texts(self) -> Texts:
        """The strings of this moment."""

    @abstractmethod
    def coded(self, schema: RelationSchema, data: object, options: dict[str, Any]) -> Columns:
        """Data as code columns, as stored."""

    @abstractmethod
    def remove_rules(self, handles: list[RuleHandle]) -> None:
        """Remove rules, and the facts of fact handles."""

    @property
    def sizes(self) -> Sizes:
        """Sizes of relations when the commit begins."""
        return partial(self._engine.statistics.size, self.base.database)

    def kept(self, name: str) -> bool:
        """Test for a relation of which the rows that the commit begins with are kept."""
        return name not in self._dropped

    def obeys_key(self, name: str) -> bool:
        """Test for a relation of which the rows that the commit begins with obey the key; others
        are to by its end.
        """
        before, now = self.before.program.catalog, self.program.catalog
        return name not in rekeyed(since(before.alterations, now.alterations) or ())

    def require_untouched(self, name: str) -> None:
        """Raise DeclarationError (E172) for a relation with pending operations."""
        if (staging := self._staged.get(name)) is not None and staging.begun is None:
            raise refusal(
                f"rows of `{name}` were changed in this transaction before its schema",
                "change the schema first, then the rows",
            )

    def require_name(self, name: str) -> None:
        """Raise DeclarationError (E172) for a name that the transaction has dropped."""
        if name in self._dropped:
            raise refusal(
                f"`{name}` was dropped in this transaction, and another is to be called so",
                "drop it in a transaction before",
            )

    # ── changes ───────────────────────────────────────────────────────────────────────────────────
    def mark(self) -> Mark:
        """All that an alteration may change, as it is."""
        return Mark(
            self.program,
            self.views,
            self.base,
            self._dropped,
            frozenset(self._changed_rules),
            dict(self._staged),
            dict(self.positions),
        )

    def reset(self, mark: Mark) -> None:
        """Have all of it be as it was."""
        self.program, self.views, self.base, self._dropped = mark[:4]
        self._changed_rules, self._staged = set(mark.changed_rules), mark.staged
        self.positions = mark.positions

    def take_schema(
        self, program: Program, base: State, changed: set[str], alteration: Alteration
    ) -> None:
        """Take an alteration: the program and the first state after it, and the relations that are
        to be derived anew.
        """
        self.outcome = None
        before, after = alteration.relation, alteration.name
        schema = program.catalog.relations[after]
        with attending(self._engine.context({}).budget.read_on):
            self._compile_seconds += compile_for([schema], program.order.strata_of([after]))
        self.program, self.base = program, base
        self._changed_rules |= changed
        if before != after:
            self.views = frozenset(after if name == before else name for name in self.views)
            known = {**self._engine.positions, **self.positions}
            self.positions |= {
                name: Position(after, each.version)
                for name, each in known.items()
                if each.relation == before
            }

    def take_pending(self, name: str) -> RelationVersion | None:
        """The rows of a relation of which the transaction has computed a column, no longer pending;
        None for others.
        """
        staging = self._staged.pop(name, None)
        return None if staging is None else staging.begun

    def put(self, name: str, staging: Staging) -> None:
        """Have these be the pending operations on a relation."""
        self._staged[name] = staging

    def take_dropped(self, program: Program, name: str) -> None:
        """Drop a relation, which the program does not have any more."""
        self.outcome = None
        if name in self.base.database and self.kept(name):
            self._dropped |= {name}
            program = program.with_dropped({name}, self.before.version + 1)
        self.program = program
        self.views -= {name}
