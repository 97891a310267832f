"""The protocol of strategies, by which a ladder asks one after the other.

An instance of a strategy is one attempt: made for what changed and for the state to start from. It
says whether it `applies`, gives a `forecast`, and `run`s within the budget that the forecast names.
It knows of no rival. Where it gives up it returns a value, `Exhausted`, with the state from which
the next one starts; only the ladder decides which one that is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
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
    READY = "ready"
    """Made the state that the next strategy starts from."""
    PASS = "pass"
    """Left nothing behind: as if it had not been asked."""


class Cost(NamedTuple):
    """A forecast. `expected`: the steps it is to take, 0 where nothing is known; `allowed`: those
    after which it is stopped, None for no bound; `worthwhile`: whether to start it.
    """

    expected: float = 0.0
    allowed: int | None = None
    worthwhile: bool = True


class Exhausted(NamedTuple):
    """A strategy that gave up: why, the state for the next one, and the steps that were lost."""

    why: Why
    state: Any
    lost: int = 0


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
        return Cost()

    @abstractmethod
    def run(self) -> Found | Exhausted:
        """The result, or what is known after giving up. Raises what evaluation raises."""

    def stopped(self, allowed: int) -> Exhausted:
        """Knowledge left after it has taken more steps than it was allowed."""
        return Exhausted(Why.BUDGET, self.state, allowed)


def within(
    budget: Budget, allowed: int | None, run: Callable[[], Found], stopped: Callable[[int], Found]
) -> Found:
    """The result of `run`, or `stopped` where it takes more than `allowed`; None: nothing bounds it
    but what bounds the caller. The one place where a spent budget becomes a value.
    """
    if allowed is None:
        return run()
    try:
        with budget.allow(allowed):
            return run()
    except AllowanceSpentError:
        return stopped(allowed)


def names_of(ladders: Iterable[Iterable[type[Strategy[Any]]]]) -> list[str]:
    """The names of all strategies, each once, in the order in which they are asked."""
    return list(dict.fromkeys(each.name for ladder in ladders for each in ladder))
