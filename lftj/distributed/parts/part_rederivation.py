# SPDX-License-Identifier: Apache-2.0
"""Re-derivation in one part: the rows that may have lost a derivation and have another one, and
those that it sends to others.

As in one process (`dred.rederive`), this comes before any row goes. A rule looks
for rows that may be gone under the name of the cut in which the part was given them
(`Supersteps.asked`); re-derived rows come back in all cuts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lftj.distributed.partitioning.supersteps import Supersteps
from lftj.distributed.parts.shuffle import News, Shuffle
from lftj.join import Context
from lftj.maintenance.dred import Found, Returning, distinct
from lftj.maintenance.inputs import Versions
from lftj.storage import Columns
from lftj.types import Role, Source


class PartReturning(Returning):
    """One commit in one part. `lost`: by the local names in all cuts that the part holds, or has to
    look for.
    """

    def __init__(
        self,
        supersteps: Supersteps,
        shuffle: Shuffle,
        lost: Mapping[str, Columns],
        versions: Versions,
        context: Context,
    ):
        self._shuffle = shuffle
        self._relation_of = {
            name: relation for relation in supersteps.cuts for name in supersteps.names(relation)
        }
        schemas = {
            name: versions[Source(relation, Role.NEWS)].schema
            for name, relation in self._relation_of.items()
        }
        rules = [
            replace(rule, relation=name)
            for rule, name in zip(supersteps.rules, supersteps.sought, strict=True)
        ]
        super().__init__(schemas, rules, lost, versions, context)

    def arrive(self, found: Mapping[str, Columns], context: Context) -> dict[str, News]:
        """Go on with what other parts found, by the local names in the cuts that this one holds;
        what others have to be told then.
        """
        self._context = context
        self.follow(self._everywhere(found))
        return self._shuffle.news()

    def back(self, found: Found) -> Found:
        """Bring found rows back in all cuts, and send others the rows that they hold."""
        for relation, rows in self._by_relation(found).items():
            leaves = self._shuffle.out(relation, rows)[1]
            self._shuffle.tell(relation, [column[leaves] for column in rows])
        return self._everywhere(found)

    def _everywhere(self, found: Mapping[str, Columns]) -> Found:
        of = self._by_relation(found)
        names = (
            name
            for name, relation in self._relation_of.items()
            if relation in of and self.are_gone(name)
        )
        back = {name: self.among_gone(name, of[self._relation_of[name]]) for name in names}
        return super().back({name: rows for name, rows in back.items() if len(rows[0])})

    def _by_relation(self, found: Mapping[str, Columns]) -> Found:
        """Rows found under any of their names."""
        return distinct((self._relation_of[name], rows) for name, rows in found.items())
