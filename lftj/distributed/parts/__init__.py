# SPDX-License-Identifier: Apache-2.0
"""One part of a workspace, and how it is told what to do and answers."""
