# SPDX-License-Identifier: Apache-2.0
"""lftj: a Datalog engine whose views stay true while the data changes.

    import lftj
    ws = lftj.connect()
    edge = ws.relation("edge", {"src": int, "dst": int})
    reach = ws.view("reach", {"src": int, "dst": int})
    x, y, z = lftj.vars("x y z")
    ws.add_rule(reach(x, y) <= edge(x, y))
    ws.add_rule(reach(x, z) <= reach(x, y) & edge(y, z))
    ws.load(edge, [(1, 2), (2, 3)])
    ws["reach"].df()

Names are imported when they are first used, so `import lftj` itself costs next to nothing. Neither
pandas, Polars, pyspark nor matplotlib is loaded before it is needed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from lftj.api.branch import Branch as Branch
    from lftj.api.change_stream import Changes as Changes
    from lftj.api.change_stream import Consumer as Consumer
    from lftj.api.connect import ThreadExecutor as ThreadExecutor
    from lftj.api.connect import connect as connect
    from lftj.api.connect import local_spark as local_spark
    from lftj.api.history import ViewHistory as ViewHistory
    from lftj.api.snapshot import Snapshot as Snapshot
    from lftj.api.transaction import Preview as Preview
    from lftj.api.transaction import Transaction as Transaction
    from lftj.api.workspace import Workspace as Workspace
    from lftj.distributed.executors import SparkExecutor as SparkExecutor
    from lftj.engine.delivery.subscription import Subscription as Subscription
    from lftj.engine.live.verify import Discrepancy as Discrepancy
    from lftj.engine.programs.handles import Relation as Relation
    from lftj.engine.programs.handles import RuleHandle as RuleHandle
    from lftj.engine.programs.program_change import ProgramChange as ProgramChange
    from lftj.engine.transaction.bulk import Synced as Synced
    from lftj.engine.versions.result import Result as Result
    from lftj.engine.versions.schema_entry import SchemaChange as SchemaChange
    from lftj.errors import ArityError as ArityError
    from lftj.errors import BranchError as BranchError
    from lftj.errors import CommandError as CommandError
    from lftj.errors import ConsumerError as ConsumerError
    from lftj.errors import CopyError as CopyError
    from lftj.errors import DeclarationError as DeclarationError
    from lftj.errors import DistributedError as DistributedError
    from lftj.errors import DurableError as DurableError
    from lftj.errors import ExplanationError as ExplanationError
    from lftj.errors import ExpressionError as ExpressionError
    from lftj.errors import FileMissingError as FileMissingError
    from lftj.errors import FrameError as FrameError
    from lftj.errors import GroupCycleError as GroupCycleError
    from lftj.errors import KeyViolationError as KeyViolationError
    from lftj.errors import LftjError as LftjError
    from lftj.errors import LimitError as LimitError
    from lftj.errors import MergeConflictError as MergeConflictError
    from lftj.errors import MissingDependencyError as MissingDependencyError
    from lftj.errors import MissingRowError as MissingRowError
    from lftj.errors import NullValueError as NullValueError
    from lftj.errors import OptionError as OptionError
    from lftj.errors import ParseError as ParseError
    from lftj.errors import PastError as PastError
    from lftj.errors import PathOutsideError as PathOutsideError
    from lftj.errors import ProgramErrors as ProgramErrors
    from lftj.errors import ProofError as ProofError
    from lftj.errors import SchemaInUseError as SchemaInUseError
    from lftj.errors import Span as Span
    from lftj.errors import SqlError as SqlError
    from lftj.errors import StillNeededError as StillNeededError
    from lftj.errors import StratificationError as StratificationError
    from lftj.errors import TransactionError as TransactionError
    from lftj.errors import TypeClashError as TypeClashError
    from lftj.errors import UnknownNameError as UnknownNameError
    from lftj.errors import UnsafeRuleError as UnsafeRuleError
    from lftj.errors import UserFunctionError as UserFunctionError
    from lftj.errors import ValueRangeError as ValueRangeError
    from lftj.errors import ValueTypeError as ValueTypeError
    from lftj.errors import WrongValueError as WrongValueError
    from lftj.evaluators.compare import Difference as Difference
    from lftj.evaluators.compare import Step as Step
    from lftj.evaluators.compare import compare as compare
    from lftj.evaluators.evaluate import evaluate as evaluate
    from lftj.explain.figures.profile import Profile as Profile
    from lftj.explain.plans.analysis import PlanAnalysis as PlanAnalysis
    from lftj.explain.plans.plan_report import PlanReport as PlanReport
    from lftj.heads.user import UserAggregate as UserAggregate
    from lftj.proofs.change import ChangeExplanation as ChangeExplanation
    from lftj.proofs.check import ProofChecker as ProofChecker
    from lftj.proofs.check import check_proof as check_proof
    from lftj.proofs.missing import WhyNot as WhyNot
    from lftj.proofs.proof import Proof as Proof
    from lftj.sql.program import SqlProgram as SqlProgram
    from lftj.sql.program import to_sql as to_sql
    from lftj.syntax.builder import Expression as Expression
    from lftj.syntax.builder import Formula as Formula
    from lftj.syntax.builder import Predicate as Predicate
    from lftj.syntax.builder import Var as Var
    from lftj.syntax.builder import _ as _
    from lftj.syntax.builder import agg as agg
    from lftj.syntax.builder import aggregate as aggregate
    from lftj.syntax.builder import band as band
    from lftj.syntax.builder import bnot as bnot
    from lftj.syntax.builder import bor as bor
    from lftj.syntax.builder import bshl as bshl
    from lftj.syntax.builder import bshr as bshr
    from lftj.syntax.builder import bshru as bshru
    from lftj.syntax.builder import bxor as bxor
    from lftj.syntax.builder import cat as cat
    from lftj.syntax.builder import choice as choice
    from lftj.syntax.builder import concat as concat
    from lftj.syntax.builder import contains as contains
    from lftj.syntax.builder import count as count
    from lftj.syntax.builder import day as day
    from lftj.syntax.builder import land as land
    from lftj.syntax.builder import lnot as lnot
    from lftj.syntax.builder import lor as lor
    from lftj.syntax.builder import lxor as lxor
    from lftj.syntax.builder import match as match
    from lftj.syntax.builder import max_ as max_
    from lftj.syntax.builder import mean as mean
    from lftj.syntax.builder import min_ as min_
    from lftj.syntax.builder import month as month
    from lftj.syntax.builder import optional as optional
    from lftj.syntax.builder import parameter as parameter
    from lftj.syntax.builder import range_ as range_
    from lftj.syntax.builder import round_ as round_
    from lftj.syntax.builder import rule as rule
    from lftj.syntax.builder import strlen as strlen
    from lftj.syntax.builder import substr as substr
    from lftj.syntax.builder import sum_ as sum_
    from lftj.syntax.builder import to_date as to_date
    from lftj.syntax.builder import to_float as to_float
    from lftj.syntax.builder import to_number as to_number
    from lftj.syntax.builder import to_string as to_string
    from lftj.syntax.builder import to_unsigned as to_unsigned
    from lftj.syntax.builder import vars as vars
    from lftj.syntax.builder import year as year
    from lftj.syntax.named_functions import fn as fn
    from lftj.syntax.user_function import UserFunction as UserFunction
    from lftj.tuning import Tuning as Tuning
    from lftj.types import BOOL as BOOL
    from lftj.types import DATE as DATE
    from lftj.types import FLOAT as FLOAT
    from lftj.types import INT as INT
    from lftj.types import STR as STR
    from lftj.types import TIMESTAMP as TIMESTAMP
    from lftj.types import UNSIGNED as UNSIGNED
    from lftj.types import Type as Type
    from lftj.types import decimal as decimal

_NAMES = {
    "api.branch": "Branch",
    "api.change_stream": "Changes Consumer",
    "api.connect": "ThreadExecutor connect local_spark",
    "errors": "ArityError BranchError CommandError ConsumerError CopyError DeclarationError "
    "DistributedError DurableError ExplanationError ExpressionError FileMissingError FrameError "
    "GroupCycleError "
    "KeyViolationError LftjError "
    "LimitError MergeConflictError MissingDependencyError MissingRowError NullValueError "
    "OptionError ParseError PastError PathOutsideError "
    "ProgramErrors ProofError SchemaInUseError Span SqlError StillNeededError StratificationError "
    "TransactionError "
    "TypeClashError UnknownNameError UnsafeRuleError UserFunctionError ValueRangeError "
    "ValueTypeError WrongValueError",
    "evaluators.compare": "Difference Step compare",
    "evaluators.evaluate": "evaluate",
    "explain.plans.analysis": "PlanAnalysis",
    "explain.plans.plan_report": "PlanReport",
    "explain.figures.profile": "Profile",
    "engine.programs.handles": "Relation RuleHandle",
    "engine.programs.program_change": "ProgramChange",
    "heads.user": "UserAggregate",
    "engine.transaction.bulk": "Synced",
    "engine.versions.result": "Result",
    "engine.versions.schema_entry": "SchemaChange",
    "api.history": "ViewHistory",
    "api.snapshot": "Snapshot",
    "engine.delivery.subscription": "Subscription",
    "proofs.change": "ChangeExplanation",
    "proofs.check": "ProofChecker check_proof",
    "proofs.missing": "WhyNot",
    "proofs.proof": "Proof",
    "sql.program": "SqlProgram to_sql",
    "syntax.builder": "Expression Formula Predicate Var _ agg aggregate band bnot bor bshl bshr "
    "bshru bxor cat choice concat contains "
    "count day land lnot lor lxor match max_ mean min_ month optional parameter range_ round_ rule "
    "strlen substr sum_ to_date to_float to_number to_string "
    "to_unsigned vars year",
    "syntax.named_functions": "fn",
    "syntax.user_function": "UserFunction",
    "api.transaction": "Preview Transaction",
    "tuning": "Tuning",
    "types": "BOOL DATE FLOAT INT STR TIMESTAMP UNSIGNED Type decimal",
    "engine.live.verify": "Discrepancy",
    "api.workspace": "Workspace",
}
_HOME = {name: f"lftj.{module}" for module, names in _NAMES.items() for name in names.split()}
_WITH_SPARK = {
    "SparkExecutor": "lftj.distributed.executors"
}  # only where the extra `spark` is installed, so no `import *` may ask for it

__all__ = sorted(_HOME)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("lftj")
    if name == "sql":
        return import_module("lftj.sql")
    if (module := _HOME.get(name) or _WITH_SPARK.get(name)) is None:
        raise AttributeError(f"module 'lftj' has no attribute {name!r}")
    found = getattr(_imported(module), name)
    globals()[name] = found
    return found


def _imported(module: str) -> Any:
    """A module. What is imported lives on: that the collector of cyclic garbage looks at it again
    and again takes as long as a third of the import. So it does not meanwhile, and then all objects
    go to its oldest generation, as if they had been looked at twice.
    """
    import gc

    collecting = gc.isenabled()
    gc.disable()
    try:
        return import_module(module)
    finally:
        if not gc.get_freeze_count():  # those that a program froze stay so
            gc.freeze()
            gc.unfreeze()
        if collecting:
            gc.enable()


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext lftj` in IPython: the magic `%%datalog` (`lftj.notebook`)."""
    import_module("lftj.notebook").load(shell)


def __dir__() -> list[str]:
    from importlib.util import find_spec

    # `help` asks for all that is listed
    return [*__all__, *(_WITH_SPARK if find_spec("pyspark") else ())]
