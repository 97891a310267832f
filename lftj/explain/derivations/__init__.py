# SPDX-License-Identifier: Apache-2.0
"""Derivations of rows by the rules of users: bodies searched with some of their variables given."""
