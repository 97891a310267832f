"""Strata that fall apart into independent fixpoints: how they are recognised, and walks that close one part after another."""
