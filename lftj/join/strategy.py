# SPDX-License-Identifier: Apache-2.0
"""The protocol of strategies, by which a ladder asks one after the other.

An instance of a strategy is one attempt: made for what changed and for the state to start from. It
says whether it `applies`, gives a `forecast`, and `run`s within the budget that the forecast names.
It knows of no rival. Where it gives up it returns a value, `Exhausted`, with the state from which
the next one starts; only the ladder decides which one that is. A ladder is a list of strategies,
and `walk` asks one after the other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from enum import Enum
from typing import Any, Generic, NamedTuple, TypeVar

from lftj.join.budget import AllowanceSpentError, Budget

Found = TypeVar("Found")


class Why(Enum):
    """The reason for which a strategy gave up."""

    FORECAST = "forecast"
    """Expected to cost more than it is worth, and not started."""
    BUDGET = "budget"
    """Took more than it was allowed."""
    VALUES = "values"
    """A value left its type on the way: evaluation from nothing decides about failures."""
    PROOFS = "proofs"
    """A row has more proofs than can be counted."""
    LONG_CHAIN = "long chain"
    """Iterations find few rows each and do not end."""
    PASS = "pass"
    """Left nothing behind: as if it had not been asked."""


class Cost(NamedTuple):
    """A forecast. `expected`: the steps it is to take, 0 where nothing is known; `allowed`: those
    after which it is stopped, None for no bound; `worthwhile`: whether to start it; `price`: how
    many of them a kernel's step takes.
    """

    expected: float = 0.0
    allowed: int | None = None
    worthwhile: bool = True
    price: int = 1


UNBOUNDED = Cost()
"""A forecast of nothing, without a bound."""


class Exhausted(NamedTuple):
    """A strategy that gave up: why, the state for the next one, and the steps that were lost."""

    why: Why
    state: Any
    lost: int = 0


def stopped(allowed: int) -> Exhausted:
    """The outcome of what has taken more steps than it was allowed, and leaves nothing."""
    return Exhausted(Why.BUDGET, None, allowed)


class Strategy(ABC, Generic[Found]):
    """One attempt of a strategy, made from a change and a state."""

    name: str = ""
    """The word for it in `ws.profile()`, in `Tuning(without=…)` and in docs/strategies.md."""
    gate: str = ""
    """The benchmark that loses most without it: a name in `bench.ablation.GATES`."""
    needed: bool = False
    """True where something could not be evaluated without it: it cannot be switched off."""

    def __init__(self, change: Any, state: Any):
        self.change = change
        self.state = state

    def applies(self) -> bool:
        """Tell whether it can, and is to be tried."""
        return True

    def forecast(self) -> Cost:
        """The cost that is to be expected: unbounded here. Nothing is evaluated for it."""
        return UNBOUNDED

    @abstractmethod
    def run(self) -> Found | Exhausted:
        """The result, or what is known after giving up. Raises what evaluation raises."""

    def stopped(self, allowed: int) -> Exhausted:
        """Knowledge left after it has taken more steps than it was allowed."""
        return Exhausted(Why.BUDGET, self.state, allowed)


Asked = TypeVar("Asked", bound=Strategy[Any])


def within(
    budget: Budget,
    allowed: int | None,
    run: Callable[[], Found],
    stopped: Callable[[int], Found],
    price: int = 1,
) -> Found:
    """The result of `run`, or `stopped` where it takes more than `allowed`, at this `price` of a
    kernel's step; None: nothing bounds it but what bounds the caller. The one place where a spent
    budget becomes a value.
    """
    if allowed is None:
        return run()
    try:
        with budget.allow(allowed, price):
            return run()
    except AllowanceSpentError:
        budget.lost += allowed
        return stopped(allowed)


def _left(ladder: Sequence[type[Asked]], without: Collection[str]) -> Sequence[type[Asked]]:
    """The strategies that are not switched off."""
    return (
        [each for each in ladder if each.needed or each.name not in without] if without else ladder
    )


def walk(
    ladder: Sequence[type[Strategy[Found]]],
    change: Any,
    state: Any,
    budget: Budget,
    without: Collection[str] = (),
    note: Callable[[Exhausted], None] = lambda _: None,
) -> tuple[str, Found] | Exhausted:
    """Ask one strategy after the other, but for those that are switched off: the name of the one
    that succeeds, and its result. `note` is told of each that gives up.
    """
    gave_up = Exhausted(Why.PASS, state)
    for each in _left(ladder, without):
        attempt = each(change, state)
        if not attempt.applies():
            continue
        cost = attempt.forecast()
        found = Exhausted(Why.FORECAST, state)
        if cost.worthwhile:
            found = within(budget, cost.allowed, attempt.run, attempt.stopped, cost.price)
        if not isinstance(found, Exhausted):
            return each.name, found
        note(found)
        gave_up, state = found, found.state
    return gave_up


def first_of(
    ladder: Sequence[type[Asked]], change: Any, state: Any, without: Collection[str] = ()
) -> Asked | None:
    """The strategy that a walk would try first; nothing is run. None where no one applies."""
    for each in _left(ladder, without):
        attempt = each(change, state)
        if attempt.applies() and attempt.forecast().worthwhile:
            return attempt
    return None


def names_of(ladders: Iterable[Iterable[type[Strategy[Any]]]]) -> list[str]:
    """The names of all strategies, each once, in the order in which they are asked."""
    return list(dict.fromkeys(each.name for ladder in ladders for each in ladder))
