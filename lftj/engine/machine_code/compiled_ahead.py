# SPDX-License-Identifier: Apache-2.0
"""Kernels that a program may call, as machine code when its rules are added, so that no commit and
no query compiles any.

They come from the library of kernels (`lftj.scantree.jit.library`). Where none fits these sources
and this machine, all of it is built, which takes a processor about a minute, once.

Where none can be built, Numba compiles kernels one by one and keeps them, in groups: every relation
needs `rows`, every rule `rules`; the others only programs with what they are for: `sums` and
`floats` aggregates, `strings` columns of text, `recursion` cycles. What works on a part on Spark
needs `parts` besides, and the driver, where it has a machine of its own, `driver`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from lftj.engine.machine_code.kernel_library import build_library
from lftj.engine.machine_code.kernel_signatures import GROUPS
from lftj.errors import MissingDependencyError
from lftj.program.normal_form import AggregateTerm, FunctorRule, NormalRule, RelationSchema, Stratum
from lftj.scantree.jit.library import library
from lftj.syntax.attention import look_now

PARTS, DRIVER = "parts", "driver"
"""Groups that no program asks for by itself."""
WARM = frozenset(("rows", "rules", "recursion", PARTS))
"""Groups of the kernels that a worker has loaded from the start (`lftj.distributed.work.warm`)."""


def compile_for(schemas: Iterable[RelationSchema], strata: Iterable[Stratum]) -> float:
    """Compile what these relations and rules may call and nobody has compiled on this machine; the
    seconds that it took. Raises LimitError where a limit of the thread is passed meanwhile: see
    `lftj.syntax.attention`.
    """
    return compile_named(groups_for(schemas, strata))


def compile_named(names: Iterable[str]) -> float:
    """Compile groups by their names, as `compile_for`: all groups, where that makes a library.
    Raises MissingDependencyError (E250) where they have to be compiled and Numba is not there.
    """
    wanted = frozenset(names)
    started = time.perf_counter()
    try:
        if not missing(wanted):
            return 0.0
        if build_library(look_now) is None:
            from lftj.scantree.jit.ahead import compile_groups

            groups = {name: lines for name, lines in GROUPS.items() if name in wanted}
            compile_groups(groups, look_now)
    except ImportError as reason:
        raise MissingDependencyError(str(reason)) from reason
    return time.perf_counter() - started


def missing(names: Iterable[str]) -> int:
    """The number of kernels in those of the groups that nobody has compiled on this machine."""
    if library() is not None:
        return 0
    from lftj.scantree.jit.ahead import lines_of, missing_groups

    return len(lines_of(GROUPS[name] for name in missing_groups(names)))


def groups_for(schemas: Iterable[RelationSchema], strata: Iterable[Stratum] = ()) -> frozenset[str]:
    """The groups that these relations and rules need."""
    return frozenset(
        {
            "rows",
            *_of_columns(schemas),
            *(group for stratum in strata for group in _of_rules(stratum)),
        }
    )


def _of_columns(schemas: Iterable[RelationSchema]) -> Iterator[str]:
    if any(type.name == "str" for schema in schemas for _, type in schema.columns):
        yield "strings"


def _of_rules(stratum: Stratum) -> Iterator[str]:
    yield "rules"
    if stratum.recursive:
        yield "recursion"
    for rule in stratum.rules:
        if isinstance(rule, FunctorRule) or any(
            variable.type.name == "str" for variable in rule.variables
        ):
            yield "strings"
        if isinstance(rule, NormalRule) and rule.aggregates:
            yield from _of_aggregates(rule)


def _of_aggregates(rule: NormalRule) -> Iterator[str]:
    yield "sums"
    if any(variable.type.name == "float" for variable in rule.variables) or _is_mean(rule):
        yield "floats"


def _is_mean(rule: NormalRule) -> bool:
    return any(isinstance(term, AggregateTerm) and term.type.name == "float" for term in rule.head)
