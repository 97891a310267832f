# SPDX-License-Identifier: Apache-2.0
"""`min` and `max` of a column of one relation, read off that relation's own key order [LFTJ-IVM
2.3.3].

In cheapest(x, min(c)) :- offer(x, _, c). the rows of `offer` in the order (x, c, …) are the ordered
rows of every group, so the head needs no state: a group's least value is in the first row that
begins with the group, its greatest in the last, in the version before the commit as in the one
after it. Rules with extremes of the same column and group read the same tree. For a large relation
the tree is made when one of the extremes is deleted: until then the head rows are enough.
"""

from __future__ import annotations

import numpy as np

from lftj.functions import aggregates
from lftj.join.context import Context
from lftj.maintenance.inputs.versions import Versions
from lftj.program.normal_form import AggregateTerm, NormalRule, Ref
from lftj.scantree import Tree
from lftj.scantree.frozen import frozen
from lftj.scantree.rows import equal_runs, locate, sort_rows
from lftj.storage.delta import Columns, Delta
from lftj.storage.relation import Order, RelationVersion
from lftj.tuning import Tuning
from lftj.tuning.aids import EXTREMES
from lftj.types import NULL_CODE

_EXTREMES_WIDTH = 3
"""Times as many columns as are read beyond which a relation is too wide for a key order that keeps
a minimum or maximum.
"""


@frozen(slots=True)
class Extremes:
    """A head that is read off a key order: the first `width` columns of `order` are the group, the
    next one has the values.

    `head`: for each head column its place in (group columns, least value, greatest value).
    `optional`: values may be NULL, which is the least code, and the least value where there is no
    other.
    """

    relation: str
    order: Order
    width: int
    head: tuple[int, ...]
    optional: bool = False

    def prepare(self, relation: RelationVersion, context: Context) -> None:
        """Make the key order, unless that takes long and may never be needed."""
        if relation.count <= context.tuning.extremes_rows:
            relation.tree(self.order)

    def update(
        self, versions: Versions, context: Context, results: RelationVersion | None
    ) -> Delta:
        """The change of the head rows that a change of the relation makes. O(δ log n); pages opened
        count as kernel steps.

        `results`: the head rows before, where only this rule derives them. While there is no key
        order, the change is found from these, unless a least or greatest value is erased: then the
        order is made.
        """
        delta = versions.deltas[self.relation]
        changed = [
            np.concatenate((delta.inserts[column], delta.erases[column]))
            for column in self.order[: self.width]
        ]
        groups = np.array(sort_rows(changed)) if self.width else np.zeros((0, 1), np.int64)
        old = versions.before(self.relation)
        followed = None
        few = versions[self.relation].count <= context.tuning.extremes_rows
        made = self.order in old.orders() and (few or old.count > 0)
        if made or results is None:
            there, before = self._rows(old.tree(self.order), groups, context)
        else:
            there, before = self._results(results, groups, context)
            followed = self._followed(there, before, groups, delta)
        here, after = followed or self._rows(
            versions[self.relation].tree(self.order), groups, context
        )
        if few and not made:
            versions[self.relation].tree(self.order)
        differs = here != there
        for place in self.head:
            if place >= self.width:
                differs |= before[place] != after[place]
        return Delta(
            self._head_rows(after, differs & here), self._head_rows(before, differs & there)
        )

    def _results(
        self, results: RelationVersion, groups: np.ndarray, context: Context
    ) -> tuple[np.ndarray, Columns]:
        """As `_rows`, from the head rows."""
        group = [self.head.index(place) for place in range(self.width)]
        order = (*group, *(place for place in range(len(self.head)) if place not in group))
        found, rows, pages = results.tree(order).edge_rows(groups)
        context.budget.spend(pages)
        columns: Columns = list(groups)
        for place in (self.width, self.width + 1):
            known = place in self.head
            columns.append(rows[order.index(self.head.index(place))] if known else found)
        return found, columns

    def _followed(
        self, there: np.ndarray, before: Columns, groups: np.ndarray, delta: Delta
    ) -> tuple[np.ndarray, Columns] | None:
        """Groups after a change that erases none of their extremes; None after others."""
        erased, gone = self._extremes_in(groups, delta.erases)
        came, inserted = self._extremes_in(groups, delta.inserts)
        here, after = there | came, list(groups)
        least = _least_there if self.optional else np.minimum
        for last, better in ((False, least), (True, np.maximum)):
            place = self.width + last
            if place not in self.head:
                after.append(here)
                continue
            if (erased & (gone[last] == before[place])).any():
                return None
            new = np.where(there, better(before[place], inserted[last]), inserted[last])
            after.append(np.where(came, new, before[place]))
        return here, after

    def _extremes_in(
        self, groups: np.ndarray, rows: Columns
    ) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
        """Mark the groups that some of these rows are in; the least and the greatest value of
        each.
        """
        found = np.zeros(groups.shape[1], np.bool_)
        least, most = np.zeros((2, groups.shape[1]), np.int64)
        *group, values = sort_rows([rows[column] for column in self.order[: self.width + 1]])
        if len(values):
            starts = equal_runs([*group, values], self.width)
            which = (
                locate([column.take(starts) for column in group], list(groups))[0]
                if self.width
                else np.zeros(1, np.int64)
            )
            found[which] = True
            ends, first = np.append(starts[1:], len(values)) - 1, starts
            if self.optional:
                first = np.minimum(starts + np.add.reduceat(values == NULL_CODE, starts), ends)
            least[which] = values.take(first)
            most[which] = values.take(ends)
        return found, (least, most)

    def _rows(self, tree: Tree, groups: np.ndarray, context: Context) -> tuple[np.ndarray, Columns]:
        """Mark the groups that have rows in a version, and read the columns that `head` refers
        to.
        """
        found = np.zeros(groups.shape[1], np.bool_)
        columns: Columns = list(groups)
        for last in (False, True):
            if self.width + last in self.head:
                found, rows, pages = tree.edge_rows(groups, last=last)
                context.budget.spend(pages)
                if self.optional and not last:
                    self._pass_null(tree, groups, rows[self.width], found, context)
                columns.append(rows[self.width])
            else:
                columns.append(found)
        return found, columns

    def _pass_null(
        self,
        tree: Tree,
        groups: np.ndarray,
        values: np.ndarray,
        found: np.ndarray,
        context: Context,
    ) -> None:
        """Put the least value in the place of NULL, with which a group begins that has it."""
        null = np.flatnonzero(found & (values == NULL_CODE))
        if not len(null):
            return
        behind = [*groups[: self.width, null], np.full(len(null), NULL_CODE + 1)]
        there, rows, pages = tree.edge_rows(behind, alike=self.width)
        context.budget.spend(pages)
        values[null[there]] = rows[self.width][there]

    def _head_rows(self, columns: Columns, which: np.ndarray) -> Columns:
        return sort_rows([columns[place][which] for place in self.head])


