# SPDX-License-Identifier: Apache-2.0
"""Kernels of workers, compiled when rules are added and when a path is opened, so that no commit
and no query waits for them.

Workers on the driver's machine share its cache, so the driver compiles. Others compile in a job of
their own, each machine what it lacks.
"""

from __future__ import annotations

from collections.abc import Iterable

from lftj.distributed.bounds import Bounds
from lftj.distributed.objects.mounts import shown
from lftj.distributed.work.compiling import CompileTask, compile_here, count_missing
from lftj.engine.machine_code import DRIVER, PARTS, compile_named, groups_for
from lftj.partition import Executor, KeepsWorkers
from lftj.program import RelationSchema, Stratum
from lftj.scantree.jit import announcing
from lftj.syntax import attending

_complete = set[str]()
"""Executors that lacked no kernel when some path was opened; a machine never loses them."""


class Kernels:
    """Groups of kernels that the workers of an executor have, as far as one driver knows. A worker
    that comes later, on another machine, compiles for itself.
    """

    def __init__(self, executor: Executor):
        self._executor = executor
        self._there: frozenset[str] = frozenset()
        self._complete = False  # workers on other machines lack no kernel of any group

    def compile(
        self, schemas: Iterable[RelationSchema], strata: Iterable[Stratum], bounds: Bounds
    ) -> float:
        """Compile what workers may call for these relations and rules; the seconds that it took.
        Raises as `Bounds.run`.
        """
        needed = groups_for(schemas, strata) | {PARTS}
        if "floats" in needed:
            needed |= {"strings"}  # parts tell each other exact sums as text
        groups = needed - self._there
        if not groups:
            return 0.0
        with attending(lambda steps: bounds.budget.look()):
            if self._executor.local:
                seconds = compile_named(groups)
            else:
                seconds = compile_named({DRIVER} | (groups & {"strings"}))
                seconds += self._on_workers(tuple(sorted(groups)), bounds)
        self._there |= groups
        return seconds

    def _on_workers(self, groups: tuple[str, ...], bounds: Bounds) -> float:
        executor = self._executor
        homes = executor.homes() if isinstance(executor, KeepsWorkers) else frozenset[str]()
        if self._complete or (homes and homes <= _complete):
            return 0.0
        with executor.described(f"lftj: kernels for {shown(executor.path)}"):
            found = bounds.run(executor, count_missing, self._tasks(groups, bounds))
            if not any(lacking for _, lacking in found):
                self._complete = True
                _complete.update(homes)
            if not (kernels := max(count for count, _ in found)):
                return 0.0
            with announcing.all_of(kernels):
                return max(bounds.run(executor, compile_here, self._tasks(groups, bounds)))

    def _tasks(self, groups: tuple[str, ...], bounds: Bounds) -> list[CompileTask]:
        limits = bounds.left()
        return [CompileTask(part, groups, limits) for part in range(self._executor.partitions)]
