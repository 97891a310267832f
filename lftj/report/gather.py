# SPDX-License-Identifier: Apache-2.0
"""Contents of the page about a workspace: everything it shows, as plain data."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from lftj.errors import LftjError
from lftj.explain.figures import reason
from lftj.proofs.instances import atom_text, value_text

if TYPE_CHECKING:
    from lftj.explain.plans.plan_report import PlanReport
    from lftj.report.subject import ShownVersion, Subject

SAMPLED = 8
"""Rows of each relation that a page shows."""
EXPLAINING = 5.0
"""Seconds after which no further sample is explained."""
_LETTERS = 2_000_000  # of explanations on one page
_COMMITS = 10_000
_LINES = 200  # of one explanation
_LONGEST = 120  # letters of one value
_TOTALS = ("(rows)", "(pages)", "(dictionary)")


def gather(
    subject: Subject, samples: int = SAMPLED, explaining: float = EXPLAINING
) -> dict[str, Any]:
    """The contents of a page about the last version. Up to `samples` rows of each relation are
    shown, and explained as long as that takes no more than these seconds in all.

    O(rules + commits that are known), and what the explanations cost.
    """
    version = subject.current()
    overview = version.overview()
    sampled = {each.name: _sample(version, each.name, samples) for each in overview.relations}
    relations = overview.to_dict()["relations"]
    plan = version.plan(None, passes=True)
    memory = _structures(subject)
    for each in relations:
        each["bytes"] = sum(row[3] for row in memory if row[0] == each["name"])
        each["samples"] = [
            {"cells": list(map(_shown, row)), "atom": atom_text(each["name"], row)}
            for row in sampled[each["name"]]
        ]
    profile = subject.profile(None).to_dict()["commits"]
    known = {each["version"] for each in profile}
    works = (work for commit in profile for work in commit["rules"] if work.get("relation"))
    spent = _spent([*_logged(subject, known), *works])
    return {
        "version": version.number,
        "where": subject.title,
        "made": datetime.now().isoformat(" ", "seconds"),
        "relations": relations,
        "shared": list(_shared(plan)),
        "rules": list(_rules(version, plan, spent)),
        "commits": _commits(subject, profile),
        "memory": _memory(memory),
        "slowest": sorted(spent.values(), key=lambda each: -each["seconds"])[:20],
        "explained": _explained(version, sampled, explaining),
    }


def _sample(version: ShownVersion, relation: str, rows: int) -> list[tuple[Any, ...]]:
    return version.sample(version.program.catalog.relation(relation), rows) if rows else []


def _shown(value: object) -> str:
    text = value_text(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _shared(plan: PlanReport) -> Iterator[dict[str, Any]]:
    """Nodes of the graph of views that several relations read."""
    for node in plan.graph.all.values():
        if node.kind not in ("fixpoint", "levels") and len(node.relations) > 1:
            yield asdict(node)


def _rules(
    version: ShownVersion, plan: PlanReport, spent: dict[tuple[str, str], dict[str, Any]]
) -> Iterator[dict]:
    by_rule = {rule: each for (_, rules), each in spent.items() for rule in rules.split(", ")}
    shown = dict[str, str]()
    numbered = zip(version.program.sources, plan.reports, strict=True)
    for number, (source, report) in enumerate(numbered, 1):
        rule = version.program.rule(source)
        took = by_rule.get(f"#{source}", {})
        yield {
            "number": number,
            "text": str(rule),
            "heads": [head.relation for head in rule.heads],
            "passes": list(report.pass_lines()),
            "plan": [*report.lines(shown)][1 + len(list(report.pass_lines())) :],
            "seconds": took.get("seconds"),
            "steps": took.get("steps"),
        }


def _spent(works: Iterable[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    """Costs of all commits that are known, by relation and rule."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for work in works:
        key = work["relation"], work["rule"]
        total = found.setdefault(
            key, {"relation": key[0], "rule": key[1], "commits": 0, "seconds": 0.0, "steps": 0}
        )
        total["commits"] += work.get("commits", 1)
        total["seconds"] += work["seconds"]
        total["steps"] += work["steps"]
        total |= {"strategy": work["strategy"], "reason": work["reason"]}
    return found


def _logged(subject: Subject, known: set[int]) -> Iterator[dict[str, Any]]:
    """Works of rules in commits that the profile does not have, as if of one commit."""
    with suppress(LftjError):  # parts keep no log
        for work in subject.timeline("log").works(known):
            yield {**work._asdict(), "reason": reason(work.strategy, work.outcome, work.moved)}


def _commits(subject: Subject, profile: list[dict[str, Any]]) -> list[list[Any]]:
    """Commits as lists: version, time, message, rows that came and went, seconds of the commit, of
    views and of compilation; None where that is not known. The last first.
    """
    views = {each["version"]: each for each in profile}
    found: list[list[Any]] = []
    with suppress(LftjError):  # parts keep no log
        for version, when, message, rows, seconds, _ in subject.timeline("log").log():
            each = views.pop(version, {})
            took = [seconds, each.get("seconds"), each.get("compile_seconds")]
            rounded = [None if figure is None else round(figure, 6) for figure in took]
            found.append([version, f"{when:%Y-%m-%d %H:%M:%S}", message, _short(rows), *rounded])
    for version, each in views.items():
        found.append([version, "", "", "", None, each["seconds"], each["compile_seconds"]])
    found.sort(key=lambda commit: -commit[0])
    return found[:_COMMITS]


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _structures(subject: Subject) -> list[tuple[Any, ...]]:
    """Relation, key order, rows and bytes of everything that is kept."""
    found = subject.memory()
    places = [found.columns.index(name) for name in ("relation", "key_order", "rows", "bytes")]
    return [tuple(row[place] for place in places) for row in found.fetchall()]


def _memory(rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    """The largest structures, and the totals."""
    totals = [list(row) for row in rows if row[0] in _TOTALS]
    others = [list(row) for row in rows if row[0] not in _TOTALS]
    return {"totals": totals, "largest": sorted(others, key=lambda row: -row[3])[:30]}


def _explained(
    version: ShownVersion, sampled: dict[str, list[tuple[Any, ...]]], seconds: float
) -> dict[str, str]:
    """Explanations of samples, as text: one row of each relation, then a second one of each, and so
    on, as long as there is time and room.
    """
    found: dict[str, str] = {}
    end, room = time.monotonic() + seconds, _LETTERS
    for number in range(max(map(len, sampled.values()), default=0)):
        for relation, rows in sampled.items():
            if number >= len(rows):
                continue
            if time.monotonic() > end or room < 0:
                return found
            text = explanation(version, relation, rows[number])
            if text is not None:
                found[atom_text(relation, rows[number])] = text
                room -= len(text)
    return found


def explanation(version: ShownVersion, relation: str, row: tuple[Any, ...]) -> str | None:
    """The proof of a row as text; None where it cannot be explained."""
    from lftj.proofs.proof import Proof
    from lftj.proofs.text import proof_text

    try:
        proof = version.explain(relation, row, 3, None)
    except LftjError:
        return None
    assert isinstance(proof, Proof)
    return proof_text(proof.steps, {}, _LINES)
