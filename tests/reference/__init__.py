"""The naive engine that judges the real one, as tests call it.

It lies in `lftj.proofs`, where the checker of proofs uses it, and shares nothing with the engine
but the syntax tree. `evaluate` is all there is to call; `sql` is a second opinion on it and `trees`
a short hand for writing rules in tests.
"""

from lftj.proofs.aggregates import UserFold
from lftj.proofs.kinds import ArithmeticFailure
from lftj.proofs.program import FunctionConflict, NotStratified, evaluate

__all__ = ["ArithmeticFailure", "FunctionConflict", "NotStratified", "UserFold", "evaluate"]
