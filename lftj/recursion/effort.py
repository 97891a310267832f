"""What things cost besides kernel steps, in kernel steps of about five nanoseconds: so that an update and a bootstrap can be compared.

Rough figures serve: they decide which of two ways is taken, never what comes out. They are counted, not timed, so a run is repeatable.
"""

from __future__ import annotations

from lftj.join.context import AllowanceSpentError, Context

ITERATION = 20_000
"""An iteration of an update or of a bootstrap, whatever it finds."""
PROOF = 5
"""A proof that is added to its row's count in a bootstrap."""
ROW = 10
"""A row that a bootstrap found, brought in order and laid into trees."""
LOOK_UP = 150
"""A row that an update looks up."""
MOVE = 500
"""A row changed in one key order: its page is copied."""


def charge(context: Context, effort: int) -> None:
    """Take this much from what the present update is allowed. Raises AllowanceSpentError."""
    if context.allowance is not None:
        context.allowance -= effort
        if context.allowance < 0:
            raise AllowanceSpentError
