"""RDFS over LUBM: 99 % of the triples materialised, 1 % added, 1 % removed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from bench.cases import CASES
from bench.clock import processor_seconds
from bench.engine import connect, program
from bench.figure import Report, require_equal

REPEATS = 7  # a removal takes ten milliseconds, so single ones differ by a third
_ROWS = 126_732


def _shares(data: Path, size: str) -> tuple[pa.Table, pa.Table, pa.Table]:
    """All distinct triples in random order: the first 98 %, a further 1 %, which is removed later,
    and the last 1 %, which is added.
    """
    triples = next(case for case in CASES if case.name == "rdfs_lubm").tables(data)["triple"]
    # Threads of Arrow's would give the groups in any order.
    distinct = triples.group_by(triples.column_names, use_threads=False).aggregate([])
    order = np.random.default_rng(1).permutation(distinct.num_rows)
    shuffled = distinct.take(pa.array(order[: {"s": 5_000, "m": 20_000, "l": len(order)}[size]]))
    part = shuffled.num_rows // 100
    return shuffled.slice(2 * part), shuffled.slice(0, part), shuffled.slice(part, part)


def _repeat(shares: tuple[pa.Table, pa.Table, pa.Table], whole: bool) -> tuple[float, float, float]:
    """Processor seconds of the three steps, in a workspace of its own; its rules are there before
    the facts.
    """
    rest, removed, added = shares
    workspace = connect()
    workspace.add_rules(program("rhodf"))
    first = processor_seconds(lambda: workspace.load("triple", pa.concat_tables([rest, removed])))
    second = processor_seconds(lambda: workspace.load("triple", added))
    if whole:
        require_equal("triples after the addition", len(workspace["triple"]), _ROWS)

    def remove() -> None:
        with workspace.transaction() as transaction:
            transaction.delete("triple", removed)

    third = processor_seconds(remove)
    require_equal("views that differ", workspace.verify(), [])
    return first, second, third


def measure(report: Report, data: Path | None) -> None:
    """Record both steps over the first, the median of a few repeats."""
    assert data is not None
    shares = _shares(data, report.size)
    _repeat(tuple(share.slice(0, 500) for share in shares), whole=False)  # type: ignore[arg-type]
    repeats = np.array([_repeat(shares, report.full_size) for _ in range(REPEATS)])
    ratios = np.median(repeats[:, 1:] / repeats[:, :1], axis=0)
    report.add("lubm_add", float(ratios[0]))
    report.add("lubm_remove", float(ratios[1]))
    first, second, third = (np.median(repeats, axis=0) * 1e3).tolist()
    report.note(
        figure="lubm",
        triples=sum(share.num_rows for share in shares),
        first_ms=first,
        add_ms=second,
        remove_ms=third,
    )
