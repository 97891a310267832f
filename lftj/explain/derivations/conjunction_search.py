# SPDX-License-Identifier: Apache-2.0
"""One conjunction searched by the triejoin with some of its variables given.

The rows of given values are a relation of their own, `given#`, that the join begins with: a search
for one row and one for a thousand are the same search. Plans choose among key orders as those of
any question do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from lftj.join import Context, Rent
from lftj.join.plan import ADVISED_ORDER_COST, NEW_ORDER, RulePlan
from lftj.join.run import PreparedPlan, chunks, plan_once, plan_rule
from lftj.program import CheckedAtom, Ref, RelationSchema, RuleVariable, of_expressions
from lftj.program.rewrites import Conjunct, RuleMaker
from lftj.storage import OneRow, RelationVersion, TransientRelation

GIVEN = "given#"
FOUND = "found#"

_ROOM = 256  # rows of a search's output that are taken at once
_FEW = 64  # given rows up to which a plan that is kept is run

Rows = np.ndarray
"""Codes as a matrix of columns × rows; the columns stand for variables."""


class Search:
    """The assignments of a conjunction. `given`: the variables whose values are given; `bound`:
    these, then all others, as columns of what is found.
    """

    def __init__(
        self, conjunct: Conjunct, variables: Sequence[RuleVariable], given: tuple[int, ...]
    ):
        atoms = [each for each in conjunct.positive if isinstance(each, CheckedAtom)]
        equations = [each for each in conjunct.positive if not isinstance(each, CheckedAtom)]
        mentioned = {
            *of_expressions(arg for atom in atoms for arg in atom.args),
            *(
                variable
                for each in equations
                for variable in of_expressions((each.left, each.right))  # type: ignore[union-attr]
            ),
        }
        self.given = given
        self.bound = (*given, *sorted(mentioned - set(given)))
        begin = [CheckedAtom(GIVEN, tuple(map(Ref, given)))] if given else []
        whole = Conjunct([*begin, *conjunct.positive], conjunct.negated, conjunct.filters)
        maker = RuleMaker(whole, variables, str)
        self.rule = maker.make(0, FOUND, [Ref(variable) for variable in self.bound], None)
        heads = [term.variable for term in self.rule.head if isinstance(term, Ref)]
        self._needed = tuple(dict.fromkeys(heads))
        self._places = [self._needed.index(variable) for variable in heads]
        columns = tuple((f"_{place}", variables[each].type) for place, each in enumerate(given))
        self._schema = RelationSchema(GIVEN, columns)
        self._prepared: PreparedPlan | None = None
        self._one: OneRow | None = None
        self._read: dict[str, RelationVersion] = {}
        self._relations: Mapping[str, RelationVersion] | None = None
        self._lost, self._price = Rent(), 0.0

    def run(
        self, relations: Mapping[str, RelationVersion], rows: Rows, context: Context
    ) -> Iterator[Rows]:
        """The assignments for distinct rows of given values, in pieces."""
        if self._one is not None and rows.shape[1] == 1 and relations is self._relations:
            self._one.put(rows[:, 0].tolist())
            yield from self._again(self._read, context)
            return
        read = {name: relations[name] for name in self.rule.reads if name != GIVEN}
        if self.given and rows.shape[1] == 1:
            self._one = OneRow(self._schema, context.resources.arena, rows.copy())
            self._read, self._relations = read, relations
            read[GIVEN] = self._one
        elif self.given:
            read[GIVEN] = TransientRelation(
                self._schema, context.resources.arena, np.ascontiguousarray(rows)
            )
        if self.given and rows.shape[1] <= _FEW:
            yield from self._again(read, context)
            return
        plan, read = plan_once(self.rule, read, context, needed=self._needed, count=False)
        for piece in chunks(plan, read, context):
            yield piece[self._places]

    def _again(self, read: Mapping[str, RelationVersion], context: Context) -> Iterator[Rows]:
        """The same by a plan whose words are kept: a proof of many steps has as many searches, of
        a row or two.
        """
        if self._prepared is None:
            self._prepare(self._plan(read, context), read, context)
        assert self._prepared is not None
        before = context.budget.work
        found = self._prepared.rows(read, context)
        self._lost = self._lost.plus(context.budget.work - before)
        if self._lost.lost > (self._price or ADVISED_ORDER_COST):
            self._reconsider(read, context)
        if found.shape[1]:
            yield found[self._places]

    def _reconsider(self, read: Mapping[str, RelationVersion], context: Context) -> None:
        """Make the key orders that searches lacked, once these took as much as making them does."""
        plan = self._plan(read, context, lasting=True)
        missing = {each for each in plan.key_orders() if each[1] not in read[each[0]].orders()}
        self._price = sum(NEW_ORDER * read[name].count for name, _ in missing)
        if any(len(order) > context.tuning.narrow_columns for _, order in missing):
            self._price = float("inf")
        elif self._lost.due(self._price):
            self._prepare(plan, read, context)
            self._price = float("inf")

    def _plan(
        self, read: Mapping[str, RelationVersion], context: Context, lasting: bool = False
    ) -> RulePlan:
        return plan_rule(
            self.rule,
            read,
            context,
            needed=self._needed,
            count=False,
            lasting=lasting,
            repeated=True,
        )

    def _prepare(
        self, plan: RulePlan, read: Mapping[str, RelationVersion], context: Context
    ) -> None:
        self._prepared = PreparedPlan(plan, read, context, _ROOM)
