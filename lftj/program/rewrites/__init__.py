# SPDX-License-Identifier: Apache-2.0
"""Rewrites from checked rules to conjunctive ones, each a change of the program."""

from __future__ import annotations

from lftj.program.rewrites.choices import choice_columns
from lftj.program.rewrites.conjunct import Conjunct
from lftj.program.rewrites.conjunctive_rules import RuleMaker
from lftj.program.rewrites.pipeline import Rewritten

__all__ = ["Conjunct", "Rewritten", "RuleMaker", "choice_columns"]
