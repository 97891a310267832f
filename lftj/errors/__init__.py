# SPDX-License-Identifier: Apache-2.0
"""Every error a user can meet: one class per kind, one stable code per message.

A problem knows its code, its place in the source, what was expected and found, and what to write
instead. Problems of one program are collected and raised together as one `ProgramErrors`.

Nothing in this package imports another module of ours, so every layer may raise from it.
"""

from __future__ import annotations

from lftj.errors.base import LftjError, ProgramErrors, Span
from lftj.errors.data import (
    FileMissingError,
    FrameError,
    MissingDependencyError,
    NullValueError,
    PathOutsideError,
    ValueRangeError,
    ValueTypeError,
    WrongValueError,
)
from lftj.errors.distributed import DistributedError, as_ours
from lftj.errors.language import (
    ArityError,
    DeclarationError,
    ExpressionError,
    ParseError,
    StratificationError,
    TypeClashError,
    UnknownNameError,
    UnsafeRuleError,
)
from lftj.errors.transactions import (
    BranchError,
    CommandError,
    ConsumerError,
    CopyError,
    DurableError,
    ExplanationError,
    GroupCycleError,
    KeyViolationError,
    LimitError,
    MergeConflictError,
    MissingRowError,
    OptionError,
    PastError,
    ProofError,
    SchemaInUseError,
    SqlError,
    StillNeededError,
    TransactionError,
    UserFunctionError,
)

__all__ = [
    "ArityError",
    "BranchError",
    "CommandError",
    "ConsumerError",
    "CopyError",
    "DeclarationError",
    "DistributedError",
    "DurableError",
    "ExplanationError",
    "ExpressionError",
    "FileMissingError",
    "FrameError",
    "GroupCycleError",
    "KeyViolationError",
    "LftjError",
    "LimitError",
    "MergeConflictError",
    "MissingDependencyError",
    "MissingRowError",
    "NullValueError",
    "OptionError",
    "ParseError",
    "PastError",
    "PathOutsideError",
    "ProgramErrors",
    "ProofError",
    "SchemaInUseError",
    "Span",
    "SqlError",
    "StillNeededError",
    "StratificationError",
    "TransactionError",
    "TypeClashError",
    "UnknownNameError",
    "UnsafeRuleError",
    "UserFunctionError",
    "ValueRangeError",
    "ValueTypeError",
    "WrongValueError",
    "as_ours",
]

# Tracebacks and pickles name errors by where users find them.
for _name in __all__:
    globals()[_name].__module__ = __name__
