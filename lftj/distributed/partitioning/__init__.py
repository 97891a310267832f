# SPDX-License-Identifier: Apache-2.0
"""Partitioning: cuts of relations, the stages of a program, and the steps of a commit."""
