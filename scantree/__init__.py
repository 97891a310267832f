"""Ordered data: persistent, paged, scan-augmented trees in one reserved range of memory."""

from lftj.scantree.arena import Arena
from lftj.scantree.bounds import after_prefix
from lftj.scantree.complement import complement
from lftj.scantree.interval import IntervalTree
from lftj.scantree.monoid import COUNT, Aggregate, Monoid, max_of, min_of, sum_of
from lftj.scantree.tree import Tree

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
