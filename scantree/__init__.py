"""Ordered data: persistent, paged, scan-augmented trees in one reserved range of memory."""

from scantree.arena import Arena
from scantree.tree import Tree

__all__ = ["Arena", "Tree"]
