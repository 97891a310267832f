"""A part's fixpoint in one round of what a stratum may have lost.

Where a relation keeps one value per group, what the rules of `Rounds.losing` find is what groups were offered, and are offered no more. A
group may have lost its value if it was that one: where its row lay is known whether it was. So an offer is told to who would hold such a
row, and there it is one that may be lost, or nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lftj.distributed.parts.handing import News
from lftj.distributed.parts.rounds import PartFixpoint
from lftj.distributed.placing.rounds import NEWS_SUFFIX, Rounds
from lftj.join.context import AllowanceSpentError, Context
from lftj.join.evaluate import Relations
from lftj.storage.delta import Columns


class PartLosing(PartFixpoint):
    """`follow`, then `finish` and `news`, of a stratum in `rounds`. `relations`: as they were, and what was lost so far.

    `most`: rows that may be lost here; for more, AllowanceSpentError.
    """

    def __init__(self, rounds: Rounds, relations: Relations, context: Context, number: int, parts: int, most: int):
        super().__init__(rounds.losing, relations, context, number, parts)
        held = [name for relation in rounds.lattices for name in rounds.local(relation)]
        self._had = {rounds.lost(name): relations[name] for name in held}
        homes = [rounds.lost(rounds.local(relation)[0]) for relation in rounds.lattices]
        self._counted = homes or [relation + NEWS_SUFFIX for relation in rounds.losing.cuts]
        self._most = most
        self._so_far = {home: relations[home] for home in homes}
        self._sought_in = dict(zip(homes, rounds.sought_in.items(), strict=False))

    def proceed(self, inserted: Mapping[str, Columns]) -> None:
        """As any fixpoint; of offers that others tell only those count that were taken here."""
        super().proceed({name: [column[self.stands(name, rows)] for column in rows] for name, rows in inserted.items()})

    def stands(self, local: str, rows: Columns) -> np.ndarray:
        """Which of the rows that were found, and lie here by this local name, are rows of the relation."""
        return self._had[local].contains(rows) if local in self._had else super().stands(local, rows)

    def seeking(self) -> dict[str, News]:
        """What lives here and was found to be lost, of groups, for parts that do not hold it and may offer these something."""
        found: dict[str, News] = {}
        for home, (name, cuts) in self._sought_in.items():
            fresh = self.totals[home].difference(self._so_far[home])
            if cuts and fresh.inserted:
                found[name + NEWS_SUFFIX] = News(self.schemas[home], cuts, fresh)
        return found

    def _next_round(self) -> None:
        super()._next_round()
        if sum(self.totals[name].count for name in self._counted) > self._most:
            raise AllowanceSpentError
