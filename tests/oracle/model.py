"""The model: what a workspace must hold after each step, by evaluating everything anew."""

from __future__ import annotations

from collections.abc import Iterable

from lftj.syntax import tree
from tests.reference import ArithmeticFailure, FunctionConflict, evaluate
from tests.strategies.histories import Action, AddRule, Change, RemoveRule, Transact
from tests.strategies.schemas import Row, Spec

Relations = dict[str, set[Row]]


class Model:
    """Base rows and live rules; `relations` holds every relation's rows after the last step."""

    def __init__(self, specs: Iterable[Spec]):
        self.specs = {spec.name: spec for spec in specs}
        self.keys = {spec.name: spec.key for spec in self.specs.values() if spec.key is not None}
        self.rules: list[tree.Rule] = []
        self.base: Relations = {name: set() for name in self.specs}
        self.relations = self._evaluate(self.base, [])

    def take(self, step: Transact) -> bool:
        """Do the step; False when it must fail (two rows of one key, arithmetic without a value),
        and then nothing changes.
        """
        base, rules = dict(self.base), list(self.rules)
        for action in step.actions:
            self._act(action, base, rules)
        if step.rollback:
            return True
        try:
            self.relations = self._evaluate(base, rules)
        except (FunctionConflict, ArithmeticFailure):
            return False
        self.base, self.rules = base, rules
        return True

    def _act(self, action: Action, base: Relations, rules: list[tree.Rule]) -> None:
        match action:
            case AddRule(rule=rule):
                rules.append(rule)
            case RemoveRule(place=place) if rules:
                del rules[place % len(rules)]
            case Change(relation=relation):
                base[relation] = self._changed(base[relation], action)

    def _changed(self, rows: set[Row], change: Change) -> set[Row]:
        if change.verb == "delete":
            return rows - set(change.rows)
        if change.verb == "insert":
            return rows | set(change.rows)
        key = self.keys[change.relation]
        replaced = {tuple(row[place] for place in key) for row in change.rows}
        return {row for row in rows if tuple(row[place] for place in key) not in replaced} | set(
            change.rows
        )

    def _evaluate(self, base: Relations, rules: list[tree.Rule]) -> Relations:
        declarations = [spec.declaration for spec in self.specs.values()]
        return evaluate((*declarations, *rules), base, keys=self.keys)


def difference(before: set[Row], after: set[Row]) -> set[tuple[Row, int]]:
    """The change set from one to the other: rows with +1 or -1."""
    return {(row, 1) for row in after - before} | {(row, -1) for row in before - after}
