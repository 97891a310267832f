"""What a commit did for one rule: the rows of `ws.profile()`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class RuleWork:
    """Counters of one rule at one commit.

    `strategy`: `update` (only what the change touches was evaluated), `full` (the first time, or after a change of rules), `fallback` (an
    update that cost more than allowed was given up for a full evaluation), `forecast` (it was expected to, and not started), `added` and
    `removed` (a rule that came or went), `bootstrap` (a recursive stratum from nothing), `parts` (only the parts of one that the change
    touches). `steps` are kernel steps, those of an abandoned update included. `assignments` counts rows of satisfying assignments found,
    `head_changes` the changes of the rule's head rows.
    """

    relation: str
    rule: str
    strategy: str
    surgeries: int = 0
    stabs: int = 0
    regions: int = 0
    steps: int = 0
    assignments: int = 0
    head_changes: int = 0
    bytes: int = 0
    seconds: float = 0.0
