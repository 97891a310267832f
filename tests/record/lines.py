"""The record as text: a line for each history, one for each commit, one for each rule that had
work; and what two records differ in.

    = choice/3
    7 refused E310
    8
     tree #2 update 3 3 1 20 2 2

The numbers are those of `NUMBERS`. Lines of a commit are in the order of their words: in which
order rules are looked at is no choice.
"""

from __future__ import annotations

import lzma
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tests.record.names import now

NUMBERS = ("surgeries", "stabs", "regions", "steps", "assignments", "head_changes")
HERE = Path(__file__).parent
"""Folder of the records."""
_SPACE = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True, order=True)
class Work:
    """Work of a commit for a rule."""

    relation: str
    rule: str
    strategy: str
    numbers: tuple[int, ...]

    @classmethod
    def of(cls, work: Any) -> Work:
        """From a row of `ws.profile()`, or from what such a row is made of."""
        return cls(
            work.relation,
            work.rule,
            work.outcome,
            tuple(int(getattr(work, name)) for name in NUMBERS),
        )

    @classmethod
    def parsed(cls, line: str) -> Work:
        """From its line."""
        relation, rule, strategy, *numbers = line.split(" ")
        return cls(
            now(relation.replace(_SPACE, " ")),
            rule.replace(_SPACE, " "),
            now(strategy),
            tuple(map(int, numbers)),
        )

    def __str__(self) -> str:
        words = (word.replace(" ", _SPACE) for word in (self.relation, self.rule, self.strategy))
        return " ".join([*words, *map(str, self.numbers)])


@dataclass
class Commit:
    """A commit: its number in the history, how it ended if it was refused, and the work it did."""

    number: int
    refused: str = ""
    works: list[Work] = field(default_factory=list)


History = list[Commit]
Record = dict[str, History]


def text_of(record: Mapping[str, History]) -> str:
    """The text of a record."""
    lines: list[str] = []
    for name, history in record.items():
        lines.append(f"= {name}")
        for commit in history:
            lines.append(
                f"{commit.number} refused {commit.refused}"
                if commit.refused
                else f"{commit.number}"
            )
            lines += (f" {work}" for work in sorted(commit.works))
    return "\n".join([*lines, ""])


def record_of(text: str) -> Record:
    """The record of a text, in the words of now."""
    record: Record = {}
    history: History = []
    for line in text.splitlines():
        if line.startswith("= "):
            history = record[line[2:]] = []
        elif line.startswith(" "):
            history[-1].works.append(Work.parsed(line[1:]))
        else:
            number, _, refused = line.partition(" refused ")
            history.append(Commit(int(number), refused))
    return record


def read(path: Path) -> str:
    """The text of a compressed file."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return file.read()


def write(path: Path, text: str) -> None:
    """Compress a text; the same text makes the same bytes."""
    path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


# ── what differs ──────────────────────────────────────────────────────────────────────────────────
def differences(recorded: Mapping[str, History], found: Mapping[str, History]) -> Iterator[str]:
    """Differences, a line each: by history, commit and rule. A history that is in one of them alone
    is one line.
    """
    for name in dict.fromkeys([*recorded, *found]):
        if name not in found or name not in recorded:
            problem = "recorded, but not run" if name in recorded else "run, but not recorded"
            yield f"{name}: {problem}"
            continue
        for was, is_ in zip_longest(recorded[name], found[name]):
            yield from _of_commit(name, was, is_)


def _of_commit(name: str, was: Commit | None, is_: Commit | None) -> Iterator[str]:
    if was is None or is_ is None:
        problem = "is missing" if is_ is None else "was not there"
        yield f"{name}, commit {(was or is_ or Commit(0)).number}: {problem}"
        return
    place = f"{name}, commit {is_.number}"
    if (was.number, was.refused) != (is_.number, is_.refused):
        before, now = was.refused or "accepted", is_.refused or "accepted"
        yield f"{place}: was commit {was.number} {before}, is {now}"
    before, after = _by_rule(was.works), _by_rule(is_.works)
    for rule in sorted(before.keys() | after.keys()):
        if before.get(rule) != after.get(rule):
            relation, number, turn = rule
            what = " ".join(
                [relation or "(no relation)", number, f"({turn + 1})" if turn else ""]
            ).strip()
            yield f"{place}, {what}: {_changed(before.get(rule), after.get(rule))}"


def _by_rule(works: Iterable[Work]) -> dict[tuple[str, str, int], Work]:
    """The works by relation, rule, and the turn of those that share both, as a rule with `;` has
    several bodies.
    """
    turns: Counter[tuple[str, str]] = Counter()
    found: dict[tuple[str, str, int], Work] = {}
    for work in sorted(works):
        place = (work.relation, work.rule)
        found[*place, turns[place]] = work
        turns[place] += 1
    return found


def _changed(was: Work | None, is_: Work | None) -> str:
    if was is None or is_ is None:
        work = was or is_
        assert work is not None
        numbers = ", ".join(
            f"{name} {number}" for name, number in zip(NUMBERS, work.numbers, strict=True) if number
        )
        return (
            f"{'no more work' if is_ is None else 'work that was not there'}: {work.strategy}, "
            f"{numbers or 'all zero'}"
        )
    changed = [("strategy", was.strategy, is_.strategy)] if was.strategy != is_.strategy else []
    changed += [
        each for each in zip(NUMBERS, was.numbers, is_.numbers, strict=True) if each[1] != each[2]
    ]  # type: ignore[misc]
    return ", ".join(f"{name} {before} → {after}" for name, before, after in changed)


def totals(record: Mapping[str, History]) -> dict[str, tuple[int, int]]:
    """By strategy: how many rules it was taken for, and the kernel steps of these."""
    found: dict[str, tuple[int, int]] = {}
    place = NUMBERS.index("steps")
    for history in record.values():
        for commit in history:
            for work in commit.works:
                count, steps = found.get(work.strategy, (0, 0))
                found[work.strategy] = count + 1, steps + work.numbers[place]
    return found
