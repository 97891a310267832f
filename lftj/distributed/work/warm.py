# SPDX-License-Identifier: Apache-2.0
"""A first small commit, so that all that parts need is imported, compiled and loaded."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from lftj.distributed.files.deliveries import delivery_name, write_delivery
from lftj.distributed.files.manifest import ROWS
from lftj.distributed.files.programs import stored_program
from lftj.distributed.files.row_files import write_entry
from lftj.distributed.partitioning.part_planner import plan_of
from lftj.distributed.partitioning.steps import Step
from lftj.distributed.parts.task import PartTask, Settings
from lftj.distributed.stored.checkpoints import at_once
from lftj.distributed.stored.storing import begin_storing
from lftj.distributed.work.stage import run_stage
from lftj.distributed.work.worker import forget
from lftj.engine.calls import Limits
from lftj.storage import Delta, base_name
from lftj.types import Dictionary


def warm() -> None:
    """Load the modules and the compiled code that parts need, compiling it where that was never
    done: for a process that workers are forked from.
    """
    for name in ("pyarrow.compute", "pyarrow.parquet"):  # which files and samples are read by
        import_module(name)
    with (
        TemporaryDirectory() as folder,
        at_once(),
    ):  # a process that is forked from must have no other thread
        begin_storing(Path(folder))
        columns = [["x", "int"], ["y", "int"]]
        edge: dict[str, Any] = {
            "name": "e",
            "columns": columns,
            "key": None,
            "functional": False,
            "view": False,
        }
        views = [{**edge, "name": "v"}, {**edge, "name": "r"}, {**edge, "name": "p"}]
        rules = (
            "v(x, count()) :- e(x, y), e(y, z), e(x, z). r(x, y) :- e(x, y). r(x, z) :- r(x, "
            "y), e(y, z). p(y, y) :- e(_, y)."
        )
        program = {"relations": [edge, *views], "rules": [rules], "sizes": {}}
        name_of_program = stored_program(Path(folder), program)
        schema, dictionary = plan_of(program).program.catalog.relation("e"), Dictionary()
        for version, rows in enumerate([[[1, 2, 1], [2, 3, 3]], [[3], [1]]], 1):
            delta = Delta.insertion([np.array(column, np.int64) for column in rows])
            entry = write_entry(
                Path(folder) / ROWS, f"{version}", version, schema, delta, (0,), 1, dictionary
            )
            name = delivery_name(version, f"{version}", 0)
            write_delivery(
                Path(folder) / ROWS / name,
                {base_name("e"): [entry]},
                {base_name("e"): (0,)},
                1,
            )
            base = ("" if version == 1 else "1", version - 1)
            run_stage(
                PartTask(
                    folder,
                    0,
                    1,
                    name_of_program,
                    base,
                    0,
                    1,
                    Limits(),
                    Settings(),
                    f"{version}",
                    version,
                    (Step(0),),
                    version == 1,
                )
            )
    forget()
