"""Ordered data: persistent, paged, scan-augmented trees in one reserved range of memory."""

from scantree.arena import Arena
from scantree.bounds import after_prefix
from scantree.complement import complement
from scantree.interval import IntervalTree
from scantree.monoid import COUNT, Aggregate, Monoid, max_of, min_of, sum_of
from scantree.tree import Tree

__all__ = [
    "COUNT",
    "Aggregate",
    "Arena",
    "IntervalTree",
    "Monoid",
    "Tree",
    "after_prefix",
    "complement",
    "max_of",
    "min_of",
    "sum_of",
]
