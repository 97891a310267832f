# SPDX-License-Identifier: Apache-2.0
"""Bounds of updates: what an update of a relation may take, by its last evaluation, and which
updates are not begun. Work is counted in kernel steps, so the choice is the same on every machine
[Elastic].

`lftj.views.runner` asks here before it updates a relation, the groups of its rules included;
`lftj.views.group_run` for groups that are followed for a rule that is evaluated anyway, and for
groups that are finer than what a rule asks for. Recursive strata have bounds of their own in
`lftj.maintenance.ladder`.
"""

from __future__ import annotations

from collections.abc import Sequence

from lftj.join.context import Context
from lftj.views.arms import Arm
from lftj.views.experience import UNASKED_CHANGES
from lftj.views.run import Run

_FOLD = 1e6  # as much as no update needs
_UPDATE_SOON_SHARE = 0.7
"""Share of a full evaluation for `update_soon_steps`."""
_CHANGED_SHARE = 0.5
"""Share of what is read that may have changed at most for an update to be tried."""
_GROUP_SHARE = 0.5
"""Share of evaluating a group node anew that following it may take for a rule that joins it."""
_GROUP_STEPS = 20_000
"""Steps that it may take in any case."""


def allowed_steps(context: Context, full: int) -> int:
    """Kernel steps that an update may take, by those of a `full` evaluation."""
    fraction, tuning = context.fraction, context.tuning
    if not fraction:
        return tuning.update_steps
    return max(
        tuning.update_steps,
        int(min(fraction, _FOLD) * full),
        min(tuning.update_soon_steps, int(_UPDATE_SOON_SHARE * full)),
    )


def steps_before_reading_anew(full: int) -> int:
    """Kernel steps that following a group may take for a rule that is evaluated anyway, by those of
    a `full` evaluation of the group.
    """
    return max(_GROUP_STEPS, int(_GROUP_SHARE * full))


def steps_of_finer(context: Context, full: int) -> int:
    """Kernel steps that following a finer group may take for a coarser one, by those of a `full`
    evaluation of the finer one.
    """
    return max(_GROUP_STEPS, int(min(context.fraction, 1.0) * full))


def hopeless(run: Run, arms: Sequence[Arm], allowed: int, full: int) -> bool:
    """Test for an update that is not worth starting: too large a share of the input has changed, or
    it is too much by averages. `full`: kernel steps of an evaluation.
    """
    versions, fraction, tuning = run.versions, run.context.fraction, run.context.tuning
    sizes = versions.sizes
    changed = sum([sizes.get(name, 0) for arm in arms for name in arm.rule.reads])
    if changed <= UNASKED_CHANGES:
        return False
    total, changed, read = 0.0, 0, 0
    for arm in arms:
        expected = arm.expected(run)
        if expected is None:
            continue
        total += expected
        for name in arm.rule.reads:
            read += versions[name].count
            changed += sizes.get(name, 0)
    # a small view's update may take more than `fraction`, which is to be found out by trying
    share = max(fraction, min(_CHANGED_SHARE, allowed / max(1, full))) if fraction else 0.0
    return total > allowed or (changed > tuning.large_change and changed > share * read)
