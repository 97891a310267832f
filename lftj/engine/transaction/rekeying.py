# SPDX-License-Identifier: Apache-2.0
"""Keys and defaults that a program's text gives to relations which it declared with others, or
without, and other changes of their schemas where these are asked for: rows and the rules of others
stay.
"""

from __future__ import annotations

from lftj.engine.programs.handles import RuleHandle
from lftj.engine.programs.text_difference import Difference, relations_of
from lftj.engine.transaction import owned_facts
from lftj.engine.transaction.altering import KEEP, Request, alter
from lftj.engine.transaction.schema_draft import SchemaDraft
from lftj.errors import KeyViolationError
from lftj.program.alteration import reshaping
from lftj.program.named_program import Row, others_of
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


def reshaped(draft: SchemaDraft, program: str, found: Difference) -> bool:
    """Alter relations of a draft to what a text declares, where some call does so; tell whether any
    was altered. Rules of the program that mention one that is declared otherwise go first: those of
    the text come back with it. Raises what `alter` raises.
    """
    catalog, base = draft.program.catalog, draft.base
    old, others = catalog.programs.get(program), others_of(catalog.programs, program)
    if old is None:
        return False
    own = old.rules.difference(old.lent_rules, *(each.rules for each in others))
    rules = {number: relations_of(source.rule) for number, source in draft.program.sources.items()}
    ways = {
        name: reshaping(catalog.relations[name], found.schemas[name])
        for name in sorted(found.dropped & found.schemas.keys())
        if any(name in rules[number] for number in rules.keys() - own)
        or (name in base.database and base.base(name).count > len(_facts(draft, name)))
    }
    some = {name: way for name, way in ways.items() if way and way.complete}
    if some:
        gone = [number for number in sorted(own) if rules[number] & found.dropped]
        draft.remove_rules([RuleHandle(each, draft.program.rule(each)) for each in gone])
    for name, way in some.items():
        key = way.key[0] if way.key else KEEP
        changes = (way.drop, way.rename, way.retype, way.add, way.default, {}, key, None)
        alter(draft, name, Request(*changes))
    return bool(some)


def _facts(draft: SchemaDraft, name: str) -> frozenset[Row]:
    """The rows of a relation that are facts of texts, and came in no other way."""
    none = frozenset[Row]()
    programs = draft.program.catalog.programs.values()
    lent = none.union(*(each.lent_facts.get(name, none) for each in programs))
    return none.union(*(each.facts.get(name, none) for each in programs)) - lent
