"""F(x,y) ← G(x,z), H(y,z), I(x,y,z), R(z): erasing one row of R costs in proportion to the
assignments that used it.

Counted in kernel steps, over values of z with few partners and with many.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

import lftj
from bench.engine import connect
from bench.figure import Report, require_equal

RULE = ".decl F(x: number, y: number)  F(x, y) :- G(x, z), H(y, z), I(x, y, z), R(z)."
# Partners of a z in G and in H; every pair of these is in I.
DEGREES = {"s": (8, 16, 32), "m": (8, 16, 32, 64, 128), "l": (8, 16, 32, 64, 128, 256)}
OF_EACH = 4  # values of z with the same degree


def _workspace(degrees: list[int]) -> lftj.Workspace:
    """Value z has degrees[z] partners on each side, drawn from ones that all values share."""
    random = np.random.default_rng(5)
    names = 4 * max(degrees)
    sides = [[random.choice(names, degree, replace=False) for degree in degrees] for _ in range(2)]
    z = np.repeat(np.arange(len(degrees)), degrees)
    pairs = [(np.repeat(x, len(y)), np.tile(y, len(x))) for x, y in zip(*sides, strict=True)]
    workspace = connect()
    workspace.relation("R", {"z": int})
    for name in "GH":
        workspace.relation(name, {"x": int, "z": int})
    workspace.relation("I", {"x": int, "y": int, "z": int})
    with workspace.transaction() as transaction:
        transaction.insert("R", [(each,) for each in range(len(degrees))])
        for name, side in zip("GH", sides, strict=True):
            transaction.insert(name, pa.table({"x": np.concatenate(side), "z": z}))
        every = [np.concatenate(column) for column in zip(*pairs, strict=True)]
        transaction.insert(
            "I",
            pa.table(
                {
                    "x": every[0],
                    "y": every[1],
                    "z": np.repeat(np.arange(len(degrees)), np.square(degrees)),
                }
            ),
        )
    workspace.add_rules(RULE)
    return workspace


def measure(report: Report, data: Path | None) -> None:
    """Largest over smallest work per assignment.."""
    degrees = [degree for degree in DEGREES[report.size] for _ in range(OF_EACH)]
    workspace = _workspace(degrees)
    rows = len(workspace["F"])
    per_assignment: dict[int, float] = {}
    for degree in DEGREES[report.size]:
        work = [_work_of_erasing(workspace, z) for z, its in enumerate(degrees) if its == degree]
        per_assignment[degree] = float(np.mean(work)) / degree**2
        report.note(
            figure="work_per_assignment_spread",
            degree=degree,
            assignments=degree**2,
            steps_per_assignment=per_assignment[degree],
        )
    require_equal("rows after erasing and putting back", len(workspace["F"]), rows)
    require_equal("views that differ", workspace.verify(), [])
    report.add(
        "work_per_assignment_spread", max(per_assignment.values()) / min(per_assignment.values())
    )


def _work_of_erasing(workspace: lftj.Workspace, z: int) -> int:
    """Kernel steps of the commit that erases R(z), which is put back afterwards."""
    with workspace.transaction() as erasing:
        erasing.delete("R", [(z,)], missing="error")
    with workspace.transaction() as transaction:
        transaction.insert("R", [(z,)])
    return erasing.work
