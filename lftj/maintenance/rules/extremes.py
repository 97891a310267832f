"""`min` and `max` of a column of one relation, read off that relation's own key order [LFTJ-IVM
2.3.3].

In cheapest(x, min(c)) :- offer(x, _, c). the rows of `offer` in the order (x, c, …) are the ordered
rows of every group, so the head needs no state: a group's least value is in the first row that
begins with the group, its greatest in the last, in the version before the commit as in the one
after it. Rules that ask for extremes of the same column and group read the same tree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lftj.join.context import Context
from lftj.maintenance.inputs.versions import Versions
from lftj.program.normal_form import AggregateTerm, NormalRule, Ref
from lftj.storage.delta import Columns, Delta
from lftj.storage.relation import Order
from lftj.tuning import Tuning
from lftj.tuning.aids import EXTREMES
from scantree import Tree
from scantree.rows import sort_rows


@dataclass(frozen=True, slots=True)
class Extremes:
    """A head that is read off a key order: the first `width` columns of `order` are the group, the
    next one has the values.

    `head`: for each head column its place in (group columns, least value, greatest value).
    """

    relation: str
    order: Order
    width: int
    head: tuple[int, ...]

    def update(self, versions: Versions, context: Context) -> Delta:
        """The change of the head rows that a change of the relation makes. O(δ log n); pages opened
        count as kernel steps.
        """
        delta = versions.deltas[self.relation]
        changed = [
            np.concatenate((delta.inserts[column], delta.erases[column]))
            for column in self.order[: self.width]
        ]
        groups = np.array(sort_rows(changed)) if self.width else np.zeros((0, 1), np.int64)
        there, before = self._rows(versions.before(self.relation).tree(self.order), groups, context)
        here, after = self._rows(versions[self.relation].tree(self.order), groups, context)
        differs = here != there
        for place in self.head:
            if place >= self.width:
                differs |= before[place] != after[place]
        return Delta(
            self._head_rows(after, differs & here), self._head_rows(before, differs & there)
        )

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
                columns.append(rows[self.width])
            else:
                columns.append(found)
        return found, columns

    def _head_rows(self, columns: Columns, which: np.ndarray) -> Columns:
        return sort_rows([columns[place][which] for place in self.head])


def extremes_of(rule: NormalRule, tuning: Tuning) -> Extremes | None:
    """Reader of a rule's head from a key order, if it can be read so: one atom, and of one of its
    columns, not a text, the extremes alone.

    Rows that are much wider than the columns read keep no key order for it: the values of each
    group take less, and are sooner sorted.
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
        or any(term.function not in ("min", "max") for term in calls)
    ):
        return None
    (value,) = values
    group = list(dict.fromkeys(rule.group))
    if (
        value in group or rule.variables[value].type.name == "str"
    ):  # texts stand in the order of their codes
        return None
    leading = [places[variable] for variable in (*group, value)]
    most = tuning.extremes_width * len(leading)
    if len(atom.args) > most and leading != list(range(len(leading))):
        return None
    order = (*leading, *(column for column in range(len(atom.args)) if column not in leading))
    width = len(group)
    head = tuple(
        group.index(term.variable) if isinstance(term, Ref) else width + (term.function == "max")
        for term in rule.head
    )
    return Extremes(atom.relation, order, width, head)
