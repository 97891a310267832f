# SPDX-License-Identifier: Apache-2.0
"""Several evaluators of one language behind one front: the engine, the naive meaning of rules, and
databases that are given SQL.
"""
