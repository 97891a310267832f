# SPDX-License-Identifier: Apache-2.0
"""The committed version of parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Any

from lftj.distributed.files.manifest import Manifest
from lftj.distributed.files.programs import stored_program
from lftj.distributed.objects.mounts import sent
from lftj.distributed.partitioning.part_plan import PartPlan
from lftj.distributed.parts.heavy_values import Counted
from lftj.distributed.parts.task import Settings
from lftj.engine.calls import Limits
from lftj.partition import Executor
from lftj.program import Program
from lftj.scantree import frozen
from lftj.storage import base_name


@frozen
class Present:
    """One version: its manifest, the plan of its parts, and `ran`, per part how many steps its
    commit had there, where that is known.

    `program` numbers rules as the handles of this process know them; the plan has the same rules,
    numbered anew. It is empty where nobody asks for handles. `settings`: those of the workspace.
    `counted`: values with many rows in relations that are as they were loaded.
    """

    executor: Executor
    manifest: Manifest
    plan: PartPlan
    ran: Mapping[int, int] = field(default_factory=dict)
    program: Program = field(default_factory=Program)
    views: frozenset[str] = frozenset()
    settings: Settings = field(default_factory=Settings)
    counted: Counted = field(default_factory=dict)

    @cached_property
    def program_name(self) -> str:
        """The name by which tasks find the program of the version."""
        return stored_program(self.executor.path, self.manifest.program)

    def stored(self, relation: str) -> str:
        """The name under which all rows of a relation of the user's are stored."""
        return relation if self.plan.derived(relation) else base_name(relation)

    def count(self, relation: str) -> int:
        """Number of all rows of a relation."""
        return self.manifest.counts.get(self.stored(relation), 0)

    @cached_property
    def _base(self) -> tuple[str, int]:
        """Token and version: one object for all tasks, which are sent together."""
        return self.manifest.token, self.manifest.version

    def on(self, part: int, limits: Limits, program_name: str | None = None) -> dict[str, Any]:
        """The fields of a `task.OnPart` that builds on it; `program_name`: of another program than
        that of the version.
        """
        return {
            "path": sent(self.executor.path),
            "part": part,
            "parts": self.executor.partitions,
            "program_name": program_name or self.program_name,
            "base": self._base,
            "epoch": self.manifest.epoch,
            "ran": self.ran.get(part),
            "limits": limits,
            "settings": self.settings,
        }
