# SPDX-License-Identifier: Apache-2.0
"""Compilation from the syntax tree to strata of conjunctive rules: checks, rewriting,
stratification.
"""

from __future__ import annotations

from lftj.program.additive import as_adding
from lftj.program.arithmetic import evaluate, may_fail
from lftj.program.bindings import NONE, bound_by, of_expressions, of_literal, shared
from lftj.program.checked import (
    Block,
    CheckedAggregate,
    CheckedAtom,
    CheckedChoice,
    CheckedDisjunction,
    CheckedGroups,
    CheckedHead,
    CheckedHeadAggregate,
    CheckedLiteral,
    CheckedNegation,
    CheckedProgram,
    CheckedRule,
    FunctorCall,
    Row,
)
from lftj.program.declaration import type_clauses
from lftj.program.description import relation_data, relation_schema_of
from lftj.program.hidden import source_of
from lftj.program.lattice_deletion_check import optimal_support
from lftj.program.monotone import Lattice, lattices
from lftj.program.normal_form import (
    CHANGE_COLUMNS,
    QUESTION,
    AggregateTerm,
    Apply,
    Assignment,
    Expression,
    Filter,
    FunctorRule,
    NegatedAtom,
    NormalRule,
    PositiveAtom,
    Ref,
    RelationSchema,
    RuleVariable,
    Stratum,
    Value,
    is_null,
    type_of,
)
from lftj.program.program import Program
from lftj.program.schema import Catalog, describe, dropped_since, with_functions
from lftj.program.scope import direct_names, rename_apart, term_names, user_name
from lftj.program.strata import components
from lftj.program.stratification import Stratification, StratifiedProgram

__all__ = [
    "CHANGE_COLUMNS",
    "NONE",
    "QUESTION",
    "AggregateTerm",
    "Apply",
    "Assignment",
    "Block",
    "Catalog",
    "CheckedAggregate",
    "CheckedAtom",
    "CheckedChoice",
    "CheckedDisjunction",
    "CheckedGroups",
    "CheckedHead",
    "CheckedHeadAggregate",
    "CheckedLiteral",
    "CheckedNegation",
    "CheckedProgram",
    "CheckedRule",
    "Expression",
    "Filter",
    "FunctorCall",
    "FunctorRule",
    "Lattice",
    "NegatedAtom",
    "NormalRule",
    "PositiveAtom",
    "Program",
    "Ref",
    "RelationSchema",
    "Row",
    "RuleVariable",
    "Stratification",
    "StratifiedProgram",
    "Stratum",
    "Value",
    "as_adding",
    "bound_by",
    "components",
    "describe",
    "direct_names",
    "dropped_since",
    "evaluate",
    "is_null",
    "lattices",
    "may_fail",
    "of_expressions",
    "of_literal",
    "optimal_support",
    "relation_data",
    "relation_schema_of",
    "rename_apart",
    "shared",
    "source_of",
    "term_names",
    "type_clauses",
    "type_of",
    "user_name",
    "with_functions",
]
