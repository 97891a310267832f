# SPDX-License-Identifier: Apache-2.0
"""A random program in a workspace, and what the reference derives from it after each commit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import lru_cache
from typing import Any

import lftj
from lftj.proofs.kinds import of_users
from lftj.proofs.sums import DependsOnItself
from lftj.syntax.parser import parse
from tests.oracle.model import difference
from tests.oracle.pair import typed
from tests.reference import ArithmeticFailure, FunctionConflict, NotStratified, evaluate
from tests.strategies.cyclic_bodies import FUNCTIONS
from tests.strategies.cyclic_programs import Life, Rows, Step

REFUSALS = (FunctionConflict, ArithmeticFailure, OverflowError, DependsOnItself)
"""Errors with which the reference refuses."""
EXCUSED = frozenset({"E302", "E330"})
"""Codes of the engine where the reference may have rows: groups that could rest on each other by
other values, and limits.
"""
_OF_PARTS = frozenset({"E400"})
_WORK = 3_000_000

_parsed = lru_cache(maxsize=4)(parse)
_OF_USERS = of_users(map(lftj.UserFunction, FUNCTIONS))


def _declare(workspace: Any, life: Life, parts: bool = False) -> None:
    for function in () if parts else FUNCTIONS:
        workspace.function(function)
    workspace.add_rules(life.declarations)


class Living:
    """A life in a workspace that `opened` gives. `step` goes to both and compares; `met` counts
    codes of refusals.

    `parts`: the workspace is over parts, and takes no limits and functions.
    """

    def __init__(self, life: Life, opened: Callable[[], Any], parts: bool = False):
        self.life, self._opened, self._parts = life, opened, parts
        self._root = self.workspace = opened()
        self.rows: Rows = {each.name: set() for each in life.base}
        self.live: list[tuple[int, Any]] = []
        self.gone: list[int] = []
        self.met: Counter[str] = Counter()
        self.trail: list[str] = []
        self._branch, self.known = "", Rows()
        _declare(self.workspace, life, parts)

    def __str__(self) -> str:
        rules = [f"{number}: {rule}" for number, rule in enumerate(self.life.rules)]
        live = [number for number, _ in self.live]
        now = f"rules now: {live}\nrows now: {self.rows}"
        return "\n".join((self.life.name, self.life.declarations, *rules, *self.trail, now))

    def to_its_end(self, steps: Sequence[Step], between: Callable[[int], None]) -> Counter[str]:
        """Live these steps, each after what is done `between` two of them at its place; what was
        refused. A failure tells the whole life.
        """
        try:
            self.begin()
            for place, step in enumerate(steps):
                between(place)
                self.step(step)
            self.end()
        except NotStratified:
            self.met["not judged"] += 1
        except Exception as error:
            raise AssertionError(f"{self}\n{error}") from error
        finally:
            self.close()
        return self.met

    def begin(self) -> None:
        """Rows and rules, in the order that the life has."""
        start = Step(self.life.start, {}, None, False)
        if self.life.facts_first:
            self._commit(start)
            self._add_rules()
        else:
            self._add_rules()
            self._commit(start)
        self.check()

    def _add_rules(self) -> None:
        """All rules together, or else one after another without those that are refused."""
        if not self._added(range(len(self.life.rules))):
            for number in range(len(self.life.rules)):
                self._added([number])

    def _added(self, numbers: Any) -> bool:
        try:
            with self._limits():
                text = "\n".join(self.life.rules[number] for number in numbers)
                handles = self.workspace.add_rules(text)
        except lftj.LftjError as error:
            self.met[f"rules {error.code}"] += 1
            if not isinstance(error, lftj.ProgramErrors):
                self._refused(error, self.rows, [*(number for number, _ in self.live), *numbers])
            return False
        self.live += zip(numbers, handles, strict=True)
        return True

    def _limits(self) -> Any:
        return ExitStack() if self._parts else self.workspace.limits(work=_WORK)

    def reopen(self) -> None:
        """Close the workspace and open it again, in the same branch."""
        self._root.close()
        self._root = self.workspace = self._opened()
        if self._branch:
            self.workspace = self._root.branch(self._branch)
        self._renumber()

    def enter(self, branch: str) -> None:
        """Go on in a branch that begins here."""
        self._branch, self.workspace = branch, self.workspace.branch(branch)
        self._renumber()

    def _renumber(self) -> None:
        numbers = [number for number, _ in self.live]
        self.live = list(zip(numbers, self.workspace.rules, strict=True))

    def close(self) -> None:
        """Close the workspace."""
        self._root.close()

    def step(self, step: Step) -> None:
        """Do one step on both, and compare all rows and what the commit reports."""
        before = self.known
        transaction = self._commit(step)
        self.check()
        for each in self.life.relations if transaction else ():
            rows = transaction.changes(each.name).fetchall()
            reported = typed((*row[:-2], row[-2]) for row in rows)
            changed = difference(before[each.name], self.known[each.name])
            assert reported == typed((*row, sign) for row, sign in changed), f"change: {each.name}"

    def _commit(self, step: Step) -> Any:
        """The transaction, unless it was refused."""
        rows = {
            name: (held - step.delete.get(name, set())) | step.insert.get(name, set())
            for name, held in self.rows.items()
        }
        live = [each for each in self.live if each[0] != step.out]
        back = self.gone[:1] if step.back else []
        self.trail.append(f"{step}")
        try:
            with self._limits(), self.workspace.transaction() as transaction:
                for name in rows:
                    transaction.delete(name, sorted(step.delete.get(name, ()), key=repr))
                    transaction.insert(name, sorted(step.insert.get(name, ()), key=repr))
                for number, handle in self.live:
                    if number == step.out:
                        transaction.remove_rule(handle)
                for number in back:
                    live.append((number, transaction.add_rule(self.life.rules[number])))
        except lftj.LftjError as error:
            self.trail.append(f"refused: {error.code}")
            self.met[f"commit {error.code}"] += 1
            self._refused(error, rows, [number for number, _ in live])
            return None
        self.gone = [number for number in self.gone if number not in back]
        self.gone += [number for number, _ in self.live if number == step.out]
        self.rows, self.live = rows, live
        return transaction

    def _refused(self, error: lftj.LftjError, rows: Rows, numbers: list[int]) -> None:
        """The reference refuses too, or the error is one of those where it need not."""
        if error.code not in (EXCUSED | _OF_PARTS if self._parts else EXCUSED):
            assert self.derived(rows, numbers) is None, f"only the engine refuses: {error}"

    def derived(self, rows: Rows, numbers: list[int]) -> Rows | None:
        """Rows that the reference derives; None where it refuses. Raises NotStratified for a
        program whose cycle goes through what never holds: the engine leaves that out before it
        looks.
        """
        rules = "\n".join(self.life.rules[number] for number in numbers)
        try:
            return evaluate(
                _parsed(f"{self.life.declarations}\n{rules}"),
                rows,
                keys=self.life.keys,
                functions=_OF_USERS,
            )
        except REFUSALS as refusal:
            self.met[f"reference {type(refusal).__name__}"] += 1
            return None

    def check(self) -> None:
        """All relations have the rows that the reference derives."""
        expected = self.derived(self.rows, [number for number, _ in self.live])
        assert expected is not None, "the reference refuses, the engine has rows"
        self.known = expected
        for each in self.life.relations:
            found = typed(self.workspace[each.name].fetchall())
            there = typed(expected[each.name])
            assert found == there, f"{each.name}: more {found - there}, missing {there - found}"

    def end(self) -> None:
        """Nothing is left that is wrong, and whoever begins with the last rows, and with the last
        rules in another order, has the same.
        """
        assert self.workspace.verify() == []
        with lftj.connect(executor=lftj.ThreadExecutor(threads=1)) as fresh:
            _declare(fresh, self.life)
            for name, rows in self.rows.items():
                fresh.load(name, sorted(rows, key=repr))
            fresh.add_rules("\n".join(self.life.rules[number] for number, _ in self.live[::-1]))
            for each in self.life.derived:
                found = typed(fresh[each.name].fetchall())
                assert found == typed(self.workspace[each.name].fetchall()), each.name
