"""States of all views, as one value; and facts that a commit looks up there: the rules that share a
head, and the size of all indices.

Both follow from the states. This value holds them too, because a commit that searched the states
for them would look at every view.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Protocol

from lftj.maintenance.rules.rule_state import RelationState, RuleState
from lftj.maintenance.rules.shared_head import SharedHead
from lftj.maintenance.trace.trace_state import TraceState
from lftj.program.stratification import StratifiedProgram
from lftj.types.sources import Role, Source


class OfStratum(Protocol):
    """State of a recursive stratum. Only `lftj.maintenance.counting` knows more of it."""

    @property
    def bytes(self) -> int:
        """The memory that it takes beside the rows."""
        ...


ViewState = RelationState | OfStratum
"""State of a relation, or of a recursive stratum."""

_NOBODY: Mapping[str, frozenset[str]] = {}


def stratum_key(relations: Iterable[str]) -> str:
    """The name under which a stratum's state is kept among those of relations."""
    return Source("", Role.STRATUM, " ".join(sorted(relations)))


def shown_key(key: str) -> str:
    """The relations of a stratum by its key; a relation by its own."""
    return str(key.column) if isinstance(key, Source) and key.role is Role.STRATUM else key


class ViewStates(Mapping[str, ViewState]):
    """States by relation, or by `stratum_key` for a recursive stratum. A value."""

    def __init__(self) -> None:
        """None at all."""
        self._states: dict[str, ViewState] = {}
        self._sharing: dict[str, Mapping[str, frozenset[str]]] = {}
        self._traces: dict[
            int, tuple[int, TraceState]
        ] = {}  # by identity, with the number of rules
        self.traced = 0
        """Bytes of all sensitivity indices, each counted once."""

    @staticmethod
    def of(states: Mapping[str, ViewState]) -> ViewStates:
        """Make one value of these states. O(rules), nothing where they are such a value already."""
        return states if isinstance(states, ViewStates) else ViewStates().replaced(states)

    def __getitem__(self, key: str) -> ViewState:
        return self._states[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._states)

    def __len__(self) -> int:
        return len(self._states)

    def sharing(self, body: str) -> Mapping[str, frozenset[str]]:
        """The heads over a body (`SharedBody.same_body`), by their keys, each with the relations
        that read it.
        """
        return self._sharing.get(body, _NOBODY)

    def replaced(self, changed: Mapping[str, ViewState], gone: Collection[str] = ()) -> ViewStates:
        """Replace these states, and drop others. O(rules of these), and dictionaries are copied."""
        if not changed and not gone:
            return self
        made = ViewStates()
        made._states = {**self._states, **changed}
        made._sharing, made._traces, made.traced = (
            dict(self._sharing),
            dict(self._traces),
            self.traced,
        )
        for key in gone:
            made._forget(key, made._states.pop(key))
        for key, state in changed.items():
            before = self._states.get(key)
            if not _alike(before, state):
                made._forget(key, before)
                made._note(key, state)
        return made

    def _forget(self, key: str, state: ViewState | None) -> None:
        for rule in rules_of(state):
            if rule.head is not None:
                self._share(rule.head, {key}, frozenset())
            if rule.trace is not None:
                number, _ = self._traces.pop(id(rule.trace))
                if number > 1:
                    self._traces[id(rule.trace)] = number - 1, rule.trace
                else:
                    self.traced -= rule.trace.bytes

    def _note(self, key: str, state: ViewState) -> None:
        for rule in rules_of(state):
            if rule.head is not None:
                self._share(rule.head, frozenset(), {key})
            if rule.trace is not None:
                number, _ = self._traces.get(id(rule.trace), (0, None))
                self._traces[id(rule.trace)] = number + 1, rule.trace
                self.traced += rule.trace.bytes if not number else 0

    def _share(
        self, head: SharedHead, less: frozenset[str] | set[str], more: frozenset[str] | set[str]
    ) -> None:
        body, key = head.shared.same_body, head.shared.key
        heads = dict(self._sharing.get(body, _NOBODY))
        left = (heads.pop(key, frozenset()) - less) | more
        if left:
            heads[key] = left
        self._sharing[body] = heads
        if not heads:
            del self._sharing[body]


def rules_of(state: ViewState | None) -> tuple[RuleState, ...]:
    """States of single rules."""
    return state.rules if isinstance(state, RelationState) else ()


def _alike(old: ViewState | None, new: ViewState) -> bool:
    """Test for two states with the same rules and the same indices, so that nothing is to be noted.
    O(rules).
    """
    before, after = rules_of(old), rules_of(new)
    if len(before) != len(after):
        return False
    return all(
        was.rule is now.rule and was.trace is now.trace and (was.head is None) == (now.head is None)
        for was, now in zip(before, after, strict=True)
    )


def without_strangers(
    states: Mapping[str, ViewState], heads: Iterable[SharedHead], others: Iterable[str] = ()
) -> dict[str, RelationState]:
    """The states that share a head of which a rule is gone, with it gone from them. `heads`: those
    of rules that went, as they were.

    `others`: relations that may share one of them now and did not then. O(rules that share them).
    """
    gone = {head.shared.key: head for head in heads}
    names = dict.fromkeys(
        (
            *(member.rule.relation for head in gone.values() for member in head.shared.members),
            *others,
        )
    )
    kept = [
        rule.head
        for name in names
        for rule in rules_of(states.get(name))
        if rule.head is not None and rule.head.shared.key in gone
    ]
    changed: dict[str, RelationState] = {}
    for head in {id(head): head for head in kept}.values():
        relations = dict.fromkeys(member.rule.relation for member in head.shared.members)
        sharing = {
            id(rule.rule)
            for name in relations
            for rule in rules_of(states.get(name))
            if rule.head is not None
        }
        if all(id(member.rule) in sharing for member in head.shared.members):
            continue
        left = head.without(sharing)
        for member in left.shared.members:
            name = member.rule.relation
            state = changed.get(name, states[name])
            assert isinstance(state, RelationState)
            changed[name] = state.with_head(member.rule, left)
    return changed


def still_serving(
    states: ViewStates, before: StratifiedProgram, after: StratifiedProgram, changed: Iterable[str]
) -> ViewStates:
    """The states that are of use under a new program, in which the rules of some relations changed.

    These, and others that were in a cycle with them or are now, may have become base relations, or
    part of another cycle. O(their number).
    """
    strata = (*before.order.strata_of(changed), *after.order.strata_of(changed))
    names = dict.fromkeys(name for stratum in strata for name in stratum.relations)
    now = {name: after.order.stratum_of(name) for name in names}
    gone = [
        name for name, found in now.items() if name in states and (found is None or found.recursive)
    ]
    serving = {
        stratum_key(found.relations)
        for found in now.values()
        if found is not None and found.recursive
    }
    for stratum in before.order.strata_of(names):
        key = stratum_key(stratum.relations)
        if key in states and key not in serving:
            gone.append(key)
    return without_states(states, gone)


def without_states(states: ViewStates, gone: Collection[str]) -> ViewStates:
    """Without the states of these keys, and without what others share with them."""
    if not gone:
        return states
    heads = [rule.head for key in gone for rule in rules_of(states[key]) if rule.head is not None]
    left = states.replaced({}, gone)
    return left.replaced(without_strangers(left, heads))
