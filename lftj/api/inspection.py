# SPDX-License-Identifier: Apache-2.0
"""Looking inside a workspace: plans, memory, what commits did, a page, and a check of all views."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

from lftj.api.backend import Backend
from lftj.api.snapshot import Snapshot
from lftj.engine.calls.options import with_named_options
from lftj.engine.live.verify import Discrepancy
from lftj.engine.programs.handles import RuleHandle
from lftj.engine.versions.result import Result
from lftj.scantree.process.interrupts import interrupts_as_such

if TYPE_CHECKING:
    from lftj.explain.figures.profile import Profile
    from lftj.explain.plans.plan_report import PlanReport


@with_named_options
class Inspection(ABC):
    """Access to how a workspace does its work."""

    @property
    @abstractmethod
    def _backend(self) -> Backend:
        """The open backend. Raises LftjError (E341) where it is closed."""

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """The last version, held."""

    def plan(self, rule: RuleHandle | None = None, passes: bool = False) -> PlanReport:
        """Plan of a rule, or without one of all, with the graph of views: how it is evaluated and
        why. `print()` it, or take its `df()`; its `nodes()` are those of the graph, each once,
        whichever rules it serves; its `places()` say where relations lie. Evaluates nothing.

        `passes`: the text shows each rule after each rewrite that changed it, with the reason. Over
        parts the joins are the ones that one process would plan for relations of these sizes.
        UnknownNameError (E114) for a rule that is not, or no longer, here.
        """
        return self._backend.current().plan(rule, passes)

    def memory(self) -> Result:
        """Rows and bytes, one row per relation and key order, and per state that is kept of a
        view's head, or index of its trace.

        Columns `relation`, `key_order`, `rows`, `bytes`. The last three rows are totals: `(rows)`
        of all rows above; `(pages)`, all pages in use, including pages of older versions and free
        room; `(dictionary)`, the strings.

        Over parts these are sums over the parts that workers keep now, with a column `held` for the
        cut, and after them the rows and bytes on disk. One job, which opens no part.
        """
        return self._backend.memory()

    def profile(self, last: int | None = None) -> Profile:
        """Work of the last commits, one row per commit and node of the graph of views that had any,
        the oldest commit first; a node that several rules share has one row for all of these. 1,000
        commits are remembered. `print()` it, take `to_dict()`, or use it as a pandas DataFrame.

        Columns: `version`, `relation`, `rule` (its number), `strategy`, and counts of work: tree
        `surgeries`, index `stabs`, `regions`, kernel `steps`, `assignments` found, `head_changes`;
        `bytes` of state kept, `seconds`, and `cpu_seconds` that all threads spent; `parts` into
        which large evaluations were divided, and the steps of the `largest_part`;
        `compile_seconds`, of kernels compiled meanwhile, which the other seconds do not count;
        `outcome`, how the strategy came to do it; `rows` of the relation after the commit, and the
        `reason` for strategy and outcome in words; `node`, its name in `ws.plan()`, empty where it
        is gone. The row of the strategy `compiled`, without
        relation and rule, has the `compile_seconds` of kernels that a program needs.
        docs/strategies.md lists the strategies. Outcomes are "update" where only what the change
        can affect was evaluated; "full" and "bootstrap" for an evaluation from nothing, of one
        relation or of a recursive stratum; "fallback" for one after an update was given up, and
        "forecast" in place of an update that was not started; "parts" for the affected parts of a
        recursive stratum; "choice" for a new choice among all candidates; "added" and "removed" for
        a rule that came or went. Over parts there is one row per commit, with the columns of
        `lftj.distributed.parts.outcome.Report`. Raises DeclarationError (E160) for a `last` below
        0.
        """
        return self._backend.profile(last)

    @interrupts_as_such()
    def report(
        self,
        destination: str | os.PathLike[str],
        *,
        samples: int = 8,
        explaining: float = 5.0,
    ) -> Path:
        """Write a page about the last version, one file of HTML that needs no network: relations
        and views, the graph of strata, rules with plans, commits, memory, and a search that
        explains rows of its samples. Returns its path.

        `samples` rows of each relation are shown, so do not pass on what they must not tell; 0
        shows none. They are explained as long as that takes no more than `explaining` seconds in
        all. Raises FrameError (E232) for a file that cannot be written.
        """
        from lftj.report.render import write_report  # only those who ask pay for importing it

        return write_report(self._backend, destination, samples, explaining)

    def verify(self) -> list[Discrepancy]:
        """Recompute every view from the base rows and compare: the views that differ, so `assert
        not ws.verify()`. Base rows that break a key are in it as `name (key)`, but over parts.

        Costs as much as computing every view from nothing, in time and memory; over parts on the
        executors and below the path, and only rows that differ come to this process.
        """
        return self.snapshot().verify()
