"""Costs of bodies, expected and measured."""

from bench.cost.study import main

__all__ = ["main"]
