# SPDX-License-Identifier: Apache-2.0
"""Changes of schemas, each in a commit of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from lftj.api.transaction import Transaction
from lftj.engine.calls.options import with_named_options
from lftj.engine.programs.handles import Relation
from lftj.engine.transaction.program_draft import RelationOrName
from lftj.engine.transaction.requests import KEEP


@with_named_options
class Schemas(ABC):
    """Changes of relations that are there. Not over parts: DistributedError (E400)."""

    @abstractmethod
    def transaction(self, *, message: str | None = None) -> Transaction:
        """Start a transaction."""

    def alter(
        self,
        relation: RelationOrName,
        *,
        add: Mapping[str, object] | None = None,
        default: Mapping[str, object] | None = None,
        compute: Mapping[str, object] | None = None,
        drop: str | Sequence[str] = (),
        rename: Mapping[str, str] | None = None,
        retype: Mapping[str, object] | None = None,
        key: str | Sequence[str] | None = KEEP,
        to: str | None = None,
    ) -> Relation:
        """Change the schema of a relation, in one commit: columns are dropped, renamed, retyped and
        added, in this order; then it gets another `key` (None: none), and another name, `to`.

        A column that is added comes last. Rows that are there get its `default`, or what an
        expression computes from their other columns: `alter("item", add={"net": int},
        compute={"net": "price * pieces"})`. A default costs next to nothing for any number of
        rows; what is computed, dropped or retyped rewrites them. Retyping converts what
        comes back by the reverse, among numbers, between dates and timestamps, and all to texts and
        back; or as `compute` says.

        `at(version)` before reads the old columns. Rules keep their meaning: an atom gets a `_` for
        a column that comes. Rules that name a column that goes, or derive rows of the relation,
        forbid it: SchemaInUseError (E328) lists them. Raises DeclarationError (E160, E161, E164,
        E172), UnknownNameError (E111), KeyViolationError, what rules with the expressions raise;
        not over parts: DistributedError (E400).
        """
        with self.transaction() as tx:
            return tx.alter(
                relation,
                add=add,
                default=default,
                compute=compute,
                drop=drop,
                rename=rename,
                retype=retype,
                key=key,
                to=to,
            )

    def drop_relation(self, relation: RelationOrName) -> None:
        """Drop a relation with its rows. Raises SchemaInUseError (E328) with the rules that mention
        it; not over parts: DistributedError (E400).
        """
        with self.transaction() as tx:
            tx.drop_relation(relation)
