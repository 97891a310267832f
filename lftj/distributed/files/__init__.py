# SPDX-License-Identifier: Apache-2.0
"""Committed state on disk: manifests, the entries of commits, programs and strings."""
