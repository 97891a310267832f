"""Workloads: small pieces of real use, each the gate of one strategy or aid."""

from __future__ import annotations

from collections.abc import Mapping

from bench.workloads import lookups, recursion, views
from bench.workloads.workload import Steps

WORKLOADS: Mapping[str, Steps] = {
    "readings loaded": lookups.readings_loaded,
    "totals by device": lookups.totals_by_device,
    "late flights": lookups.late_flights,
    "flights by region": lookups.flights_by_region,
    "shipped orders": lookups.shipped_orders,
    "followers of followers": lookups.followers_of_followers,
    "cliques with ways out": lookups.cliques_with_ways_out,
    "next events asked": lookups.next_events,
    "watched days": views.watched_days,
    "next event": views.next_event,
    "sales by shop": views.sales_by_shop,
    "last seen": views.last_seen,
    "running ranks": views.running_ranks,
    "window of a clock": views.window_of_a_clock,
    "forest": recursion.forest,
    "day plans": recursion.day_plans,
    "edges come": recursion.edges_come,
    "edges go": recursion.edges_go,
    "grid of roads": recursion.grid_of_roads,
    "roads close": recursion.roads_close,
    "roads open": recursion.roads_open,
}
"""All workloads by name, as strategies and docs/strategies.md name them."""
