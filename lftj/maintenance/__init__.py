"""Maintenance: the changes of views at a commit.

`refresh` goes through the strata; `ladder` lists the strategies for a recursive stratum in the
order in which they are tried, `rules.ladder` the strategies for other relations.
"""

from __future__ import annotations

from lftj.maintenance.refresh import refresh

__all__ = ["refresh"]
