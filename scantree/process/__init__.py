# SPDX-License-Identifier: Apache-2.0
"""Python's process around the engine: signals, forks, the collector of garbage, locks and folders
of its own. Nothing here knows a tree.
"""
