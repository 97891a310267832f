# SPDX-License-Identifier: Apache-2.0
"""A page about a workspace: as a file, and served while it is committed to."""
