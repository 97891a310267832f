# SPDX-License-Identifier: Apache-2.0
"""Closures followed by searches of their graph: what a changed step can matter to, and no more."""
