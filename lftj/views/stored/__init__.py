# SPDX-License-Identifier: Apache-2.0
"""States of nodes as plain data, to be opened by another process."""

from __future__ import annotations

from lftj.views.stored.stored_groups import Rule
from lftj.views.stored.stored_statistics import statistics_data, statistics_of
from lftj.views.stored.stored_views import views_data, views_of

__all__ = ["Rule", "statistics_data", "statistics_of", "views_data", "views_of"]
