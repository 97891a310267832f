"""States that views are maintained with as plain data, to be opened by another process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lftj.exports import exporting

if TYPE_CHECKING:
    from lftj.maintenance.stored.stored_heads import Rule
    from lftj.maintenance.stored.stored_statistics import statistics_data, statistics_of
    from lftj.maintenance.stored.stored_views import views_data, views_of

__all__ = ["Rule", "statistics_data", "statistics_of", "views_data", "views_of"]

__getattr__ = exporting(
    __name__,
    {
        "stored_heads": "Rule",
        "stored_statistics": "statistics_data statistics_of",
        "stored_views": "views_data views_of",
    },
)
