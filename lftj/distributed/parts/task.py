# SPDX-License-Identifier: Apache-2.0
"""Tasks of a worker, and its answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from lftj.distributed.files.entry import Entry
from lftj.distributed.objects.mounts import AnyPath, here
from lftj.distributed.partitioning.steps import Step
from lftj.distributed.parts.heavy_values import Counted, Sample
from lftj.engine.calls import Limits
from lftj.maintenance.inputs import RuleWork
from lftj.scantree import frozen
from lftj.tuning import DEFAULT, Tuning

TRACE_BUDGET = 1 << 26
"""Bytes that the sensitivity indices of one part may take, where a workspace says nothing."""


@frozen
class Settings:
    """Choices of a workspace that change no result, as parts are told them: the fields of its
    `Tuning` that are not as by default, and bytes that the sensitivity indices of a part may take.
    """

    others: tuple[tuple[str, Any], ...] = ()
    trace_budget: int = TRACE_BUDGET

    @cached_property
    def tuning(self) -> Tuning:
        """The tuning of the workspace."""
        return Tuning(**dict(self.others)) if self.others else DEFAULT


@frozen
class OnPart:
    """Part of every task that needs a part.

    `program_name`: of the program, whose text is in a file (`files.programs`), so that a task is as
    small with many rules as with one. `base`: token and version of the commit that it builds on;
    `ran`: the number of its steps here, None when the driver does not know. `epoch`: of the
    manifest that the driver has for the last one. `limits`: limits of the task itself. `settings`:
    those of the workspace.
    """

    path: AnyPath
    part: int
    parts: int
    program_name: str
    base: tuple[str, int]
    epoch: int
    ran: int | None
    limits: Limits
    settings: Settings

    @property
    def folder(self) -> Path:
        """The folder of the path, in this process."""
        return here(self.path)

    @property
    def key(self) -> tuple[str, int]:
        """The part, as this process knows it: by the folder of its path, and its number."""
        return str(self.folder), self.part


@frozen
class PartTask(OnPart):
    """The last of these steps of one commit, in one part.

    What each of the steps brings is in its delivery (`files.deliveries`), of which the part reads
    its own. `afresh`: the program is another one, so everything is derived anew; `emptied`: from
    nothing, as all rows are brought. `oldest`: the first version from which parts can be brought
    forward. `elastic`: how much of a full evaluation an update may cost. `samples`: how to count
    hubs of relations that this step loads.
    """

    token: str
    version: int
    steps: tuple[Step, ...]
    afresh: bool = False
    emptied: bool = False
    oldest: int = 0
    elastic: float = 0.2
    samples: Mapping[str, Sample] = field(default_factory=dict[str, Sample])


@frozen
class Exchanged:
    """A part in a stage in supersteps after a step: see `Exchange`, whose words these are."""

    moved: bool = False
    shrank: bool = False
    grew: bool = False
    asked: frozenset[int] = frozenset()
    gave_up: bool = False
    overdeleted: int = 0


@dataclass
class PartDone:
    """Result of a task: the entries it wrote; inserted and erased base rows, with the entry of
    those that are not what was asked for; the local relations that changed so far; of a stage in
    supersteps how far it is; and how it came by its part: `kept`, `behind` (brought forward),
    `opened` (as it was stored, and brought forward) or `built`. `counted`: what samples have.
    `compile_seconds` are those of kernels compiled meanwhile, which `seconds` do not count.
    """

    part: int
    entries: dict[str, Entry] = field(default_factory=dict)
    net: dict[str, tuple[int, int, Entry | None]] = field(default_factory=dict)
    rows: dict[str, tuple[int, int]] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()
    exchanged: Exchanged = field(default_factory=Exchanged)
    works: list[RuleWork] = field(default_factory=list)
    counted: Counted = field(default_factory=dict)
    origin: str = "kept"
    read: int = 0
    seconds: float = 0.0
    compile_seconds: float = 0.0
