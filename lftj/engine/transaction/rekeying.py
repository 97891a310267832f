# SPDX-License-Identifier: Apache-2.0
"""Keys and defaults that a program's text gives to relations which it declared with others, or
without: a change of their schemas, by which rows and the rules of others stay.
"""

from __future__ import annotations

from lftj.engine.programs.text_difference import Difference
from lftj.engine.transaction import owned_facts
from lftj.engine.transaction.altering import Request, alter
from lftj.engine.transaction.schema_draft import SchemaDraft
from lftj.errors import KeyViolationError
from lftj.program.named_program import Row
from lftj.program.schema import key_names


def rekeyed(draft: SchemaDraft, found: Difference) -> bool:
    """Alter keys and defaults of relations of a draft to those that a text declares; tell whether
    any was altered. A relation whose rows are all facts of texts, and do not fit, is left: its
    facts are about to change too. Raises KeyViolationError, and what `alter` raises.
    """
    done = False
    for name in sorted(found.rekeyed):
        schema = found.schemas[name]
        none = dict.fromkeys(dict(draft.schema(name).defaults))
        default = {**none, **dict(schema.defaults)}
        try:
            alter(draft, name, Request((), {}, {}, {}, default, {}, key_names(schema), None))
            done = True
        except KeyViolationError:
            if owned_facts.rows_otherwise(draft, name, _facts(draft, name)):
                raise
    return done


def _facts(draft: SchemaDraft, name: str) -> frozenset[Row]:
    """The rows of a relation that are facts of texts, and came in no other way."""
    none = frozenset[Row]()
    programs = draft.program.catalog.programs.values()
    lent = none.union(*(each.lent_facts.get(name, none) for each in programs))
    return none.union(*(each.facts.get(name, none) for each in programs)) - lent
