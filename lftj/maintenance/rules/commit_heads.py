"""Aggregated heads during a commit: the body that rules share is evaluated when the first of them
is due, and serves them all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property, partial

import numpy as np

from lftj.errors import ValueRangeError
from lftj.heads.aggregate_state import AggregateState, GroupsMoved
from lftj.heads.grouped_results import additive
from lftj.heads.unordered_extremes import OrderNeededError
from lftj.join.context import Context
from lftj.join.run.evaluate import Columns, Relations
from lftj.join.strategy import Exhausted, Why, within
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.rules.body import Body
from lftj.maintenance.rules.chosen_way import BodyChange, BodyEvaluation, Evaluated, Ways
from lftj.maintenance.rules.extremes import extremes_of
from lftj.maintenance.rules.rule_state import RelationState, RuleState
from lftj.maintenance.rules.shared_head import Member, SharedBody, SharedHead
from lftj.maintenance.rules.view_states import ViewState, ViewStates, rules_of
from lftj.program.normal_form import FunctorRule, NormalRule
from lftj.program.stratification import StratifiedProgram
from lftj.scantree.frozen import record
from lftj.storage.delta import Delta
from lftj.tuning.aids import EXTREMES, FINER_HEADS

_HEAD_SHARE = 0.5
"""Share of evaluating the body anew that it may take."""
_HEAD_STEPS = 20_000
"""Steps that following a shared head may take for a rule that joins it."""


@record
class _Done:
    """A shared head after this commit.

    `moved`: how its groups changed, None where they did not; `changed`: the assignments behind
    that; `anew`: all was evaluated; `joined`: the head is another than the one that members were
    given before.
    """

    head: SharedHead
    moved: GroupsMoved | None = None
    changed: tuple[Columns, np.ndarray] | None = None
    anew: bool = False
    joined: bool = False


class CommitHeads:
    """The shared heads of a program's rules, on their way through one commit. `states` are those of
    before.

    `changed_rules`: the relations among whose rules are some that share no head yet.
    """

    def __init__(
        self,
        program: StratifiedProgram,
        states: ViewStates,
        versions: Versions,
        context: Context,
        ways: Ways,
        changed_rules: Collection[str] = (),
    ):
        self.ways = ways
        self._program = program
        self._states = states
        self._changed_rules = changed_rules
        self._versions = versions
        self._context = context
        self._done: dict[str, _Done] = {}
        self._dear: set[str] = set()

    def done(self, state: RuleState) -> bool:
        """Test for a body that was maintained or evaluated already, so that the rule costs nothing
        more.
        """
        return state.head is not None and state.head.shared.key in self._done

    def change(
        self, state: RuleState, work: RuleWork
    ) -> tuple[Delta | None, RuleState] | Exhausted:
        """The change of the head rows of a rule that was there before, and its state after it;
        Exhausted where the body was evaluated anew: then ask for `rows`.
        """
        assert state.head is not None
        assert isinstance(state.rule, NormalRule)
        key = state.head.shared.key
        if key not in self._done:
            self._done[key] = self._followed(state.head, work)
        done = self._done[key]
        if done.anew:
            return Exhausted(Why.BUDGET, state)
        member = done.head.shared.member(state.rule)
        assert member is not None
        delta = done.moved.of(done.head.shared.columns(member)) if done.moved is not None else None
        return delta, RuleState.sharing(state.rule, done.head)

    def rows(self, rule: NormalRule, work: RuleWork, *, follow: bool) -> tuple[Columns, RuleState]:
        """All head rows of a rule, sorted, and its state. `follow`: the body may be followed from
        what others kept of it.
        """
        member = self._as_member(rule)
        assert member is not None
        key = member.head.key
        before = (
            next((head for _, head in self._heads(member.head.body, key)), None)
            if key not in self._done
            else None
        )
        if key not in self._done and (
            before is None or not (follow and self._follow(before, work))
        ):
            self._done[key] = self._evaluated(self._members(member, before), before, work)
        done = self._done[key]
        if done.head.shared.member(rule) is None:
            self._join(done, member, work)
        known = done.head.shared.member(rule)
        assert known is not None
        return done.head.aggregate.rows(done.head.shared.columns(known)), RuleState.sharing(
            rule, done.head
        )

    def late(self, changed: Mapping[str, ViewState]) -> dict[str, RelationState]:
        """Relations whose rules were done with before others joined their heads: their states with
        these as they are now.

        `changed`: the states that are new.
        """
        found: dict[str, RelationState] = {}
        for done in self._done.values():
            for member in done.head.shared.members if done.joined else ():
                name = member.rule.relation
                state = found.get(name) or changed.get(name, self._states.get(name))
                if isinstance(state, RelationState):
                    found[name] = state.with_head(member.rule, done.head)
        return found

    def together_with(self, rule: NormalRule | FunctorRule) -> list[NormalRule | FunctorRule]:
        """The rules whose aggregates are evaluated together with those of a rule, itself among
        them.
        """
        if (member := self._as_member(rule)) is None:
            return [rule]
        head = next((head for _, head in self._heads(member.head.body, member.head.key)), None)
        return [each.rule for each in self._members(member, head)]

    # ── evaluating ────────────────────────────────────────────────────────────────────────────────
    def _followed(self, head: SharedHead, work: RuleWork, *, alone: bool = False) -> _Done:
        """A head after the change of its body. `alone`: without looking for others that tell it."""
        if not (head.aggregate.ordered or self._waits(head.shared.body, self._versions)):
            head = head._replace(aggregate=self._ordered(head))
        finer = None if alone else self._finer_change(head, work)
        if finer is not None:
            (columns, signed), trace = finer, None
            work.strategy = FINER_HEADS
        else:
            change = BodyChange(head.shared.body, self._versions, self._context, work)
            columns, signed, trace = self.ways.follow(change, head.trace)
            work.assignments += len(signed)
        if not len(signed):
            return _Done(
                head if trace is head.trace else head._replace(trace=trace),
                changed=(columns, signed),
            )
        threads = self._context.resources.threads
        try:
            aggregate, moved = head.aggregate.advanced(columns, signed, threads)
        except OrderNeededError:
            aggregate, moved = self._ordered(head).advanced(columns, signed, threads)
        return _Done(head._replace(aggregate=aggregate, trace=trace), moved, (columns, signed))

    def _finer_change(self, head: SharedHead, work: RuleWork) -> tuple[Columns, np.ndarray] | None:
        """The change of a head's assignments as a head over the same body has it that groups more
        finely, if there is one.
        """
        off = FINER_HEADS in self._context.tuning.without
        place = self._finer(head.shared) if head.trace is None and not off else None
        if place is None:
            return None
        relation, key = place
        if key not in self._done and key not in self._dear:
            self._try(self._head_of(relation, key), work)
        done = self._done.get(key)
        if done is None or done.changed is None or done.head.trace is not None:
            return None
        (columns, signed), texts = done.changed, done.head.shared.texts()
        return [columns[texts.index(text)] for text in head.shared.texts()] if len(
            signed
        ) else [], signed

    def _finer(self, shared: SharedBody) -> tuple[str, str] | None:
        """The relation and the key of the head over the same body that tells most, if it tells all
        that this one needs.
        """
        if shared.finer is None or shared.finer[0] is not self._program.strata:
            needed, found = set(shared.texts()), (0, "", "")
            for name, head in self._heads(shared.same_body):
                texts = set(head.shared.texts())
                if head.shared.key != shared.key and needed <= texts:
                    found = max(found, (len(texts), name, head.shared.key))
            shared.finer = self._program.strata, found[1], found[2]
        _, name, key = shared.finer
        return (name, key) if name else None

    def _try(self, head: SharedHead | None, work: RuleWork) -> None:
        """Follow a head before its own rules ask for it, with an allowance of its own."""
        if head is None:
            return
        least = _HEAD_STEPS
        allowed = max(least, int(min(self._context.fraction, 1.0) * head.work))
        if not self._followed_within(allowed, head, work, alone=True):
            self._dear.add(head.shared.key)

    def _followed_within(
        self, allowed: int, head: SharedHead, work: RuleWork, *, alone: bool = False
    ) -> bool:
        """Follow a head; False, and nothing done, where that takes more than `allowed`, or meets a
        row that exists in no version.
        """
        follow = partial(self._followed, head, work, alone=alone)
        try:
            done = within(self._context.budget, allowed, follow, lambda _: None)
        except ValueRangeError:
            return False
        if done is not None:
            self._done[head.shared.key] = done
        return done is not None

    def _follow(self, head: SharedHead, work: RuleWork) -> bool:
        """Bring a head forward for a rule that is to join it; False when it would cost more than
        evaluating the body.
        """
        if self._versions.deltas.keys().isdisjoint(head.shared.body.rule.reads):
            self._done[head.shared.key] = _Done(head)
            return True
        allowed = max(_HEAD_STEPS, int(_HEAD_SHARE * head.work))
        return self._followed_within(allowed, head, work)

    def _evaluated(self, members: list[Member], before: SharedHead | None, work: RuleWork) -> _Done:
        """A head from nothing."""
        shared = SharedBody(members, before.shared if before is not None else None)
        body, relations, context = shared.body, self._versions, self._context
        started = context.budget.work
        waits = self._waits(body, relations)
        evaluation = BodyEvaluation(body, relations, context, before, groups=True, unordered=waits)
        evaluated = self.ways.evaluate(evaluation)
        aggregate, work.assignments = self._gathered(body, evaluated)
        return _Done(
            SharedHead(
                shared, aggregate, context.budget.work - started, evaluated.trace, evaluation.sizes
            ),
            anew=True,
        )

    def _gathered(self, body: Body, evaluated: Evaluated) -> tuple[AggregateState, int]:
        """The state of these assignments, and their number."""
        resources, totals = self._context.resources, evaluated.totals
        aggregate = AggregateState.empty(
            resources.arena,
            body.shape,
            resources.dictionary,
            resources.user_aggregates,
            ordered=totals is None or additive(body.shape),
        )
        assignments = 0
        if totals is not None:
            aggregate, _ = aggregate.gathered(totals)
            assignments = int(totals.counts.sum())
        for columns, counts in evaluated.pieces:
            aggregate, _ = aggregate.advanced(columns, counts, resources.threads)
            assignments += int(counts.sum())
        return aggregate, assignments

    def _waits(self, body: Body, relations: Relations) -> bool:
        """Tell whether rows behind extremes wait to be put in order: those of many rows of one
        relation, which are soon read again. To join again may take much longer than to order.
        """
        rule, tuning = body.rule, self._context.tuning
        if EXTREMES in tuning.without or len(rule.atoms) != 1 or rule.negated:
            return False
        return relations[rule.atoms[0].relation].count > tuning.extremes_rows

    def _ordered(self, head: SharedHead) -> AggregateState:
        """The groups of a head before the commit, with the rows behind its extremes in order. Costs
        an evaluation, and takes nothing of what its update may cost: it is done once.
        """
        body = head.shared.body
        before = {name: self._versions.before(name) for name in body.rule.reads}
        evaluation = BodyEvaluation(body, before, self._context, None, groups=True, traced=False)
        with self._context.budget.allow(None):
            return self._gathered(body, self.ways.evaluate(evaluation))[0]

    def keeps_groups(self, rule: NormalRule | FunctorRule) -> bool:
        """Tell whether a rule aggregates, and not only what can be read off a key order."""
        if not isinstance(rule, NormalRule) or not rule.aggregates:
            return False
        return extremes_of(rule, self._context.tuning) is None

    def _as_member(self, rule: NormalRule | FunctorRule) -> Member | None:
        """A rule with aggregates that keeps a state, ready to share it."""
        if isinstance(rule, NormalRule) and self.keeps_groups(rule):
            return Member.of(rule)
        return None

    # ── who shares ────────────────────────────────────────────────────────────────────────────────
    def _join(self, done: _Done, member: Member, work: RuleWork) -> None:
        """Let a rule, and others that are new, share a head that is up to date: from what it keeps
        if that tells all they ask for.
        """
        head = done.head
        members = self._members(member, head)
        shared = SharedBody(members, head.shared)
        done.joined = True
        done.head = (
            head.refitted(shared, self._context.resources.user_aggregates)
            or self._evaluated(members, head, work).head
        )

    def _heads(self, body: str, key: str | None = None) -> Iterator[tuple[str, SharedHead]]:
        """The heads over a body, or one of them, that relations of the program had before the
        commit.
        """
        known = self._states.sharing(body)
        for each in known if key is None else known.keys() & {key}:
            for name in sorted(known[each]):
                head = self._head_of(name, each) if name in self._program.order.place else None
                if head is not None:
                    yield name, head

    def _head_of(self, relation: str, key: str) -> SharedHead | None:
        """The head of this key that rules of a relation had before the commit."""
        heads = (rule.head for rule in rules_of(self._states.get(relation)))
        return next((head for head in heads if head is not None and head.shared.key == key), None)

    def _members(self, member: Member, head: SharedHead | None) -> list[Member]:
        """The members of a head, and rules of the program that can share it but do not yet."""
        known = list(head.shared.members) if head is not None else []
        if any(each.rule is member.rule for each in known):
            return known
        present = {id(each.rule) for each in (*known, member)}
        return [
            *known,
            member,
            *(
                each
                for each in self._sharers.get(member.head.key, ())
                if id(each.rule) not in present
            ),
        ]

    @cached_property
    def _sharers(self) -> dict[str, list[Member]]:
        """The rules of the program that can share a head and may not do so yet, by its key. O(rules
        of relations whose rules changed).
        """
        found: dict[str, list[Member]] = {}
        for stratum in self._program.order.strata_of(self._changed_rules):
            for rule in stratum.rules if not stratum.recursive else ():
                member = self._as_member(rule)
                if member is not None and not self._program.relations[rule.relation].choice:
                    found.setdefault(member.head.key, []).append(member)
        return found
