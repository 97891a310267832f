# SPDX-License-Identifier: Apache-2.0
"""The triejoin in compiled code: what the words of a plan and of a state mean, and what is done
with them.
"""

from __future__ import annotations

from lftj.join.kernels import layout_kernels

__all__ = ["layout_kernels"]
