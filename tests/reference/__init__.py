"""The naive engine that judges the real one: Python sets, nested loops, fixpoints by running
everything again.

It shares nothing with the product but the syntax tree, and is short (under 400 lines of code) so
that it can be read in one sitting. `evaluate` is all there is to call; `sql` is a second opinion on
it and `trees` a short hand for writing rules in tests.
"""

from tests.reference.aggregates import UserFold
from tests.reference.program import FunctionConflict, NotStratified, evaluate
from tests.reference.terms import ArithmeticFailure

__all__ = ["ArithmeticFailure", "FunctionConflict", "NotStratified", "UserFold", "evaluate"]
