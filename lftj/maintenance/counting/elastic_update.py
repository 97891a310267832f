# SPDX-License-Identifier: Apache-2.0
"""The elastic update of a recursive stratum [Elastic, Algorithm 3]: from changes below it to the
state that a bootstrap would give.

An instantiation of a rule proves its head in iteration 1 + max(iterations of its rows of the
stratum); rules that read nothing of the stratum and base rows prove in iteration 0. The iteration
of a row is the least one with a proof, and its count is the number of proofs in that iteration.

The paper evaluates, per iteration k, what was lost, won and re-discovered from all of the rows of
iteration k − 1. Here only rows that *move* drive a join, each when it is lost and when it is found;
its proofs go, signed, to the iteration in which they count and wait there. So an iteration in which
no row moves is not visited, and the cost of another one is proportional to the rows that move in
it. In the paper's terms, for a row t that waits in iteration k:

- t has an earlier iteration: nothing happens (the bracketing of Π, and sparsification for a row
  that was found early);
- t has iteration k: its count changes (lines 5 and 6); at zero it is lost, moves to I⁻ and the
  rules are evaluated *once* for the proofs it had in later iterations before the update
  (re-discovery). Changes of these proofs since then wait there already, so the sums are right: a
  proof whose negated row was inserted or erased in the same commit is among the old ones exactly if
  it was valid, which the printed formula misses;
- t has a later iteration or none: the waiting proofs are all its proofs in k; t is found.

Rules that come and go are facts that come and go [DYRE]: all proofs by such a rule are won or lost
at the beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from lftj.errors import LimitError
from lftj.join.context import Context
from lftj.maintenance.cost.cost_model import (
    ITERATION,
    PROVEN,
    QUERY,
    TOUCHED,
    change_of,
    looked_up,
)
from lftj.maintenance.counting import apply_iteration_kernels as at
from lftj.maintenance.counting.apply_iteration_kernels import GONE, judge_rows
from lftj.maintenance.counting.choice_update import Choosing
from lftj.maintenance.counting.compiled_iterations import CompiledIterations
from lftj.maintenance.counting.derivation_count import standing
from lftj.maintenance.counting.derivation_queue import Counted, DerivationQueue
from lftj.maintenance.counting.doubted_rows import judged
from lftj.maintenance.counting.elastic_query import ElasticQuery, Proofs
from lftj.maintenance.counting.iterated_relation import IteratedRelation, iterated_schema
from lftj.maintenance.counting.iteration_tables import DOUBTED, LOST, MOVED, Before, Question
from lftj.maintenance.counting.moves import ComeAndGone, MovedRows, Moves
from lftj.maintenance.counting.rule_queries import Readings, RuleQueries, readers_of
from lftj.maintenance.counting.stratum_state import StratumState
from lftj.maintenance.inputs.versions import CHANGE, SIGNED, Versions
from lftj.maintenance.rules.last_found import note_last
from lftj.program.normal_form import NormalRule
from lftj.scantree.rows import difference
from lftj.storage.database import base_name
from lftj.storage.delta import Columns, Delta, stored_width
from lftj.storage.relation import RelationVersion
from lftj.storage.transient_relation import TransientRelation
from lftj.tuning.aids import MOVED_BOUNDS
from lftj.types.sources import Role, Source, in_role


class ElasticUpdate:
    """One update. `run` gives the new state and the net changes; the state it starts from and
    everything it reads stay as they are.
    """

    def __init__(
        self, state: StratumState, rules: Iterable[NormalRule], versions: Versions, context: Context
    ):
        self.state = state
        self.fixed = not state.least
        self.versions = versions
        self.context = context
        self.rules = state.queries_of(rules)
        self.readers = readers_of(self.rules, state.schemas)
        self.asked: dict[ElasticQuery, None] = {}
        self.relations: dict[str, IteratedRelation] = dict(state.relations)
        self.waiting = DerivationQueue(whole=state.candidates)
        self.readings = Readings(versions)
        self.moving = {
            name: iterated_schema(schema, Role.MOVED) for name, schema in state.schemas.items()
        }
        self.over_deleting = {
            name: replace(schema, name=Source(name, Role.DELETED))
            for name, schema in state.schemas.items()
        }
        self.assignments = 0
        self.net = {name: ComeAndGone() for name in state.schemas}
        self.choosing = {
            name: Choosing(state.schemas[name], kept, context.resources.dictionary)
            for name, kept in state.candidates.items()
        }
        for name, relation in state.relations.items():
            self.readings.update(
                {
                    Source(name, Role.ITERATED): relation,
                    Source(name, Role.BEFORE_MOVE): relation,
                    Source(name, Role.BEFORE_UPDATE): relation,
                }
            )

    def run(self) -> tuple[StratumState, dict[str, Delta]]:
        """The state after the change, and the net change of each relation's rows. Raises what
        evaluation raises.
        """
        self._changes_below()
        iterations = CompiledIterations(
            self.state.schemas,
            self.choosing,
            self._questions,
            self.readings,
            self.context,
            Before(self.state.relations, self._given()) if self.fixed else None,
        )
        due, all_rows = None, sum([relation.count for relation in self.relations.values()])
        try:
            while (due := self.waiting.take()) is not None:
                self._iteration(*due)
                self.context.budget.foresee(looked_up(self.waiting.size, all_rows))
                if iterations.worth_trying(sum(len(counts) for _, counts in due[1].values())):
                    iterations.go(self.relations, self.waiting)
        except LimitError as error:
            for name, (rows, _) in () if due is None else due[1].items():
                row = [int(column[-1]) for column in rows]
                note_last(error, [(self.state.schemas[name], row)], self.context)
            raise
        self.assignments += iterations.assignments
        self.asked.update(dict.fromkeys(question.query for question in iterations.plans))
        return self._finished(), self._deltas(compared=iterations.went)

    def _questions(self) -> Iterator[Question]:
        """Questions of an iteration about the rows that it moves."""
        for name in self.state.schemas:
            for queries in self.readers[name]:
                for query in queries.moved:
                    if query.relation == name:
                        yield Question(name, MOVED, query, queries.rule.relation, self.moving[name])
        for queries in self.state.rules:
            if queries.recursive or self.fixed:
                about = LOST if queries.recursive else DOUBTED
                head = queries.rule.relation
                yield Question(head, about, queries.rediscovery, head, self.over_deleting[head])

    def _given(self) -> dict[str, RelationVersion]:
        """Base rows of the stratum before the update."""
        bases = {name: base_name(name) for name in self.state.schemas}
        return {
            name: self.versions.before(base)
            for name, base in bases.items()
            if base in self.versions
        }

    # ── before the first iteration ────────────────────────────────────────────────────────────────
    def _changes_below(self) -> None:
        for name in self.state.schemas:
            base = self.versions.deltas.get(base_name(name))
            if base is not None:
                for rows, count in ((base.erases, -1), (base.inserts, 1)):
                    ones = np.full(len(rows[0]), count)
                    self.waiting.add(name, Proofs(rows, np.zeros_like(ones), ones))
        before, after = set(self.state.rules), set(self.rules)
        for queries in self.rules:
            if queries not in before:
                self._wait(queries.rule.relation, queries.added)
            elif not self.versions.deltas.keys().isdisjoint(queries.rule.reads):
                for query in queries.below:
                    if query.relation in self.versions.deltas:
                        self._below(queries.rule.relation, query)
        for queries in self.state.rules:
            if queries not in after:
                lost = self._wait(queries.rule.relation, queries.removed, -1)
                self.context.budget.foresee(TOUCHED * lost)

    def _below(self, head: str, query: ElasticQuery) -> None:
        relation, bound = query.relation, query.bound
        change = (
            self.versions.deltas[relation]
            if bound is None
            else self.versions.presence(relation, bound)
        )
        if change.inserted and change.erased:
            change = self._by_moves(head, query, change)
        for rows, sign in ((change.erases, -query.sign), (change.inserts, query.sign)):
            if len(rows[0]):
                self.readings[CHANGE] = self.versions.with_change(relation, bound, rows)[CHANGE]
                self._wait(head, query, sign)

    def _by_moves(self, head: str, query: ElasticQuery, change: Delta) -> Delta:
        """Follow rows that others take the place of by what lies between their values; the rest
        of the change.
        """
        if MOVED_BOUNDS in self.context.tuning.without or query.moves is None:
            return change
        fixed, queries = query.moves
        moves = self.versions.moves(query.relation, fixed)
        if moves.rows.count:
            self.readings[SIGNED] = moves.rows
            for each in queries:
                self._wait(head, each)
        return moves.rest

    def _wait(self, relation: str, query: ElasticQuery, sign: int = 1) -> int:
        """Let what a query finds wait; how much that is."""
        proofs = self._ask(query)
        self.assignments += len(proofs.counts)
        self.waiting.add(relation, proofs, sign)
        return len(proofs.counts)

    def _ask(self, query: ElasticQuery) -> Proofs:
        self.asked[query] = None
        found = query.run(self.readings, self.context)
        self.context.budget.charge(QUERY + PROVEN * len(found.counts))
        return found

    # ── one iteration ─────────────────────────────────────────────────────────────────────────────
    def _iteration(self, iteration: int, due: Mapping[str, Counted]) -> None:
        self.context.budget.charge(ITERATION)
        moves = {name: self._apply(name, iteration, counted) for name, counted in due.items()}
        moved = {
            name: seen
            for name, each in moves.items()
            if (seen := self._seen(name, iteration, due[name][0], each)) is not None
        }
        for name in moved:
            for queries in self.readers.get(name, ()):
                for query in queries.moved:
                    if query.relation == name and query.may_match(moved[name], self.context):
                        self._wait(queries.rule.relation, query)
        for name in moved:
            for order in self.readings[Source(name, Role.BEFORE_MOVE)].orders()[1:]:
                self.relations[name].tree(
                    order
                )  # what was asked for before the move is asked for again
            self.readings[Source(name, Role.BEFORE_MOVE)] = self.relations[name]

    def _apply(self, name: str, iteration: int, due: Counted) -> Moves | None:
        """Bring a relation's rows, or its candidates, of this iteration up to date; what moved, if
        anything did.
        """
        rows, counts = due
        choosing = self.choosing.get(name)
        relation = self.relations[name] if choosing is None else choosing.rows
        count = relation.count
        self.context.budget.charge(looked_up(len(counts), count))
        present, words = relation.standings(rows)
        kinds, stood = np.empty_like(counts), np.empty_like(counts)
        least, most = judge_rows(present, words, counts, iteration, int(self.fixed), kinds, stood)
        assert least >= 0, "more proofs lost than there were"
        standing(np.array([iteration]), np.array([most]))  # raises where a word has no room for it
        asked = self._ask_doubted(name, iteration, rows, words, kinds)
        changed = np.flatnonzero(kinds)
        kinds, changes = (
            kinds.take(changed),
            np.array([column.take(changed) for column in (*rows, words)]),
        )
        found, lost = np.flatnonzero(kinds == at.FOUND), np.flatnonzero(kinds == at.LOST)
        found_rows, lost_rows = (
            [line.take(found) for line in changes],
            [line.take(lost) for line in changes[:-1]],
        )
        changes[-1, lost] = GONE
        moving = len(found) + len(lost)
        self.context.budget.charge(change_of(len(changed), count))
        self.context.budget.charge(change_of(moving, count) * (len(relation.orders()) - 1))
        after = relation.moved(found_rows, lost_rows, changes)
        if choosing is None:
            self._become(name, after)
        else:
            choosing.rows = after
        if not moving:
            return None
        self._seek(name, iteration, difference(lost_rows, asked) if asked else lost_rows)
        return Moves(
            found_rows[:-1],
            stood.take(changed).take(found),
            lost_rows,
            stood.take(changed).take(lost),
        )

    def _ask_doubted(
        self, name: str, iteration: int, rows: Columns, words: np.ndarray, kinds: np.ndarray
    ) -> Columns | None:
        """Count the support of rows in doubt, which changes `words` and `kinds`. What is known of
        those that fall waits; they are returned, None where nothing was in doubt.
        """
        places = np.flatnonzero(kinds == at.DOUBTED)
        if not len(places):
            return None
        doubted = [column.take(places) for column in rows]
        before_update = self.state.relations[name]
        _, before = before_update.standings(doubted)
        given = np.zeros(len(places), np.bool_)
        if name in (bases := self._given()):
            given = bases[name].contains(doubted)
        self.context.budget.charge(2 * looked_up(len(places), before_update.count))
        found = self._derivations(name, doubted, self.state.rules)
        words[places], falls, later = judged(doubted, before, words.take(places), given, found)
        kinds[places] = np.where(falls, at.LOST, at.RECOUNTED)
        self.waiting.add(name, later)
        return [column[falls] for column in doubted]

    def _derivations(
        self, name: str, rows: Columns, rules: Iterable[RuleQueries]
    ) -> Iterator[Proofs]:
        """The derivations of rows by these rules, as they were before the update."""
        self.readings[Source(name, Role.DELETED)] = sought = TransientRelation(
            self.over_deleting[name], self.context.resources.arena, rows
        )
        for queries in rules:
            if queries.rule.relation == name and queries.rediscovery.may_match(
                sought, self.context
            ):
                yield self._ask(queries.rediscovery)

    def _seen(
        self, name: str, iteration: int, due: Columns, moves: Moves | None
    ) -> MovedRows | None:
        """Tell the rules what moved of the rows that they see, which are those accepted where there
        is a choice; None when nothing did.
        """
        if name in self.choosing:
            moves = self._accept(name, iteration, due, moves)
        if moves is None:
            self.readings[Source(name, Role.BEFORE_MOVE)] = self.relations[name]
            return None
        self.net[name].add(moves)
        self.readings[Source(name, Role.MOVED)] = seen = MovedRows(
            self.moving[name], self.context.resources.arena, moves.loose(iteration)
        )
        return seen

    def _accept(self, name: str, iteration: int, due: Columns, moves: Moves | None) -> Moves | None:
        """Bring the rows accepted up to date with moves of candidates; what moved of them, if
        anything did.
        """
        relation, rows = self.relations[name], len(due[0])
        moves, again = self.choosing[name].accepted(relation, due, moves, iteration)
        self.waiting.add(name, again)
        moving = len(moves.stood) + len(moves.left)
        self.context.budget.charge(2 * looked_up(rows, relation.count))
        self.context.budget.charge(change_of(rows, relation.count))
        self.context.budget.charge(len(relation.orders()) * change_of(moving, relation.count))
        if not moving:
            return None
        found = [*moves.found, standing(np.full_like(moves.stood, iteration))]
        self._become(name, relation.moved(found, moves.lost))
        return moves

    def _become(self, name: str, after: IteratedRelation) -> None:
        self.relations[name] = self.readings[Source(name, Role.ITERATED)] = after

    def _seek(self, name: str, iteration: int, lost: Columns) -> None:
        """Let the proofs that lost rows had in later iterations wait there."""
        if not len(lost[0]):
            return
        recursive = (queries for queries in self.state.rules if queries.recursive)
        for rows, iterations, counts in self._derivations(name, lost, recursive):
            later = iterations > iteration
            self.waiting.add(
                name, Proofs([column[later] for column in rows], iterations[later], counts[later])
            )

    # ── the end ───────────────────────────────────────────────────────────────────────────────────
    def _finished(self) -> StratumState:
        """The new state. Key orders that were built on an older version on the way are not lost, or
        they would be built at each update.
        """
        for query in self.asked:
            for name, order in query.key_orders():
                if in_role(name, Role.PREVIOUS) and name.name in self.versions:
                    self.versions[name.name].tree(order)
        relations = {
            name: relation.with_orders_of(self.state.relations[name])
            for name, relation in self.relations.items()
        }
        candidates = {name: choosing.candidates for name, choosing in self.choosing.items()}
        return replace(self.state, relations=relations, rules=self.rules, candidates=candidates)

    def _deltas(self, *, compared: bool) -> dict[str, Delta]:
        """The net changes; runs of compiled iterations tell no moves, so after these the versions
        are `compared`.
        """
        if compared:
            return {
                name: relation.rows_since(self.state.relations[name])
                for name, relation in self.relations.items()
            }
        return {
            name: self.net[name].delta(stored_width(schema.arity))
            for name, schema in self.state.schemas.items()
        }
