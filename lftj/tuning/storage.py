# SPDX-License-Identifier: Apache-2.0
"""Thresholds of loads, of parts, and of what is written to files."""

from __future__ import annotations

from lftj.scantree.frozen import frozen


@frozen(guarded=True, kw_only=True, eq=False)
class StoredTuning:
    """Thresholds of loads, of workspaces over parts, and of durable ones."""

    # ── loads ─────────────────────────────────────────────────────────────────────────────────────
    # Watched by `load_worst` and `load_peak` of `bench analytics`.
    load_rows: int = 1 << 15
    """Rows that are loaded column by column, at once, into a relation without rows: the memory of a
    copy or two against calls.
    """

    # ── parts ─────────────────────────────────────────────────────────────────────────────────────
    # Watched by `bench partition`.
    hub_rows: int = 10_000
    """Rows of one value from which on it may be a hub, whose rows are spread over parts; a part
    has done fewer before a Spark job has begun.
    """
    gathered_rows: int = 100_000
    """Answers up to which a query brings them to this process at once; more stay in files."""
    compacted_entries: int = 1000
    """Entries of one relation from which on a commit compacts it, if parts are few: files to open
    against rows to write again.
    """
    kept_parts: int = 64
    """Parts that one worker keeps from commit to commit where Spark does not tell its executors, so
    that any worker may be given any part: memory against opening stored ones.
    """
    stored_part_commits: int = 8
    """Commits in which a part changed after which it is stored again: writing against commits that
    a worker that takes it over has to do again.
    """
    shared_rows: int = 1 << 14
    """Rows from which on a relation that all parts have whole is one file, which the workers of a
    machine map: of fewer, a file costs more than their pages.
    """

    # ── durable workspaces ────────────────────────────────────────────────────────────────────────
    # Watched by `bench durable`.
    checkpoint_commits: int = 256
    """Commits after which a checkpoint is written: writing against commits to follow on opening."""
    checkpoint_rows: int = 1 << 17
    """Changed rows after which one is."""
    checkpoint_steps: int = 1 << 22
    """Kernel steps of commits after which one is, as opening would take them again: some half a
    second.
    """
    paged_rows: int = 1 << 20
    """Changed rows of one commit from which on they are written as pages at once, and not into the
    log first.
    """
