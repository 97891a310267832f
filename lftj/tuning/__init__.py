# SPDX-License-Identifier: Apache-2.0
"""Tuning of a workspace: every threshold that chooses between ways to get the same result."""

from lftj.tuning.tuning import DEFAULT, Tuning

__all__ = ["DEFAULT", "Tuning"]
