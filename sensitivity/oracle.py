# SPDX-License-Identifier: Apache-2.0
"""The change oracle: which regions of a body to evaluate again, on the old and on the new version,
after a change [LFTJ-IVM 4.1.1, 4.2.2].

Each surgery of each atom is looked up in the index of its position; a context γ that depends on (α,
v) gives the region α, γ, v. The paper's oracle takes the whole interval that was hit; here it is
the one value v in it (`docs/sensitivity.md` says why that is enough). Positions without an index,
because they are prefixes or because none is kept, give the region α, v with nothing looked up.

Where the search stops at the first proof (levels from `exists_from` on), a change moves that proof:
the region is the whole search under the levels before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from lftj.scantree.frozen import record
from lftj.scantree.rows import sort_rows
from lftj.sensitivity.index import SensitivityIndex
from lftj.sensitivity.region import Regions, gathered
from lftj.sensitivity.shape import BodyShape, Position, PositionKey
from lftj.sensitivity.surgery import Surgeries

Words = np.ndarray
Indices = Mapping[PositionKey, SensitivityIndex]
Piece = tuple[tuple[int, ...], int, list[Words]]


@record(slots=True)
class OracleWork:
    """Work counters of the oracle: surgeries, stabs into indices, contexts hit, regions found."""

    surgeries: int = 0
    stabs: int = 0
    hits: int = 0
    regions: int = 0


def change_oracle(
    body: BodyShape, changes: Sequence[Surgeries | None], indices: Indices
) -> tuple[tuple[Regions, ...], OracleWork]:
    """The regions that `changes` (one per atom; None or without surgeries for an atom that did not
    change) can touch.

    `indices` by (atom, column), as they were before the change; positions that are not there count
    as granularity none. Outside of the regions the old and the new version have the same satisfying
    assignments. O((surgeries + hits) log n).
    """
    work = OracleWork()
    pieces: list[Piece] = []
    for position in body.positions:
        change = changes[position.atom]
        if change is None:
            continue
        branches = concerned(position, change)
        if len(branches[0]):
            work.surgeries += len(branches[0])
            pieces += _touched(body, position, branches, indices.get(position.key), work)
    regions = gathered(pieces)
    work.regions = sum(len(batch) for batch in regions)
    return regions, work


def concerned(position: Position, change: Surgeries) -> list[Words]:
    """The surgeries at a position that can concern the body: `column + 1` key columns, sorted."""
    branches = change.changed(position.column + 1, topmost=not position.negated)
    keep = None
    for first, second in position.equal:
        same = branches[first] == branches[second]
        keep = same if keep is None else keep & same
    for column, code in position.fixed:
        same = branches[column] == code
        keep = same if keep is None else keep & same
    return branches if keep is None else [column[keep] for column in branches]


def _touched(
    body: BodyShape,
    position: Position,
    branches: list[Words],
    index: SensitivityIndex | None,
    work: OracleWork,
) -> Iterator[Piece]:
    named = [branches[source] for source in position.sources]
    if position.prefix or index is None:
        yield _piece(body, position.level, position.pinned, named)
        return
    *alpha, values = named
    probes, gamma = index.stab(alpha, values)
    work.stabs += len(values)
    work.hits += len(probes)
    if len(probes):
        bound = [column.take(probes) for column in named]
        yield _piece(body, position.level, (*position.pinned, *index.gamma), [*bound, *gamma])


def _piece(body: BodyShape, level: int, levels: tuple[int, ...], columns: list[Words]) -> Piece:
    """The region that pins these levels, or of a level in the existential block those before the
    block.
    """
    log_from = min(level, body.exists_from)
    kept = sorted(
        (at, number)
        for number, at in enumerate(levels)
        if level < body.exists_from or at < body.exists_from
    )
    return tuple(at for at, _ in kept), log_from, [columns[number] for _, number in kept]


def touched_intervals(index: SensitivityIndex, change: Surgeries) -> list[Words]:
    """The paper's own oracle for one index: (α…, low, high, γ…) of the intervals that a surgery
    hits, sorted, each once.

    For comparison with the paper; maintenance uses `change_oracle`.
    """
    branches = concerned(index.position, change)
    *alpha, values = [branches[source] for source in index.position.sources]
    return sort_rows(index.hits(alpha, values)[1])
