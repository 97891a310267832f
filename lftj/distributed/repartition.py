# SPDX-License-Identifier: Apache-2.0
"""Another number of parts: each part's base rows are cut anew, in one job, and all views are
derived from them in the new parts. It is so once the commit's manifest is there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from lftj.distributed.bounds import Bounds
from lftj.distributed.commit import Commit
from lftj.distributed.committed_version import Present
from lftj.distributed.compact import CompactTask, compact_part
from lftj.distributed.files.entry import Entry, only
from lftj.distributed.objects.mounts import sent
from lftj.storage import base_name


class Repartition(Commit):
    """A commit that begins with nothing and is brought all base rows, cut for its parts."""

    def __init__(
        self,
        old: Present,
        parts: int,
        bounds: Bounds,
        elastic: float,
        report: Callable[[str], None],
    ):
        manifest = replace(old.manifest, parts=parts, log={}, counts={}, tokens={}, steps={})
        executor = old.executor.divided(parts)
        empty = replace(old, executor=executor, manifest=manifest, ran={}, counted={})
        super().__init__(empty, manifest.program, old.plan, bounds, elastic, report)
        self._old = old
        self.afresh = self.emptied = True

    def brought(self) -> Mapping[str, list[Entry]]:
        """Base rows as they are kept, cut for the parts of this commit. One job."""
        found: dict[str, list[Entry]] = {}
        for part in self.bounds.run(self._old.executor, compact_part, self._tasks()):
            for name, entry in part.items():
                found.setdefault(name, []).append(entry)
        return found

    def _tasks(self) -> list[CompactTask]:
        old = self._old
        manifest, catalog = old.manifest, old.plan.program.catalog
        kept = {
            base_name(name): (schema, old.plan.cuts(name), entries)
            for name, schema in catalog.relations.items()
            if (entries := manifest.log.get(base_name(name), ()))
        }
        return [
            CompactTask(
                sent(old.executor.path),
                part,
                manifest.parts,
                self.version,
                self.token,
                {
                    name: (schema, cuts, only(entries, part, cuts[0]))
                    for name, (schema, cuts, entries) in kept.items()
                },
                onto=self.executor.partitions,
            )
            for part in range(manifest.parts)
        ]
