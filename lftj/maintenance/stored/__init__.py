"""States that views are maintained with as plain data, to be opened by another process."""

from __future__ import annotations

from lftj.maintenance.stored.stored_heads import Rule
from lftj.maintenance.stored.stored_statistics import statistics_data, statistics_of
from lftj.maintenance.stored.stored_views import views_data, views_of

__all__ = ["Rule", "statistics_data", "statistics_of", "views_data", "views_of"]
