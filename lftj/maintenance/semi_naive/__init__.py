# SPDX-License-Identifier: Apache-2.0
"""Semi-naive evaluation: variants of rules, the tables that a fixpoint adds to, and its
iterations.
"""
