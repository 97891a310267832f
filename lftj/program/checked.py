# SPDX-License-Identifier: Apache-2.0
"""Rules after the checks: variables are numbers with types, constants have the types of their
places, every rule is safe.

This is the form between the syntax tree and the normal form. Two things are already plainer than in
the tree: body aggregates and string functors inside expressions stand as literals of their own,
whose results are variables; and what can be computed from constants has been. What is still nested
is nested as the user wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from lftj.program.normal_form import Expression, Filter, Ref, RuleVariable
from lftj.program.schema import Catalog
from lftj.scantree.frozen import frozen
from lftj.syntax import tree
from lftj.types import Type


@frozen(slots=True)
class CheckedAtom:
    """`args` in column order; None is `_` under a negation (elsewhere `_` is a variable like any
    other).
    """

    relation: str
    args: tuple[Expression | None, ...]


@frozen(slots=True)
class FunctorCall:
    """`result = functor(args)` for string functors; a predicate when `result` is None."""

    functor: str
    args: tuple[Expression, ...]
    types: tuple[Type, ...]
    result: int | None = None
    result_type: Type | None = None


@frozen(slots=True)
class Block:
    """A body. `local` are the variables that nothing outside it mentions; a rule's own body has
    none of these.
    """

    literals: tuple[CheckedLiteral, ...]
    local: frozenset[int] = frozenset()


@frozen(slots=True)
class CheckedNegation:
    """No assignment of the block's local variables satisfies it."""

    block: Block


@frozen(slots=True)
class CheckedDisjunction:
    """Some branch holds; without branches it is false."""

    branches: tuple[Block, ...]


@frozen(slots=True)
class CheckedAggregate:
    """`result = function(args) : { block }`, over the distinct assignments of the block's
    variables.

    `negation`: the user wrote it as one (`extreme_negation`), and errors call it so.
    """

    function: str
    args: tuple[Expression, ...]
    block: Block
    result: int
    type: Type
    negation: bool = False

    @property
    def target(self) -> Expression | None:
        """The first argument, which is aggregated; None where rows are."""
        return self.args[0] if self.args else None


@frozen(slots=True)
class CheckedChoice:
    """Choice of one value of `determined` for each value of `determining`. Stands in a rule's own
    body only.
    """

    determining: tuple[Ref, ...]
    determined: tuple[Ref, ...]


CheckedLiteral = (
    CheckedAtom
    | Filter
    | FunctorCall
    | CheckedNegation
    | CheckedDisjunction
    | CheckedAggregate
    | CheckedChoice
)


@frozen(slots=True)
class CheckedHeadAggregate:
    """An aggregated head column."""

    function: str
    args: tuple[Expression, ...]
    type: Type


@frozen(slots=True)
class CheckedGroups:
    """The groups of which a head computes its values, as in `v(g, sum(a) / count())`: their keys
    and aggregates, over the rule's body and `literals`, and the variables that stand for these in
    the head (`results`). `columns`: of each of the head's columns the key that it has.
    """

    args: tuple[Expression | CheckedHeadAggregate, ...]
    results: tuple[int, ...]
    columns: tuple[int | None, ...]
    literals: tuple[CheckedLiteral, ...] = ()


@frozen(slots=True)
class CheckedHead:
    """One head; `literals` compute what its own terms need beyond the body, or beyond the `groups`
    where it reads these in place of the body.
    """

    relation: str
    args: tuple[Expression | CheckedHeadAggregate, ...]
    literals: tuple[CheckedLiteral, ...] = ()
    groups: CheckedGroups | None = None

    @property
    def aggregates(self) -> bool:
        """True when some column is aggregated."""
        return any(isinstance(arg, CheckedHeadAggregate) for arg in self.args)


@frozen(slots=True)
class CheckedRule:
    """A rule of the user (`rule`, as written) with all that the checks found out."""

    rule: tree.Rule
    variables: tuple[RuleVariable, ...]
    heads: tuple[CheckedHead, ...]
    body: Block


Row = tuple[object, ...]


@frozen(slots=True)
class CheckedProgram:
    """A program without errors. `catalog` includes what it declares; `facts` are rows of Python
    values in the order of the text.
    """

    catalog: Catalog
    rules: tuple[CheckedRule, ...]
    facts: Mapping[str, list[Row]] = field(default_factory=dict)
    directives: tuple[tree.Directive, ...] = ()
