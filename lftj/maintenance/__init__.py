# SPDX-License-Identifier: Apache-2.0
"""Maintenance of recursive strata: the inside of fixpoints in the graph of views.

`ladder` lists the strategies in the order in which they are tried. `trace` serves only views
without recursion; `rules` and `inputs` serve both.
"""
