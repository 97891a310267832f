# SPDX-License-Identifier: Apache-2.0
"""Strata that fall apart into independent fixpoints by a value: recognition, and walks
over them.
"""
