# SPDX-License-Identifier: Apache-2.0
"""Aggregates and functions of users by import path, which is all that is stored of them.

A path is looked up among the modules that the program has imported by itself. Nothing is imported
because a file says so: no code runs that the caller did not ask for.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence

from lftj.errors import DurableError
from lftj.heads.user import UserAggregate
from lftj.program.schema import FunctionSignature

_VERBS = ("lift", "combine", "inverse", "finish")


def path_of(aggregate: UserAggregate) -> str:
    """The import path, `module:name`. Raises DurableError (E357) where no module has it."""
    modules = dict.fromkeys(
        getattr(getattr(aggregate, verb), "__module__", None) for verb in _VERBS
    )
    for module in (*modules, "__main__"):
        for name, value in vars(sys.modules.get(module or "", object)).items():
            if value is aggregate:
                return f"{module}:{name}"
    raise DurableError(
        f"aggregate `{aggregate.name}` has no import path, so it could not be found on opening",
        code="E357",
        hint="give it a name in the module that has its functions: "
        f"{aggregate.name} = lftj.UserAggregate({aggregate.name!r}, …)",
    )


def paths_of(aggregates: Mapping[str, UserAggregate]) -> list[list[str]]:
    """Names and import paths of aggregates."""
    return [[name, path_of(each)] for name, each in aggregates.items()]


def require_paths(functions: Iterable[FunctionSignature]) -> None:
    """Raise DurableError (E357) for a function that has no import path."""
    for each in functions:
        if not each.path:
            raise DurableError(
                f"function `{each.name}` has no import path, so it could not be found on opening",
                code="E357",
                hint=f"define it in a module, not inside another function: def {each.name}(…)",
            )


def aggregates_at(paths: Iterable[Sequence[str]]) -> dict[str, UserAggregate]:
    """The aggregates again. Raises DurableError (E357) for one that is not there."""
    return {name: _found(name, path) for name, path in paths}


def _found(name: str, path: str) -> UserAggregate:
    module, _, attribute = path.partition(":")
    if (there := sys.modules.get(module)) is None:
        problem, hint = (
            f"`{module}` is not imported",
            (f"import {module} before you open it; the command line has --import {module}"),
        )
    elif not isinstance(found := vars(there).get(attribute), UserAggregate):
        problem, hint = f"`{module}` has no `{attribute}`", "define it there as it was"
    elif found.name != name:
        problem, hint = f"`{path}` is the aggregate `{found.name}` now", "define it as it was"
    else:
        return found
    raise DurableError(
        f"the workspace uses the aggregate `{name}` from {path}: {problem}", code="E357", hint=hint
    )
