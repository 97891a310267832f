# SPDX-License-Identifier: Apache-2.0
"""Checks of a program: names, types, safety, declarations; all errors are reported together."""

from __future__ import annotations

from lftj.program.checks.program_checks import check, check_rule

__all__ = ["check", "check_rule"]
