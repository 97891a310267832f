# SPDX-License-Identifier: Apache-2.0
"""A missing row as data: how far each rule gets, and which base facts would bring the row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lftj.proofs.folding import to_pre
from lftj.proofs.instances import atom_text, value_text
from lftj.proofs.steps import Bindings, Row


class BaseChange(NamedTuple):
    """One base fact that is added (`sign` +1) or removed (−1)."""

    sign: int
    relation: str
    row: Row

    def __str__(self) -> str:
        return f"{'+' if self.sign > 0 else '−'}{atom_text(self.relation, self.row)}"


class Case(NamedTuple):
    """One assignment under which the literal fails. `instance`: the literal with its values;
    `nearest`: rows of its relation that agree with it on some columns, or, of a negation, rows that
    match.
    """

    bindings: Bindings
    instance: str
    nearest: tuple[Row, ...]


class Attempt(NamedTuple):
    """One rule, or one way through its disjunctions, for the missing row.

    `satisfied` are the literals that hold together under some assignment, `fails` is the first that
    does not hold with these, for any assignment. `relation` is the one whose rows are `nearest`.
    """

    rule: str
    head: int
    satisfied: tuple[str, ...]
    fails: str
    relation: str | None
    cases: tuple[Case, ...]


@dataclass(frozen=True)
class WhyNot:
    """The reason why a row is not there. `print()` it; `to_dict()` gives plain data.

    `attempts`: how far each rule gets, in the order in which rules were added. `fixes`: smallest
    sets of base facts to add or remove after which the row is there, each tried out. Base facts are
    those of relations without rules, or with rows of their own beside these. `given_up` says what
    the search for them has not tried; where there is nothing of that kind `searched` is True, and
    no smaller set brings the row. `keys`: the places of key columns by relation. A row that comes
    and the one that goes and has its key are one change, as `tx.upsert` makes it.
    """

    relation: str
    row: Row
    attempts: tuple[Attempt, ...]
    fixes: tuple[tuple[BaseChange, ...], ...]
    changes: int
    given_up: tuple[str, ...] = ()
    keys: Mapping[str, Sequence[int]] = field(default_factory=dict)

    @property
    def searched(self) -> bool:
        """True where the search for changes has tried all that may do."""
        return not self.given_up

    def to_dict(self) -> dict[str, Any]:
        """The answer as dictionaries and lists."""
        return {
            "relation": self.relation,
            "row": list(self.row),
            "attempts": [_attempt_data(each) for each in self.attempts],
            "fixes": [self._fix_data(fix) for fix in self.fixes],
            "changes": self.changes,
            "searched": self.searched,
            "given_up": list(self.given_up),
        }

    def __str__(self) -> str:
        return "\n".join([*self._head(), *self._rules(), *self._fixes()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return to_pre(str(self), "lftj-why-not")

    def _head(self) -> list[str]:
        return [f"{atom_text(self.relation, self.row)} is not there"]

    def _rules(self) -> list[str]:
        lines = [] if self.attempts else ["  no rule derives the relation"]
        for attempt in self.attempts:
            lines.append(f"  {attempt.rule}")
            lines += [f"    holds: {each}" for each in attempt.satisfied]
            lines.append(f"    fails: {attempt.fails}")
            for case in attempt.cases:
                if case.instance != attempt.fails:
                    values = ", ".join(f"{name} = {value_text(v)}" for name, v in case.bindings)
                    lines.append(f"      {case.instance}{f'  with {values}' if values else ''}")
                for row in case.nearest:
                    lines.append(f"        there is {atom_text(attempt.relation or '', row)}")
        return lines

    def _fixes(self) -> list[str]:
        most = f"{self.changes} base fact{'s' * (self.changes != 1)}"
        lines = [
            "  it would be there with",
            *(f"    {', '.join(self._shown(fix))}" for fix in self.fixes),
        ]
        if not self.fixes:
            found = "would bring it" if self.searched else "was found"
            lines = [f"  no change of up to {most} {found}"]
        if not self.searched:
            others = "other changes" if self.fixes else "one"
            several = any(len(list(self._shown(fix))) > 1 for fix in self.fixes[:1])
            smaller = ", smaller ones too," if several else ""
            lines.append(f"    there may be {others}{smaller} all the same, as not all was tried:")
            lines += [f"      {each}" for each in self.given_up]
        return lines

    def _replaced(self, fix: Sequence[BaseChange]) -> dict[BaseChange, BaseChange]:
        """The rows that come, each with the one that goes and has its key."""
        by_key = {
            (each.relation, *(each.row[place] for place in key)): each
            for each in fix
            if each.sign < 0 and (key := self.keys.get(each.relation)) is not None
        }
        return {
            each: gone
            for each in fix
            if each.sign > 0
            and (key := self.keys.get(each.relation)) is not None
            and (gone := by_key.get((each.relation, *(each.row[place] for place in key))))
        }

    def _shown(self, fix: Sequence[BaseChange]) -> Iterator[str]:
        replaced = self._replaced(fix)
        for each in fix:
            if each in replaced:
                yield f"replace {str(replaced[each])[1:]} by {str(each)[1:]}"
            elif each not in replaced.values():
                yield str(each)

    def _fix_data(self, fix: Sequence[BaseChange]) -> list[dict[str, Any]]:
        replaced = self._replaced(fix)
        return [
            _change_data(each)
            | ({"replaces": list(replaced[each].row)} if each in replaced else {})
            for each in fix
        ]


def _attempt_data(attempt: Attempt) -> dict[str, Any]:
    cases = [
        {
            "bindings": dict(case.bindings),
            "instance": case.instance,
            "nearest": [list(row) for row in case.nearest],
        }
        for case in attempt.cases
    ]
    return {**attempt._asdict(), "satisfied": list(attempt.satisfied), "cases": cases}


def _change_data(change: BaseChange) -> dict[str, Any]:
    return {"sign": change.sign, "relation": change.relation, "row": list(change.row)}
