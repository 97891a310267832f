# SPDX-License-Identifier: Apache-2.0
"""Operations of a transaction on one relation, before it commits.

Operations are kept as they come and resolved only on demand: a run of equal operations becomes one
sort, so many one-row calls cost no more than one call with many rows. The resolved operations are a
short stack of changes of growing size, the newest on top.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import groupby
from operator import is_
from typing import Literal

import numpy as np

from lftj import frames
from lftj.engine.commit.staged_rows import StagedRows, having
from lftj.errors import (
    LftjError,
    MissingRowError,
    NullValueError,
    TransactionError,
    UnknownNameError,
)
from lftj.program.normal_form import RelationSchema
from lftj.scantree import after_prefix
from lftj.scantree.bulk_load import Column, load
from lftj.scantree.rows import contains, difference, equal_runs, sort_order, sort_rows, union
from lftj.storage.delta import Columns, Delta, Load, no_rows, stored_width
from lftj.storage.relation import RelationVersion, key_and_rest
from lftj.types import lookup_scalar
from lftj.types.dictionary import Dictionary
from lftj.types.expected_texts import ExpectedTexts
from lftj.types.sources import Role, in_role, without_role

Operation = Literal["insert", "delete", "upsert"] | tuple[int, ...]
"""An operation on whole rows, or the columns by which rows are deleted."""

_SOME = 16  # rows tell whether others are worth a try
_LATELY = 4  # look-ups that are remembered: of what comes and what goes
_MANY = 64  # rows from which on that saves anything


class Staging:
    """The pending operations on one relation. The last operation on a row wins; rows are code
    columns as stored.
    """

    def __init__(
        self,
        committed: RelationVersion,
        begun: tuple[Delta, RelationVersion] | None = None,
        *,
        keyed: bool = True,
    ):
        """`begun`: a net change that all operations come after, and the relation after it. `keyed`:
        no two rows that are committed have the same key.
        """
        self.committed = committed
        self._keyed = keyed
        self._waiting: list[tuple[Operation, Columns]] = []
        self._begun = begun
        self._resolved: list[Delta] = [] if begun is None else [begun[0]]
        self._staged = StagedRows()
        self._asked: deque[tuple[list[np.ndarray], np.ndarray]] = deque(maxlen=_LATELY)
        """The rows that were looked up lately, and whether each is committed."""

    def add(self, operation: Operation, rows: Columns) -> None:
        """Note an operation on these rows, in any order, repeated or not. O(1). `upsert` needs a
        relation with a key.
        """
        if len(rows[0]):
            self._waiting.append((operation, rows))

    @property
    def begun(self) -> RelationVersion | None:
        """The relation as the operations begin with it, where it changed before any; None where it
        did not, or there are some.
        """
        if self._begun is None or self._waiting or len(self._resolved) != 1:
            return None
        return self._begun[1]

    def keeps_keys(self, delta: Delta) -> bool:
        """Test for a net change that the operations began with: one of columns beside the key."""
        return self._begun is not None and delta is self._begun[0]

    @property
    def untouched(self) -> bool:
        """Test for a relation without rows on which no operation is pending."""
        return not (self.committed.count or self._waiting or self._resolved)

    def load(self, columns: Sequence[Column]) -> None:
        """Insert many rows, in any order, repeated or not, while the relation is `untouched`: at
        once, so that columns may be read where they are.
        """
        self._resolved = [Load(load(self.committed.identity.arena, columns))]

    def present(self, rows: Sequence[np.ndarray]) -> np.ndarray:
        """Mark those of these rows (sorted distinct) that the relation would hold now. O(m log n),
        plus resolving.
        """
        self._resolve()
        there = self._committed_has(rows).copy()
        for change in self._resolved:
            there |= contains(rows, change.inserts)
            there &= ~contains(rows, change.erases)
        return there

    def where(self, codes: Mapping[int, int]) -> Columns:
        """The rows that the relation would hold now with these codes in these columns, sorted.

        O(m log n) for m rows where a key order begins with one of the columns, else O(n), plus
        resolving.
        """
        self._resolve()
        there = sort_rows(_matching(self.committed, codes)) if codes else self.committed.columns()
        for change in self._resolved:
            there = union(difference(there, change.erases), self._staged.having(change, codes))
        return there

    def pieces(self, codes: Mapping[int, int], rows: int) -> Iterator[np.ndarray]:
        """The rows `where` some columns have these codes, so many at a time: matrices, each of
        which overwrites the one before.
        """
        if not (codes or self.pending):
            yield from self.committed.blocks(rows, range(stored_width(self.committed.schema.arity)))
            return
        found = self.where(codes)
        for first in range(0, len(found[0]), rows):
            yield np.stack([column[first : first + rows] for column in found])

    @property
    def pending(self) -> bool:
        """Test for operations, or a change that they begin with."""
        return bool(self._waiting or self._resolved)

    @property
    def alone(self) -> tuple[int, ...]:
        """The columns in which no two rows are alike that the relation would hold now."""
        schema = self.committed.schema
        keyed = schema.key is not None and self._keyed and not self.pending
        return tuple(schema.key or ()) if keyed else tuple(range(schema.arity))

    def expected_texts(self) -> list[ExpectedTexts | None]:
        """For each column of strings those of the rows that are committed, if any, in their order;
        O(n) when they are needed.
        """

        def of(place: int) -> ExpectedTexts:
            return ExpectedTexts(lambda: self.committed.columns([place])[0])

        return [
            of(place) if type.name == "str" and self.committed.count else None
            for place, (_, type) in enumerate(self.committed.schema.columns)
        ]

    def refuse(self, rows: Columns, present: bool, dictionary: Dictionary) -> Columns:
        """The rows, sorted and distinct. Raises MissingRowError where some would be there now
        (`present`, E311), or not (E310).
        """
        distinct, schema = sort_rows(rows), self.committed.schema
        offends = self.present(distinct) == present
        if (count := int(offends.sum())) == 0:
            return distinct
        types = [type for _, type in schema.columns]
        found = [column[offends] for column in distinct]
        first = frames.value_order(types, found, dictionary.texts())[: MissingRowError.shown]
        shown = (
            frames.to_tuples(types, [column.take(first) for column in found], dictionary)
            if schema.arity
            else [()]
        )
        code, derived = "E311" if present else "E310", in_role(schema.name, Role.BASE)
        name = without_role(schema.name, Role.BASE)
        raise MissingRowError.of(name, shown, count, code, derived)

    def require_keys(self, places: tuple[int, ...], keys: Columns, dictionary: Dictionary) -> None:
        """Raise MissingRowError (E310) for keys of which the relation would hold no row now."""
        self._resolve()
        distinct, there = sort_rows(keys), self._committed_with(places, sort_rows(keys))
        for change in self._resolved:
            there = union(difference(sort_rows(there), change.erases), change.inserts)
        held = sort_rows([there[place] for place in places])
        if (lacking := ~contains(distinct, held)).any():
            types = [self.committed.schema.columns[place][1] for place in places]
            rows = frames.to_tuples(types, [each[lacking] for each in distinct], dictionary)
            name = without_role(self.committed.schema.name, Role.BASE)
            raise MissingRowError.of(name, rows[: MissingRowError.shown], len(rows), "E310", False)

    def net(self) -> Delta:
        """The difference between what the relation would hold now and what it holds. O(changes ·
        log n).
        """
        return self._net(self._wanted())

    def _net(self, wanted: Delta) -> Delta:
        """Drop operations that are already true of the committed relation."""
        if not self.committed.count:
            return (
                Delta(wanted.inserts, [column[:0] for column in wanted.erases])
                if wanted.erased
                else wanted
            )
        inserts, erases = wanted.inserts, wanted.erases
        if len(inserts[0]):
            inserts = _where(inserts, ~self._committed_has(inserts))
        if len(erases[0]):
            erases = _where(erases, self._committed_has(erases))
        return Delta(inserts, erases)

    def applied(self, present: RelationVersion) -> tuple[Delta, RelationVersion]:
        """The net change, and the relation after it. `present`: what is committed, under whatever
        name. O(changes · log n).

        Rows that all come, or all go, are not looked up one by one: that the relation is as much
        larger or smaller says that each was news. A few are, since where that is not so it was for
        nothing.
        """
        wanted = self._wanted()
        if self._begun is not None and wanted is self._begun[0]:
            return self._begun
        if len(wanted) > _MANY and present.count and not self._asked and self._one_way(wanted):
            after = present.apply(wanted)
            if abs(after.count - present.count) == len(wanted):
                return wanted, after
        delta = self._net(wanted)
        return delta, present.apply(delta)

    def _wanted(self) -> Delta:
        """All operations as one change; some may be true of the committed relation already."""
        self._resolve()
        if len(self._resolved) != 1:
            self._resolved = [
                reduce(Delta.then, self._resolved, Delta.empty(self.committed.schema.arity))
            ]
        return self._resolved[0]

    def _one_way(self, wanted: Delta) -> bool:
        """Test for a change that only inserts or only erases, a sample of which is new."""
        if wanted.inserted and wanted.erased:
            return False
        rows = wanted.inserts if wanted.inserted else wanted.erases
        few = self.committed.contains([column[:: len(wanted) // _SOME] for column in rows])
        return bool(few.all()) if wanted.erased else not few.any()

    def _committed_has(self, rows: Sequence[np.ndarray]) -> np.ndarray:
        """Mark those of these rows (sorted distinct) that are committed. The same rows are looked
        up once.
        """
        known = next((found for asked, found in self._asked if all(map(is_, asked, rows))), None)
        if known is None:
            known = self.committed.contains(rows)
            self._asked.append((list(rows), known))
        return known

    # ── settling ──────────────────────────────────────────────────────────────────────────────────
    def _resolve(self) -> None:
        """Resolve the waiting operations. If memory does not suffice, or Ctrl-C comes, the others
        go on waiting, and the caller may try again.
        """
        done = 0
        try:
            for operation, group in groupby(self._waiting, key=lambda one: one[0]):
                batches = [rows for _, rows in group]
                rows = (
                    batches[0]
                    if len(batches) == 1
                    else [np.concatenate(column) for column in zip(*batches, strict=True)]
                )
                change = (
                    _CHANGES[operation](self, rows)
                    if isinstance(operation, str)
                    else self._deletion_by(operation, rows)
                )
                self._resolved, done = self._merged_with(change), done + len(batches)
        finally:
            del self._waiting[:done]

    def _merged_with(self, change: Delta) -> list[Delta]:
        """Sizes at least halve towards the top, so a row is merged O(log n) times whatever the
        number of calls.
        """
        resolved = self._resolved.copy()
        while resolved and len(resolved[-1]) <= 2 * len(change):
            change = resolved.pop().then(change)
        resolved.append(change)
        if self._staged.orders:
            self._staged.keep(resolved)
        return resolved

    # ── by some columns ───────────────────────────────────────────────────────────────────────────
    def _deletion_by(self, places: tuple[int, ...], keys: Columns) -> Delta:
        """Change that erases the rows with these values in some columns. O(m log n) for m values
        where the columns determine the row, or a key order begins with them.
        """
        keys = sort_rows(keys)
        found = [
            self._committed_with(places, keys),
            *(self._staged.with_keys(change, places, keys) for change in self._resolved),
        ]
        return Delta.deletion([np.concatenate(column) for column in zip(*found, strict=True)])

    def _committed_with(self, places: tuple[int, ...], keys: Columns) -> Columns:
        schema = self.committed.schema
        if not self.committed.count:
            return no_rows(schema.arity)
        order = (*places, *(i for i in range(schema.arity) if i not in places))
        tree = self.committed.tree(order)
        if self._keyed and schema.key is not None and set(schema.key) <= set(places):
            there, rows, _ = tree.edge_rows(keys)
            found = [column[there] for column in rows]
        else:
            ranges = [tree.range(key, after_prefix(key)) for key in np.stack(keys).T.tolist()]
            found = [np.concatenate(column) for column in zip(*ranges, strict=True)]
        by_place = dict(zip(order, found, strict=True))
        return [by_place[place] for place in range(schema.arity)]

    def _replacement(self, rows: Columns) -> Delta:
        """Change that inserts these rows and erases every other row of their keys. The last row of
        a key wins.
        """
        schema = self.committed.schema
        key, _ = key_and_rest(schema)
        inserts = last_of_keys(schema, rows)
        keys = [inserts[i] for i in key]
        replaced = [
            self._committed_rows(keys),
            *(self._staged.with_keys(change, key, keys) for change in self._resolved),
        ]
        out = sort_rows([np.concatenate(column) for column in zip(*replaced, strict=True)])
        inserts = sort_rows(inserts)
        return Delta(inserts, difference(out, inserts))

    def _committed_rows(self, keys: Columns) -> Columns:
        schema = self.committed.schema
        key, rest = key_and_rest(schema)
        if not self.committed.count:
            return no_rows(schema.arity)
        if not self._keyed:
            return self._committed_with(key, sort_rows(keys))
        found, columns, _ = self.committed.tree((*key, *rest)).edge_rows(keys)
        by_position = dict(zip((*key, *rest), columns, strict=True))
        return [by_position[i][found] for i in range(schema.arity)]


# ── what is asked for ─────────────────────────────────────────────────────────────────────────────
def require_key(schema: RelationSchema) -> None:
    """Raises TransactionError (E324) for a relation without a key."""
    if schema.key is None:
        hint = (
            f'declare one: ws.relation({schema.name!r}, …, key="…"); without a key use insert '
            f"and delete"
        )
        raise TransactionError(
            f"relation `{schema.name}` has no key to upsert by", code="E324", hint=hint
        )


def last_of_keys(schema: RelationSchema, rows: Columns) -> Columns:
    """Last row of each key, sorted by the key, which the relation has."""
    key, _ = key_and_rest(schema)
    order = sort_order([rows[i] for i in key])
    starts = equal_runs([rows[i][order] for i in key], len(key))
    last = order[np.append(starts[1:], len(order))[: len(starts)] - 1]
    return [column[last] for column in rows]


def codes_of(
    schema: RelationSchema, values: Mapping[str, object], dictionary: Dictionary
) -> dict[int, int] | None:
    """Values by column as codes by position; None when one is a string that no relation has ever
    held.

    Raises UnknownNameError (E111) for a column that is not there, and what `lftj.types` raises for
    values of another type.
    """
    names = [column for column, _ in schema.columns]
    if unknown := [name for name in values if name not in names]:
        hint = f"its columns are {', '.join(names)}"
        raise UnknownNameError(
            f"relation `{schema.name}` has no column `{unknown[0]}`", code="E111", hint=hint
        )
    found: dict[int, int | None] = {}
    for name, value in values.items():
        place = names.index(name)
        try:
            found[place] = lookup_scalar(schema.columns[place][1], value, dictionary)
        except LftjError as error:
            error.message += f", in column `{name}` of `{schema.name}`"
            if isinstance(error, NullValueError):
                error.hint = "relations hold no NULL, so no row has it"
            raise
    codes = {place: code for place, code in found.items() if code is not None}
    return codes if len(codes) == len(found) else None


RowPolicy = Literal["ignore", "error"]
"""Policy for a row to insert that is there already, or one to delete that is not."""


def strict(name: str, value: str) -> bool:
    """True for the policy "error". Raises TransactionError (E325) for a policy that
    does not exist.
    """
    if value not in ("ignore", "error"):
        raise TransactionError(
            f"{name}={value!r} is not a policy",
            code="E325",
            hint=f'write {name}="ignore" or {name}="error"',
        )
    return value == "error"


def _matching(relation: RelationVersion, codes: Mapping[int, int]) -> Columns:
    """The rows with these codes in these columns, by the key order that begins with
    most of them.
    """

    def known(order: Sequence[int]) -> list[int]:
        return [
            codes[place]
            for place in order[
                : next((i for i, place in enumerate(order) if place not in codes), len(order))
            ]
        ]

    order = max(relation.orders(), key=lambda order: len(known(order)))
    if not (prefix := known(order)):
        return having(relation.columns(), codes)
    found = relation.tree(order).range(prefix, after_prefix(prefix))
    return having([found[order.index(place)] for place in range(relation.schema.arity)], codes)


def _where(rows: Columns, there: np.ndarray) -> Columns:
    """The rows for which this is true; themselves where all are."""
    return rows if np.count_nonzero(there) == len(there) else [column[there] for column in rows]


_CHANGES: dict[str, Callable[[Staging, Columns], Delta]] = {
    "insert": lambda _, rows: Delta.insertion(rows),
    "delete": lambda _, rows: Delta.deletion(rows),
    "upsert": Staging._replacement,
}
