# SPDX-License-Identifier: Apache-2.0
"""Knowledge of a task about the place where it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

_living_here: frozenset[int] | None = None


def living_here() -> frozenset[int] | None:
    """The places that live where this task runs, None where Spark chooses: what is kept of others
    is of no use any more.
    """
    return _living_here


def at_home(
    run: Callable[[Iterable[Any]], Iterator[Any]],
    here: frozenset[int] | None,
    bundles: Iterable[Iterable[Any]],
) -> Iterator[Any]:
    """The results of `run` for the payloads in bundles; `here`: see `living_here`."""
    global _living_here
    _living_here = here
    yield from run(chain.from_iterable(bundles))
