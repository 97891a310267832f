# SPDX-License-Identifier: Apache-2.0
"""The classes that users hold: `connect`, `Workspace`, `Transaction`, `Snapshot`."""
