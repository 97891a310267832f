# SPDX-License-Identifier: Apache-2.0
"""Relations as immutable versions: a relation holds one scan tree per key order, a database one
version per relation.
"""

from __future__ import annotations

from lftj.storage.database import Database, base_name
from lftj.storage.delta import Columns, Delta, Load, no_rows, stored_width
from lftj.storage.index import OrdersOfOrigin
from lftj.storage.relation import RelationVersion
from lftj.storage.transient_relation import OneRow, TransientRelation

__all__ = [
    "Columns",
    "Database",
    "Delta",
    "Load",
    "OneRow",
    "OrdersOfOrigin",
    "RelationVersion",
    "TransientRelation",
    "base_name",
    "no_rows",
    "stored_width",
]
