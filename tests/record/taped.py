"""Histories as data: what is declared, then transactions. So the same come on every machine,
whatever draws random histories by then.
"""

from __future__ import annotations

import datetime
import decimal
import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import pytest

import lftj
from lftj.errors import LftjError
from lftj.maintenance.trace.trace_planner import TraceOverride
from lftj.program.statistics_hints import Size
from lftj.sensitivity import EXACT, NONE, Granularity, hull, projected
from tests.oracle.pair import declare, rule_of
from tests.record.lines import Commit, History, Work
from tests.record.observing import observed
from tests.strategies.histories import AddRule, Change, RemoveRule, Step, TakeSnapshot
from tests.strategies.schemas import Spec

GRANULARITIES: dict[str, Granularity] = {
    str(kind): kind for kind in (EXACT, hull(), hull(2), projected(0), projected(1), NONE)
}

TUNINGS: dict[str, lftj.Tuning] = {
    "from nothing": lftj.Tuning(chain_iterations=1, chain_rows=1 << 30, chain_rest=0),
    "few rows tell": lftj.Tuning(telling_rows=2),
}
"""Tunings that tests give some histories, so that what takes many rows shows on few."""

_DENSE = Size(100_000, (500.0,) * 3, (200.0,) * 3)
SETTINGS: dict[str, dict[str, Any]] = {
    "values repeat": {"lftj.join.plan.cardinality.Statistics.size": lambda *_: _DENSE},
    "few rows tell": {
        "lftj.program.rewrites.elimination_trees.VIEW": 0.0,
        "lftj.program.rewrites.elimination_trees.GAIN": 0.0,
    },
}
"""Attributes of the engine that tests replace for some histories, as their test does."""


@dataclass
class Taped:
    """A history. `trace` names a granularity, with `+first` where the first proof will do;
    `setting` is one of `TUNINGS`, of `SETTINGS`, or of both.
    """

    name: str
    specs: list[dict[str, Any]]
    steps: list[dict[str, Any]] = field(default_factory=list)
    elastic: float = 0.2
    trace: str = ""
    setting: str = ""

    @property
    def line(self) -> str:
        """The history as a line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=True, separators=(",", ":"))

    @classmethod
    def of_line(cls, line: str) -> Taped:
        """The history of such a line."""
        return cls(**json.loads(line))

    # ── as it is taped ────────────────────────────────────────────────────────────────────────────
    def add(self, step: Step) -> None:
        """Tape one more step."""
        if isinstance(step, TakeSnapshot):
            self.steps.append({"snapshot": True})
        else:
            self.steps.append(
                {"do": [_action_of(action) for action in step.actions], "rollback": step.rollback}
            )

    # ── as it is played ───────────────────────────────────────────────────────────────────────────
    def play(self) -> History:
        """Do all of it, and say what each commit did."""
        commits: History = []
        with _set(SETTINGS.get(self.setting, {})), observed(_into(commits)):
            tuning = TUNINGS.get(self.setting, lftj.Tuning())
            workspace: Any = lftj.connect(elastic=self.elastic, tuning=tuning)
            if self.trace:
                kind, _, first = self.trace.partition("+")
                workspace._backend.trace_override = TraceOverride(
                    lambda _: GRANULARITIES[kind], bool(first)
                )
            for spec in self.specs:
                _declare(workspace, spec)
            self._steps(workspace, commits)
        return commits

    def _steps(self, workspace: Any, commits: History) -> None:
        handles: list[Any] = []
        snapshots: list[
            Any
        ] = []  # kept, since what a snapshot holds is copied rather than written over
        for step in self.steps:
            if "snapshot" in step:
                snapshots.append(workspace.snapshot())
                continue
            before = list(handles)
            try:
                with workspace.transaction() as transaction:
                    for action in step["do"]:
                        _act(transaction, action, handles)
                    if step["rollback"]:
                        raise _RolledBack
            except _RolledBack:
                handles = before
            except LftjError as error:
                handles = before
                commits.append(Commit(workspace.version, error.code))


class _RolledBack(Exception):
    """Ends a transaction that is to be rolled back."""


def _into(commits: History) -> Callable[[int, int, list[Work]], None]:
    return lambda _, version, works: commits.append(Commit(version, "", works))


@contextmanager
def _set(attributes: dict[str, Any]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in attributes.items():
            patch.setattr(name, value)
        yield


# ── declarations, actions and values as JSON ──────────────────────────────────────────────────────
def spec_of(spec: Spec) -> dict[str, Any]:
    """A relation as data: `text` where it takes a `.decl`, otherwise its types and its key."""
    text = str(spec.declaration) if spec.functional or spec.declaration.choice else ""
    return {"text": text} if text else {"name": spec.name, "types": spec.types, "key": spec.key}


def _declare(workspace: Any, spec: dict[str, Any]) -> None:
    if "text" in spec:
        workspace.add_rules(spec["text"])
    else:
        key = None if spec["key"] is None else tuple(spec["key"])
        declare(workspace, Spec(spec["name"], tuple(spec["types"]), key))


def _action_of(action: Change | AddRule | RemoveRule) -> list[Any]:
    match action:
        case AddRule(rule=rule):
            return ["add", str(rule)]
        case RemoveRule(place=place):
            return ["remove", place]
        case Change(verb=verb, relation=relation, rows=rows):
            return [verb, relation, [[_coded(value) for value in row] for row in rows]]


def _act(transaction: Any, action: Sequence[Any], handles: list[Any]) -> None:
    match action:
        case ["add", text]:
            handles.append(transaction.add_rule(rule_of(text)))
        case ["remove", place]:
            if handles:
                transaction.remove_rule(handles.pop(place % len(handles)))
        case [verb, relation, rows]:
            getattr(transaction, verb)(relation, [tuple(map(_decoded, row)) for row in rows])


def _coded(value: Any) -> Any:
    match value:
        case datetime.datetime():
            return {"timestamp": value.isoformat()}
        case datetime.date():
            return {"date": value.isoformat()}
        case decimal.Decimal():
            return {"decimal": str(value)}
        case float() if not math.isfinite(value):
            return {"float": repr(value)}
        case _:
            return value


_DECODERS: dict[str, Callable[[str], Any]] = {
    "timestamp": datetime.datetime.fromisoformat,
    "date": datetime.date.fromisoformat,
    "decimal": decimal.Decimal,
    "float": float,
}


def _decoded(value: Any) -> Any:
    if isinstance(value, dict):
        ((kind, text),) = value.items()
        return _DECODERS[kind](text)
    return value
