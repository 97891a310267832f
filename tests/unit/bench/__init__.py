"""Tests of the benchmarks: they must measure what they say, on results that are right."""