def extremes_of(rule: NormalRule, tuning: Tuning, wide: int = _EXTREMES_WIDTH) -> Extremes | None:
    """Reader of a rule's head from a key order, if it can be read so: one atom, and of one of its
    columns, not a text, the extremes alone.

    Rows that are much wider than the columns read keep no key order for it: the values of each
    group take less, and are sooner sorted. `wide`: as `_EXTREMES_WIDTH`.
    """
    if EXTREMES in tuning.without:
        return None
    calls = [term for term in rule.head if isinstance(term, AggregateTerm)]
    if not calls or len(rule.atoms) != 1 or rule.negated or rule.assignments or rule.filters:
        return None
    (atom,) = rule.atoms
    places = {
        argument.variable: column
        for column, argument in enumerate(atom.args)
        if isinstance(argument, Ref)
    }
    values = {argument.variable for term in calls for argument in term.args}
    if (
        len(places) < len(atom.args)
        or len(values) != 1
        or any(term.function not in aggregates.EXTREMES for term in calls)
    ):
        return None
    (value,) = values
    group = list(dict.fromkeys(rule.group))
    type = rule.variables[value].type
    if value in group or type.name == "str":  # texts stand in the order of their codes
        return None
    leading = [places[variable] for variable in (*group, value)]
    if len(atom.args) > wide * len(leading) and leading != list(range(len(leading))):
        return None
    order = (*leading, *(column for column in range(len(atom.args)) if column not in leading))
    head = tuple(
        group.index(term.variable)
        if isinstance(term, Ref)
        else len(group) + (term.function in aggregates.GREATEST)
        for term in rule.head
    )
    return Extremes(atom.relation, order, len(group), head, type.optional)


def _least_there(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The lesser of two codes, where NULL is greater than any."""
    return np.where((other == NULL_CODE) | ((one != NULL_CODE) & (one < other)), one, other)
