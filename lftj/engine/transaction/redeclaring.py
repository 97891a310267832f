# SPDX-License-Identifier: Apache-2.0
"""Relations that a program's text declares otherwise than they are, altered before the text is
taken: rows and the rules of others stay.

A relation that is needed, by rows that came otherwise or by rules of others, is altered only where
the user says so: with `alter`, and where values would go, with `drop` too. No column is taken for
another one.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from lftj.engine.programs.handles import RuleHandle
from lftj.engine.programs.text_difference import Difference, relations_of
from lftj.engine.transaction.altering import alter
from lftj.engine.transaction.requests import KEEP, Request
from lftj.engine.transaction.schema_draft import SchemaDraft
from lftj.errors import KeyViolationError
from lftj.program.named_program import NamedProgram, Row, others_of
from lftj.program.reshaping import Reshaping, reshaping

_NO_ROWS: frozenset[Row] = frozenset()


def redeclared(
    draft: SchemaDraft, program: str, found: Difference, *, drop: bool, altering: bool
) -> bool:
    """Alter relations of a draft to what a text declares, where that is said or nothing needs them;
    tell whether any was altered. Raises what `alter` raises.
    """
    catalog = draft.program.catalog
    old = catalog.programs.get(program)
    if old is None:
        return False
    needs = _Needs(draft, old, others_of(catalog.programs, program))
    ways = dict[str, Reshaping]()
    for name in sorted(found.dropped & found.schemas.keys()):
        way = reshaping(catalog.relations[name], found.schemas[name])
        if way is not None and way.complete:
            light = name in found.rekeyed and (altering or drop or not needs.any(name))
            if light or (altering and _may_alter(needs, name, way, drop=drop)):
                ways[name] = way
    if any(way.of_columns for way in ways.values()):
        gone = [number for number in sorted(needs.own) if needs.rules[number] & found.dropped]
        draft.remove_rules([RuleHandle(each, draft.program.rule(each)) for each in gone])
    done = [_altered(draft, needs, found, name, way) for name, way in ways.items()]
    return any(done)


def _may_alter(needs: _Needs, name: str, way: Reshaping, *, drop: bool) -> bool:
    """Test for a relation that is needed, and whose columns change so that no value goes unsaid."""
    return needs.any(name) and (drop or not way.drop or not needs.rows(name))


def _altered(
    draft: SchemaDraft, needs: _Needs, found: Difference, name: str, way: Reshaping
) -> bool:
    """Alter a relation. One whose rows are all facts of texts, and do not fit a key, is left: its
    facts are about to change too.
    """
    key = way.key[0] if way.key else KEEP
    changes = (way.drop, way.rename, way.retype, way.add, way.default, {}, key, None)
    try:
        if way:
            alter(draft, name, Request(*changes))
    except KeyViolationError:
        if name not in found.rekeyed or needs.any(name):
            raise
        return False
    kinds = found.kinds.get(name, ())
    if draft.program.catalog.kinds.get(name, ()) == kinds:
        return bool(way)
    catalog = draft.program.catalog
    catalog = replace(catalog, kinds={**catalog.kinds, name: kinds})
    draft.program = replace(draft.program, catalog=catalog)
    return True


class _Needs:
    """Needs of relations of a program besides its own rules and facts."""

    def __init__(self, draft: SchemaDraft, old: NamedProgram, others: Collection[NamedProgram]):
        self._base, self._old, self._others = draft.base, old, others
        self.own = old.rules.difference(old.lent_rules, *(each.rules for each in others))
        """Rules that the program alone holds, by number."""
        self.rules = {
            number: relations_of(source.rule) for number, source in draft.program.sources.items()
        }
        """The relations that each rule names."""

    def any(self, name: str) -> bool:
        """Test for a relation that rows or rules need."""
        read = any(name in self.rules[number] for number in self.rules.keys() - self.own)
        return read or self.rows(name)

    def rows(self, name: str) -> bool:
        """Test for a relation with rows that are no facts of the program alone."""
        if name not in self._base.database:
            return False
        lent = self._old.lent_facts.get(name, _NO_ROWS)
        theirs = (each.facts.get(name, _NO_ROWS) for each in self._others)
        facts = (self._old.facts.get(name, _NO_ROWS) - lent).difference(*theirs)
        return self._base.base(name).count > len(facts)
