# SPDX-License-Identifier: Apache-2.0
"""Dry runs: the version that some changes of base facts would make, without committing it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lftj.engine.commit import Proposal, Staging, carry_out
from lftj.engine.versions import State
from lftj.errors import LftjError, LimitError
from lftj.explain.derivations.version import Codes

if TYPE_CHECKING:
    from lftj.engine.live import Engine


class Change(NamedTuple):
    """A base fact, in codes, that is added (`sign` +1) or removed (−1)."""

    sign: int
    relation: str
    row: Codes


def dry_run(engine: Engine, state: State, changes: Iterable[Change]) -> State | None:
    """The state after a commit of these changes, which is not published; None where it would be
    refused, for instance by a key. Costs what the commit would.

    Raises LimitError. The caller holds the writer lock.
    """
    staged: dict[str, Staging] = {}
    for change in changes:
        if change.relation not in staged:
            staged[change.relation] = Staging(state.base(change.relation))
        columns = [np.array([code], np.int64) for code in change.row or (0,)]
        staged[change.relation].add("insert" if change.sign > 0 else "delete", columns)
    proposal = Proposal(state.program, state.views, state.aggregates, frozenset(), staged)
    try:
        return carry_out(state, proposal, engine.context(state.aggregates)).state
    except LimitError:
        raise
    except LftjError:
        return None


@contextmanager
def writing(engine: Engine) -> Iterator[None]:
    """For the length of a block no other thread commits; inside a transaction of this thread
    nothing more is taken.
    """
    if engine.writer.mine:
        yield
        return
    with engine.writer.held():
        yield
