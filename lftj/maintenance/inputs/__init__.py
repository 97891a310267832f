# SPDX-License-Identifier: Apache-2.0
"""Inputs of maintenance: versions of relations during a commit, changed values, affected strata,
and the record of work.
"""

from __future__ import annotations

from lftj.maintenance.inputs.rule_work import RuleWork, moment
from lftj.maintenance.inputs.versions import Versions

__all__ = ["RuleWork", "Versions", "moment"]
