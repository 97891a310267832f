# SPDX-License-Identifier: Apache-2.0
"""Branches of one workspace: engines over the same memory and dictionary, each with a committed
state, rules and subscribers of its own.

States are immutable and share pages, so a branch begins with the state of another at no cost. What
an engine keeps beside its state (plans, buffers, samples, prices of key orders) is its own. They
have one writer lock together: views of two branches may be maintained with the same objects, which
fill some of their indices when they are first asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from lftj.engine.live.altered_state import in_later_columns, in_order
from lftj.engine.versions.ancestry import MAIN, Ancestry
from lftj.engine.versions.state import State
from lftj.errors import BranchError, DeclarationError
from lftj.program.alteration import Alteration, of_relation
from lftj.program.alterations_apart import ApartError, apart
from lftj.program.normal_form import RelationSchema
from lftj.storage.relation import RelationVersion

if TYPE_CHECKING:
    from lftj.engine.live.engine import Engine
    from lftj.engine.versions.result import Result


class Branches:
    """All branches of a workspace that has some. `engines` by name, main first."""

    def __init__(self, main: Engine):
        self.engines: dict[str, Engine] = {MAIN: main}
        self.ancestry = Ancestry()
        self.closed = False
        """True once the workspace is closed."""
        self._begun = 0

    def engine(self, name: str) -> Engine:
        """The engine of a branch. Raises BranchError (E380)."""
        found = self.engines.get(name)
        if found is None:
            raise BranchError(
                f"there is no branch {name!r}",
                hint=f"there are {', '.join(self.engines)}; ws.branch({name!r}) begins one",
            )
        return found

    def begin(self, name: str, parent: Engine) -> Engine:
        """Begin a branch with the committed state of another. With the writer lock held. O(1).
        Raises DeclarationError (E160) for what is no name, DurableError.
        """
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise DeclarationError(
                f"a branch has a name, found {name!r}", hint='write ws.branch("what-if")'
            )
        durable, number = parent.durable, -self._begun - 1
        if durable is not None:
            durable.require_writable()
            parent.state = durable.caught_up(parent)
        ancestry = self.ancestry.begun(name, parent.name, parent.state)
        if durable is not None:
            number = durable.begin_branch(name, parent, ancestry)
        engine = self.enter(name, number, parent)
        self.ancestry = ancestry
        return engine

    def enter(self, name: str, number: int, parent: Engine) -> Engine:
        """Enter a branch that is in the files, or only in memory: in files its number is that of a
        commit, in memory a negative one.
        """
        engine = parent.sibling()
        engine.name, engine.number, engine.durable = name, number, parent.durable
        self._begun += 1
        self.engines[name] = engine
        return engine

    def drop(self, engine: Engine) -> None:
        """End a branch. With the writer lock held. O(branches). Raises BranchError (E380) for main,
        and for one that has ended, DurableError.
        """
        self.require(engine)
        if engine.name == MAIN:
            raise BranchError(
                "main cannot be dropped", hint="drop the others: ws.branch(name).drop()"
            )
        ancestry = self.ancestry.dropped(engine.name)
        if engine.durable is not None:
            engine.durable.drop_branch(engine, ancestry)
        self.ancestry = ancestry
        self.leave(engine)

    def leave(self, engine: Engine) -> None:
        """Forget a branch that has ended in the files, or was only in memory."""
        del self.engines[engine.name]
        engine.published.end()

    def require(self, engine: Engine) -> None:
        """Raise BranchError (E380) for a branch that has ended."""
        if self.engines.get(engine.name) is not engine:
            raise BranchError(
                f"branch {engine.name!r} was dropped", hint="begin another one with ws.branch(…)"
            )

    def common(self, target: Engine, source: Engine) -> State:
        """The last known state that is part of two branches. Raises BranchError (E380) for a branch
        and itself.
        """
        if target is source:
            raise BranchError(
                f"{source.name!r} cannot be merged into itself", hint="name another branch"
            )
        return self.ancestry.common(target.name, source.name)


def branches_of(engine: Engine) -> Branches:
    """The branches of an engine's workspace."""
    if not isinstance(engine.branches, Branches):
        engine.branches = Branches(engine)
    return engine.branches


def difference(before: Engine, after: Engine, name: str) -> Result:
    """The change of a relation from one branch to another, in the columns that a merge would give
    it: those of the one that has altered it, or what both have made of it. `name`: in the second,
    or in the first where that one lacks it. O(change), where pages are shared. Raises
    UnknownNameError where neither has it, BranchError (E380) where it is declared otherwise, or
    alterations cannot be made after one another.
    """
    old, new = before.state, after.state
    try:
        ways = apart(*(each.program.catalog.alterations for each in (old, new)))
    except ApartError as error:
        raise BranchError(
            f"{before.name!r} and {after.name!r} have altered the same otherwise: {error.one}, and "
            f"{error.other}; {error.reason}",
            hint=f"look at both: ws.branch({before.name!r})[{name!r}] and "
            f"ws.branch({after.name!r})[{name!r}]",
        ) from None
    way = ways.one if name in new.program.catalog.relations else ways.other
    merged = _forward(way, name)
    found = _merged(after, old, ways.other, merged, new), _merged(after, new, ways.one, merged, old)
    schema = next((each.schema for each in found[::-1] if each is not None), None)
    if schema is None:
        schema = new.schema(name)  # raises
    rows = [_as(after, each, schema) for each in found]
    names = [of_relation(way, merged)[0] for way in (ways.other, ways.one)]
    dropped = [each.program.catalog.dropped for each in (old, new)]
    another = None not in found and dropped[0].get(names[0]) != dropped[1].get(names[1])
    if another or rows[0] is None or rows[1] is None:
        raise BranchError(
            f"`{name}` is declared otherwise in {before.name!r} than in {after.name!r}",
            hint="compare relations that both have",
        )
    return after.change_set(new.version, schema, rows[1].difference(rows[0]))


def _forward(alterations: Iterable[Alteration], name: str) -> str:
    """The name of a relation after alterations."""
    for each in alterations:
        if each.relation == name:
            name = each.name
    return name


def _merged(
    engine: Engine, state: State, alterations: Sequence[Alteration], merged: str, other: State
) -> RelationVersion | None:
    """The rows of a relation in the columns that alterations of another state give it; None where
    it is not there.
    """
    first = other.program.catalog.dropped.get(merged, 0)
    name, steps = of_relation(alterations, merged, first)
    found = state.database.get(name)
    return None if found is None else in_later_columns(engine, found, steps)


def _as(
    engine: Engine, relation: RelationVersion | None, schema: RelationSchema
) -> RelationVersion | None:
    """The rows of a relation in the order of a schema's columns, none where it is not there; None
    where it has others, or another key.
    """
    if relation is None:
        return RelationVersion.empty(schema, engine.arena)
    if set(relation.schema.columns) != set(schema.columns):
        return None
    relation = in_order(engine, relation, schema)
    return relation if relation.schema.key == schema.key else None
