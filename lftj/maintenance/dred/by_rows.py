"""A recursive stratum that keeps no counts at a commit: followed by its rows alone, where that is
expected to do [Elastic 5; DRed].

Counting proofs takes a bootstrap of its own, of several times the time and the memory of the first.
A small change seldom needs it: what it adds follows from the rows there are, and what it takes away
can be found from them, at the price of taking too much and bringing it back. So that comes first,
with the share of a bootstrap that `Context.fraction` allows, or a little; what takes more is given
up for another bootstrap. Such a change is to be regretted as far as counts would have saved the
work: they would where little changed in the end. So is one of which most came back. Once that has
come to what counting takes, proofs are counted (`elastic`).

Counts tell what goes. What only adds is followed by rows alone whenever there are no counts,
whatever is regretted. So are rules that come and go, also where strata merge or split; what they
derive, nobody knows before, so they are allowed less.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from lftj.errors import ValueRangeError
from lftj.join.context import AllowanceSpentError, Context
from lftj.maintenance.cost.cost_model import (
    ITERATION,
    PROOF,
    ROW,
    ROW_ALONE,
    STEP,
    TOUCHED,
    change_of,
    charge,
    laid_into,
)
from lftj.maintenance.counting.elastic import Followed, Kept, RowsAlone, countable, rows_alone
from lftj.maintenance.counting.forecast import ALWAYS, changes_below
from lftj.maintenance.counting.rule_change import NO_CHANGE, RuleChange
from lftj.maintenance.counting.rule_queries import LOST
from lftj.maintenance.dred.over_delete import keep_orders, losing, taken_below, takes_and_adds
from lftj.maintenance.dred.rederive import Returning
from lftj.maintenance.inputs.versions import Versions
from lftj.maintenance.lattice.lattice_fixpoint import MonotoneFixpoint
from lftj.program.normal_form import NormalRule, RelationSchema, Stratum
from lftj.storage.database import base_name
from lftj.storage.delta import Columns, Delta, no_rows
from lftj.storage.relation import RelationVersion

# A recursive stratum after a change, from its rows alone: what follows from rows that came, without
# what rested on rows that went [DRed].
#
# After insertions semi-naïve rounds go on from the rows there are. Where something went below,
# whatever may have lost a derivation is found first (`over_delete`); what is left has a
# derivation that nothing touched, so it is true now. What follows from that alone is left too
# (`rederive`). The rest goes, and rounds go on from what came. A rule that went may have taken
# every row that it derived; what one that came derives is added to what came.


class _Rounds(MonotoneFixpoint):
    """Rounds for few rows among many, which are charged with what they take."""

    lasting = True

    def _next_round(self) -> None:
        super()._next_round()
        found = {name: delta.count for name, delta in self.deltas.items() if delta.count}
        due = sum(variant.source in found for variant in self.variants)
        charge(self.context, ITERATION * (1 + due))
        for name, rows in found.items():
            charge(
                self.context,
                ROW_ALONE * rows
                + laid_into(rows, self.totals[name].count) * len(self.totals[name].orders()),
            )


class Rederivation:
    """One commit. `taken`: how many rows may have lost a derivation; `returned`: how many of them
    have another one.
    """

    def __init__(
        self,
        schemas: Mapping[str, RelationSchema],
        rules: list[NormalRule],
        versions: Versions,
        context: Context,
        rule_change: RuleChange = NO_CHANGE,
    ):
        self.taken = self.returned = 0
        self._schemas, self._rules, self._rule_change = schemas, rules, rule_change
        self._versions, self._context = versions, context
        self._own = {base_name(name): name for name in schemas}
        read = {name for rule in rules for name in rule.reads}.union(self._own)
        self._below = [name for name in read - set(schemas) if name in versions]
        self._changed = {
            name: versions.deltas[name] for name in self._below if name in versions.deltas
        }
        self.only_grows = not (
            rule_change.went or takes_and_adds(rules, self._own, self._changed)[0]
        )

    def run(self) -> dict[str, RelationVersion]:
        """The relations as they are now. Raises what evaluation raises, and AllowanceSpentError;
        nothing given is changed.
        """
        lost = {} if self.only_grows else self._over_deleted()
        gone = (
            Returning(self._schemas, self._rules, lost, self._versions, self._context).run()
            if lost
            else lost
        )
        self.taken = sum(len(rows[0]) for rows in lost.values())
        self.returned = self.taken - sum(len(rows[0]) for rows in gone.values())
        rounds = _Rounds(self._schemas, {}, self._rules, self._versions, self._context)
        rounds.resume({name: self._without(name, gone.get(name)) for name in self._schemas})
        rounds.offer_opened(self._versions)
        rounds.offer(self._rule_change.came)
        rounds.proceed({name: delta.inserts for name, delta in self._changed.items()})
        return rounds.finish()

    def _over_deleted(self) -> dict[str, Columns]:
        """The rows of each relation that may have lost a derivation."""
        schemas = {
            name + LOST: replace(schema, name=name + LOST, key=None)
            for name, schema in self._schemas.items()
        }
        rules = [
            each for rule in self._rules for each in losing(rule, rule.relation + LOST, self._lost)
        ]
        went = [replace(rule, relation=rule.relation + LOST) for rule in self._rule_change.went]
        taken = taken_below(
            self._rules, self._lost, self._changed, self._versions, self._context.arena
        )
        read = dict.fromkeys(
            (*self._below, *self._schemas, *(name for rule in went for name in rule.reads))
        )
        before = {name: self._versions.before(name) for name in read}
        rounds = _Rounds(schemas, {}, [*rules, *went], before | taken, self._context)
        rounds.resume(
            {
                name: RelationVersion.empty(schema, self._context.arena)
                for name, schema in schemas.items()
            }
        )
        rounds.offer(went)
        rounds.proceed({name: rows.columns() for name, rows in taken.items()})
        found = rounds.finish()
        keep_orders(self._changed, before, self._versions)
        return {
            name: rows.columns() for name in self._schemas if (rows := found[name + LOST]).count
        }

    def _lost(self, name: str) -> str:
        """The name for what a relation lost."""
        return base_name(self._own[name] + LOST) if name in self._own else name + LOST

    def _without(self, name: str, rows: Columns | None) -> RelationVersion:
        version = self._versions[name]
        if rows is None:
            return version
        charge(self._context, change_of(len(rows[0]), version.count))
        return version.apply(Delta(no_rows(len(rows)), rows))


# what a change may cost that takes no more than a bootstrap (see `cost_model`): a tenth of a second
_ALWAYS = 20_000_000
# what evaluating parts may cost that nothing else is tried for: some five milliseconds
_SMALL = 1_000_000
# what a deletion, or a change of rules, may cost even where a bootstrap takes less: ten
# milliseconds
_LEAST = 2_000_000
# bootstraps that a deletion may cost by this count, which takes it for dearer than it mostly is
_WORTH = 3


def follow_by_rows(
    stratum: Stratum,
    schemas: Mapping[str, RelationSchema],
    kept: Kept | None,
    versions: Versions,
    context: Context,
    share: float = 1.0,
    rule_change: RuleChange = NO_CHANGE,
    told: bool = True,
) -> Followed | None:
    """Bring a stratum up to date by its rows alone; None where that cannot be, or is not to be
    tried.

    `share`: how much of the stratum would be evaluated instead; where that is not all, None too for
    what takes more than it is worth. `told`: whether the change itself told which parts those are,
    so that they hold no more than has to do with it. `rule_change`: how its rules are others than
    those that its rows follow from. Raises what evaluation raises; nothing given is changed.
    """
    if not isinstance(kept, RowsAlone) or not countable(stratum):
        return None
    if (
        not context.keep
        or not 0 < context.fraction < math.inf
        or any(schema.choice for schema in schemas.values())
    ):
        return None
    change = changes_below(stratum, versions)
    instead = int(share * kept.work) + (kept.rounds if share < 1 else 0)
    if change.large(context) or (share < 1 and told and instead <= _SMALL):
        return None
    rules = [rule for rule in stratum.rules if isinstance(rule, NormalRule)]
    rederivation = Rederivation(schemas, rules, versions, context, rule_change)
    takes = not rederivation.only_grows
    if (takes and _counts_are_due(kept)) or (
        (takes or share < 1) and change.hopeless(instead, kept.steps, context)
    ):
        return None
    least = (
        max(_LEAST, min(_ALWAYS, kept.work // 2))
        if rule_change
        else _least(kept, instead, takes, share, told)
    )
    context.allowance = allowed = max(least, int(context.fraction * instead))
    try:
        found = rederivation.run()
        spent = allowed - (context.allowance or 0)
    except AllowanceSpentError:
        context.allowance = None
        if share < 1:
            return None
        anew = rows_alone(schemas, rules, versions, context, kept, "fallback")
        return _regretted(anew, allowed) if takes else anew
    except (ValueRangeError, OverflowError):
        return None  # evaluation from nothing decides about failures
    finally:
        context.allowance = None
    wasted = spent if 2 * rederivation.returned > rederivation.taken else 0
    deltas = {name: version.difference(versions[name]) for name, version in found.items()}
    after = replace(kept, regret=kept.regret + wasted)
    return Followed(
        deltas,
        after,
        "update",
        change.rows,
        versions={name: _settled(version) for name, version in found.items()},
    )


def _least(kept: RowsAlone, instead: int, takes: bool, share: float, told: bool) -> int:
    """What following may cost in any case. What is taken away may be all that there is, which may
    be found anew at once.
    """
    if share < 1:
        return max(min(ALWAYS, instead), 0 if told else _LEAST)
    return min(_ALWAYS, max(_LEAST, _WORTH * kept.work)) if takes and kept.work else _ALWAYS


def _counts_are_due(kept: RowsAlone) -> bool:
    """Whether what may take rows away is to be followed by counts, if at all."""
    return kept.failures > 0 or kept.regret > max(_ALWAYS, kept.counting)


def _regretted(anew: Followed, spent: int) -> Followed:
    """A stratum that was found anew after so much was spent on following it, knowing what counts
    would have saved.
    """
    if not isinstance(anew.kept, RowsAlone):
        return anew
    saved = spent + anew.kept.work - TOUCHED * sum(map(len, anew.deltas.values()))
    return replace(anew, kept=replace(anew.kept, regret=anew.kept.regret + max(0, saved)))


def _settled(version: RelationVersion) -> RelationVersion:
    """The relation with every key order brought up to date: of many rounds each would have a change
    waiting.
    """
    return RelationVersion.of_orders(
        version.schema, version.identity.arena, version.kept_orders(0), version.known_bounds
    )


def taken_over(versions: Versions, relations: Iterable[str]) -> RowsAlone:
    """What is kept of a stratum whose relations were derived by others until now: at least that
    many rows were found and stored.
    """
    rows = sum(versions.before(name).count for name in relations)
    return RowsAlone(work=(ROW_ALONE + STEP) * rows, counting=(ROW + STEP + PROOF) * rows)
