# SPDX-License-Identifier: Apache-2.0
"""Forecast of the cost of updating a recursive stratum, from the changes below it and the cost of
earlier updates [Elastic 4.3].
"""

from __future__ import annotations

from lftj.join.context import Context
from lftj.maintenance.cost.cost_model import CHANGED, TOUCHED
from lftj.maintenance.inputs.moved_rules import only_moves
from lftj.maintenance.inputs.versions import Versions
from lftj.program.normal_form import Stratum
from lftj.scantree.frozen import frozen
from lftj.storage.database import base_name

ELASTIC_GIVEN_UP = 3
"""Times what it was allowed that an update given up is taken to need."""


@frozen
class Change:
    """Change below a stratum: the number of rows, the largest share of a relation that they are,
    and the sum of these shares.
    """

    rows: int
    share: float
    shares: float

    def cost(self, steps: int) -> float:
        """Expected cost of an update, by a bootstrap of so many steps: changed rows took part in as
        many of them as other rows.
        """
        return CHANGED * self.rows + TOUCHED * steps * self.shares

    def large(self, context: Context) -> bool:
        """Test for a change that is too large a share for any update."""
        return self.rows > context.tuning.large_change and self.share > context.fraction


def changes_below(stratum: Stratum, versions: Versions) -> Change:
    """Change of the stratum's input. What moves a limit by a little has no share."""
    changed, share, shares = 0, 0.0, 0.0
    for name in {*stratum.reads, *map(base_name, stratum.relations)} & versions.deltas.keys():
        delta, rows = len(versions.deltas[name]), versions[name].count
        changed += delta
        readers = [rule for rule in stratum.joins if name in rule.reads]
        if readers and only_moves(readers, name, versions):
            continue
        share = max(share, delta / max(rows, delta))
        shares += delta / max(rows, delta)
    return Change(changed, share, shares)
