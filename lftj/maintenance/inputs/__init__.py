"""Inputs of maintenance: versions of relations during a commit, changed values, affected strata,
and the record of work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lftj.exports import exporting

if TYPE_CHECKING:
    from lftj.maintenance.inputs.rule_work import RuleWork, moment
    from lftj.maintenance.inputs.versions import Versions

__all__ = ["RuleWork", "Versions", "moment"]

__getattr__ = exporting(
    __name__,
    {
        "rule_work": "RuleWork moment",
        "versions": "Versions",
    },
)
