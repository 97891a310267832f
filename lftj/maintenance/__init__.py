# SPDX-License-Identifier: Apache-2.0
"""Maintenance of recursive strata: the inside of fixpoints in the graph of views.

`ladder` lists the strategies in the order in which they are tried. `rules`, `trace` and `inputs`
serve views without recursion too.
"""
