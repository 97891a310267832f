# SPDX-License-Identifier: Apache-2.0
"""The tuning that a user, a test or an experiment hands to a workspace."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import Field, fields
from typing import Any

from lftj.errors import DeclarationError, OptionError
from lftj.scantree.frozen import frozen
from lftj.tuning.join import JoinTuning
from lftj.tuning.maintenance import CountingTuning, RuleTuning
from lftj.tuning.storage import StoredTuning


# Its parts make no methods of their own, which nobody calls: each start would pay for them.
@frozen(guarded=True, kw_only=True)
class Tuning(JoinTuning, RuleTuning, CountingTuning, StoredTuning):
    """Thresholds of one workspace: `lftj.connect(tuning=lftj.Tuning(sampled_rows=4096))`.

    No field changes a result: each chooses between ways to get it, and docs/tuning.md tells what it
    trades. The defaults serve; others are for experiments, and for tests that want a way taken on
    few rows. Raises DeclarationError (E160) for what is not a number of at least 0, and for what
    is no set of names; OptionError (E170) for a field that there is not.
    """

    without: Collection[str] = frozenset()
    """Strategies that are not tried, by the names that `ws.profile()` gives them."""

    def __new__(cls, **named: Any) -> Tuning:
        """A tuning without values. Raises OptionError (E170) for what is no field."""
        for name in named.keys() - cls.__dataclass_fields__.keys():
            raise OptionError(
                f"Tuning(…) has no threshold {name}=", hint=_nearest(name, fields(cls))
            )
        return super().__new__(cls)

    def __post_init__(self) -> None:
        object.__setattr__(self, "without", _names(self.without))
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name != "without" and not is_amount(value, field.default):
                number = "number" if isinstance(field.default, float) else "whole number"
                raise DeclarationError(
                    f"Tuning: {field.name} is a {number} of at least 0, found {value!r}",
                    hint=f"the default is {field.default!r}",
                )

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={_said(value)}" for name, value in self.others())
        return f"Tuning({said})"

    def others(self) -> list[tuple[str, Any]]:
        """The fields that are not as by default, with their values."""
        return [
            (field.name, getattr(self, field.name))
            for field in fields(self)
            if getattr(self, field.name) != field.default
        ]


def _nearest(name: str, known: Iterable[Field[Any]]) -> str:
    from lftj.errors.nearest import closest

    meant = closest(name, [each.name for each in known])
    elsewhere = "docs/tuning.md lists all; what is not there is a constant beside its code"
    return f"did you mean {meant}=? {elsewhere}" if meant else elsewhere


def _names(without: Any) -> frozenset[str]:
    fits = isinstance(without, Collection) and not isinstance(without, str | bytes)
    if not fits or not all(isinstance(name, str) for name in without):
        raise DeclarationError(
            f"Tuning: without is a set of names of strategies, found {without!r}",
            hint='lftj.Tuning(without={"walks"}); docs/strategies.md lists the names',
        )
    return frozenset(str(name) for name in without)


def _said(value: object) -> str:
    return (
        f"{{{', '.join(map(repr, sorted(value)))}}}"
        if isinstance(value, frozenset)
        else f"{value!r}"
    )


def is_amount(value: object, default: object = 0.0) -> bool:
    """Test for a number of at least 0, a whole one where the `default` is."""
    kinds = (int, float) if isinstance(default, float) else int
    return isinstance(value, kinds) and not isinstance(value, bool) and value >= 0


DEFAULT = Tuning()
