"""Peers that the engine is measured against: one module per peer, each running on one thread."""
