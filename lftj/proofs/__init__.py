# SPDX-License-Identifier: Apache-2.0
"""Proofs as data, and a checker that shares no code with the engine: Python sets, nested loops,
fixpoints by running every rule again.

It reads the syntax tree and nothing else of lftj. `program.evaluate` is the naive engine by which
tests judge the real one, too.
"""

from __future__ import annotations

from lftj.proofs.aggregates import NOTHING, UserFold, fold
from lftj.proofs.change import ChangedProof, ChangeExplanation, Reason
from lftj.proofs.check import check_step
from lftj.proofs.choice import HIDDEN
from lftj.proofs.drawing import Drawing, Edge
from lftj.proofs.folding import Fold, Line, Table, to_html, to_text
from lftj.proofs.inference import typed_rule
from lftj.proofs.instances import (
    aggregates_of,
    atom_text,
    instance,
    own_names,
    value_text,
    with_values,
)
from lftj.proofs.kinds import ArithmeticFailure, OfUser, kind_named
from lftj.proofs.missing import Attempt, BaseChange, Case, WhyNot
from lftj.proofs.nested_loops import direct, mentioned
from lftj.proofs.proof import Proof
from lftj.proofs.sides import sides
from lftj.proofs.steps import (
    Absent,
    Assignment,
    Bindings,
    Branch,
    Chosen,
    Follows,
    Group,
    Holds,
    Origin,
    Part,
    Premise,
    Row,
    Step,
    assignments_of,
)
from lftj.proofs.terms import value_of
from lftj.proofs.world import World

__all__ = [
    "HIDDEN",
    "NOTHING",
    "Absent",
    "ArithmeticFailure",
    "Assignment",
    "Attempt",
    "BaseChange",
    "Bindings",
    "Branch",
    "Case",
    "ChangeExplanation",
    "ChangedProof",
    "Chosen",
    "Drawing",
    "Edge",
    "Fold",
    "Follows",
    "Group",
    "Holds",
    "Line",
    "OfUser",
    "Origin",
    "Part",
    "Premise",
    "Proof",
    "Reason",
    "Row",
    "Step",
    "Table",
    "UserFold",
    "WhyNot",
    "World",
    "aggregates_of",
    "assignments_of",
    "atom_text",
    "check_step",
    "direct",
    "fold",
    "instance",
    "kind_named",
    "mentioned",
    "own_names",
    "sides",
    "to_html",
    "to_text",
    "typed_rule",
    "value_of",
    "value_text",
    "with_values",
]
