# SPDX-License-Identifier: Apache-2.0
"""The cost model: evaluation and update in one unit, so that they can be compared."""
