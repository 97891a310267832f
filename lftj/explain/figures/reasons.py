# SPDX-License-Identifier: Apache-2.0
"""Strategies and outcomes of a commit in words, for `ws.profile()`."""

from __future__ import annotations

STRATEGIES = {
    "choice anew": "all candidates are gathered again, and one of each domain is chosen",
    "update": "each rule that stays is followed, and those that came or went are evaluated",
    "full evaluation": "the whole body is joined, and what updates need is kept",
    "trace": "the trace of the last evaluation tells which parts of the search a change can touch",
    "delta queries": "each changed row is joined with the other atoms",
    "least values": "the search ends at the first row of each group",
    "row scan": "the rows of one relation are read as they lie",
    "star join": "partners of the rows of one large relation are looked up by their keys",
    "leapfrog triejoin": "all atoms are searched together, level by level",
    "counting best values": "iterations and proofs over the best values are updated",
    "improvement": "nothing may go, so it goes on from the best values there are",
    "improvement from nothing": "it iterates from nothing until no value improves",
    "reachability": "searches of the graph of steps find the rows that come or are in doubt",
    "rederivation": "rows that may have lost a proof go, those with another one come back, and new "
    "ones come",
    "affected partitions": "only the partitions that the change touches are derived anew",
    "counting": "a row keeps a rank and the number of its proofs from lower ranks, and goes with "
    "the last of them",
    "counting from nothing": "rows are chosen by iteration, or iterations find few rows each, so "
    "proofs are counted",
    "from nothing": "the stratum is derived from nothing, without counts",
    "walks": "a graph is walked from each value that recursion keeps",
    "iterations": "semi-naïve iterations derive the rows",
    "compiled": "kernels that the program needs were compiled, or read from the cache",
    "supersteps": "parts derive it together and exchange rows between supersteps",
    "extremes": "least and greatest values are read off a key order",
    "finer heads": "the change is taken from a head that groups the same body more finely",
}
"""Work of each strategy, or of an aid that did all of it, and what makes it the way to take."""

BY_MOVE = {
    ("reachability", "may gain"): "searches of the graph of steps find the rows that come",
    ("reachability", "may lose"): "searches of the graph of steps find the rows in doubt, and "
    "these are proven",
    ("rederivation", "may gain"): "nothing may go, so rows that gain a first proof are added",
    ("rederivation", "may lose"): "rows that may have lost a proof go, and those with another one "
    "come back",
}
"""Work of strategies that do a part of it only, by what the changes of their inputs can do."""

OUTCOMES = {
    "update": "the change is followed",
    "full": "the first evaluation",
    "fallback": "an update took more than it may, and was given up",
    "forecast": "an update was expected to take more than it may, and was not started",
    "added": "the rule is new",
    "removed": "the rule went",
    "bootstrap": "the stratum is evaluated from nothing",
    "parts": "some parts of the stratum are evaluated from nothing",
    "choice": "rows are chosen anew",
}
"""Ways in which it came to that."""


def reason(strategy: str, outcome: str, moved: str = "") -> str:
    """The reason why a strategy did the work, in words. `moved`: see `RuleWork`."""
    work = BY_MOVE.get((strategy, moved)) or STRATEGIES.get(strategy, "")
    return ": ".join(each for each in (OUTCOMES.get(outcome, ""), work) if each)
