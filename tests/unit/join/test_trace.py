"""The trace log: the same as a slow triejoin's, whatever the room, and enough to find
every change.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pytest

from lftj.errors import ValueRangeError
from lftj.join.plan.plan import RulePlan
from lftj.join.plan.planner import make_plan
from lftj.join.run import run
from lftj.join.run.assemble import Assembly
from lftj.join.run.evaluate import chunks
from lftj.join.run.log_buffer import EXACT, HULL, Logged
from lftj.join.run.log_buffer import Channel as Described
from lftj.partition.executor import ThreadExecutor
from lftj.program.normal_form import NegatedAtom, NormalRule, PositiveAtom, Ref, RuleVariable
from lftj.scantree import Arena
from lftj.tuning import DEFAULT, Tuning
from lftj.types import INT
from tests.retuning import constants
from tests.unit.join.evaluating import surroundings
from tests.unit.join.random_rules import (
    DOMAIN,
    HIGHEST,
    LOWEST,
    Row,
    Rows,
    database,
    random_order,
    random_rows,
    random_rule,
)
from tests.unit.join.slow_triejoin import Channel, SlowTriejoin, Touch, last_column

ASKED = sorted(
    {value + step for value in DOMAIN for step in (-1, 0, 1) if LOWEST <= value + step <= HIGHEST}
)
ROOMS = {
    "plenty": DEFAULT,
    "little": Tuning(run_rows=3, run_steps=1),
    "little log": DEFAULT,
}
Coverage = set[tuple[Channel, Row, int]]


@dataclass
class Records:
    """A sink that keeps everything, also of parts that are logged at the same time."""

    channels: list[Described]
    touches: list[Touch] = field(default_factory=list)

    def __call__(self, columns: np.ndarray) -> None:
        for channel, low, high, *bindings in columns.T.tolist():
            about = self.channels[channel]
            self.touches.append((about[:3], tuple(bindings[: about.level]), low, high))

    def fresh(self) -> Records:
        return Records(self.channels)

    def absorb(self, part: Records) -> None:
        self.touches += part.touches


@dataclass
class Case:
    """A plan, the rows it runs on, and what is logged."""

    plan: RulePlan
    rows: Rows
    logged: Logged

    def run(
        self, threads: ThreadExecutor | None = None, tuning: Tuning = DEFAULT
    ) -> tuple[list[Touch], Counter[Row]]:
        """The records, and the output rows with their proofs. ValueRangeError when arithmetic
        fails.
        """
        arena = Arena()
        context = surroundings(arena, tuning, threads=threads)
        relations = database(self.rows, arena)
        assembly = Assembly(self.plan, relations, context.resources.dictionary, self.logged)
        log = Records(assembly.channels)
        found: Counter[Row] = Counter()
        for piece in chunks(self.plan, relations, context, log=log, assembly=assembly):
            for *row, proofs in piece.T.tolist():
                found[tuple(row)] += proofs
        return log.touches, found

    def modes(self) -> dict[Channel, int]:
        """The mode of each channel."""
        found = {("atom", *part): mode for part, mode in self.logged.atoms.items()}
        for depth, level in enumerate(self.plan.levels):
            for probe in level.probes:
                if probe in self.logged.probes:
                    found["probe", probe, last_column(self.plan, probe, depth)] = (
                        self.logged.probes[probe]
                    )
        return found


def slow_run(case: Case) -> SlowTriejoin | None:
    """A slow run of a case; None when arithmetic fails, which must be so in a run of
    the case too.
    """
    slow = SlowTriejoin(case.plan, case.rows, case.logged.atoms)
    if not slow.failed:
        return slow
    with pytest.raises(ValueRangeError):
        case.run()
    return None


def random_case(by: random.Random, modes: tuple[int, ...]) -> Case:
    rule, rows = random_rule(by), random_rows(by)
    relations = database(rows, Arena())
    context = surroundings(Arena())
    names = [variable.name for variable in rule.variables]
    needed = tuple(by.sample(range(len(names)), by.randrange(len(names) + 1)))
    plan = make_plan(
        rule,
        needed,
        relations,
        context.statistics,
        count=by.random() < 0.4,
        forced=random_order(by, rule),
    )
    chance = by.choice((0.3, 0.8, 1))
    parts = [
        (number, column)
        for number, atom in enumerate(plan.atoms)
        for column in range(len(atom.levels))
    ]
    atoms = {part: by.choice(modes) for part in parts if by.random() < chance}
    probes = {probe: by.choice(modes) for probe in range(len(plan.probes)) if by.random() < chance}
    return Case(plan, rows, Logged(atoms, probes, by.choice((0, 0, 0, 1, 2))))


def covered(touches: list[Touch]) -> Coverage:
    return {
        (channel, context, value)
        for channel, context, low, high in touches
        for value in ASKED
        if low <= value <= high
    }


def needed(coverage: Coverage, slow: SlowTriejoin) -> Coverage:
    """Without the values of atoms that a comparison rejects, and all below: what was logged of them
    before it was asked may stay.
    """
    return {
        item
        for item in coverage
        if item[0][0] == "probe" or item[2] >= slow.passed_over.get(item[1], LOWEST)
    }


def as_logged(case: Case, touches: list[Touch]) -> list[Touch]:
    """Select the touches that are to be logged: of HULL channels one interval per context."""
    modes = case.modes()
    kept = [
        touch for touch in touches if touch[0] in modes and len(touch[1]) >= case.logged.log_from
    ]
    hulls: dict[tuple[Channel, Row], tuple[int, int]] = {}
    for channel, context, low, high in kept:
        if modes[channel] == HULL:
            before = hulls.get((channel, context), (low, high))
            hulls[channel, context] = min(low, before[0]), max(high, before[1])
    exact = [touch for touch in kept if modes[touch[0]] == EXACT]
    return exact + [(*where, *interval) for where, interval in hulls.items()]


@pytest.mark.parametrize("room", ROOMS)
def test_the_log_covers_what_a_slow_triejoin_depends_on(room: str):
    by = random.Random(room)
    for _ in range(150):
        case = random_case(by, (EXACT, HULL))
        if (slow := slow_run(case)) is None:
            continue
        with constants(run, _RUN_RECORDS=1 << 14 if room == "plenty" else 1):
            records, _ = case.run(tuning=ROOMS[room])
        assert needed(covered(records), slow) == needed(
            covered(as_logged(case, slow.touched)), slow
        )
        modes = case.modes()
        hulls = [(channel, context) for channel, context, *_ in records if modes[channel] == HULL]
        assert len(set(hulls)) == len(hulls)


def test_logging_changes_no_result():
    by = random.Random(3)
    for _ in range(150):
        case = random_case(by, (EXACT, HULL))
        if (slow := slow_run(case)) is None:
            continue
        expected = Counter(
            tuple(proof[level] for level in case.plan.outputs) for proof in slow.proofs
        )
        _, found = case.run()
        assert found == (
            expected
            if case.plan.count
            else Counter(dict.fromkeys(expected, 1))
            if distinct(case.plan)
            else found
        )
        assert found.keys() == expected.keys()


def distinct(plan: RulePlan) -> bool:
    """Test for outputs that distinguish the bindings of the levels before `emit_level`."""
    return all(
        level in plan.outputs
        for level in range(plan.emit_level)
        if plan.levels[level].value is None
    )


@pytest.mark.parametrize("parts", [None, 2, 7])
def test_every_value_is_covered_by_all_or_by_a_witness(parts: int | None):
    by = random.Random(4)
    threads = parts and ThreadExecutor(2, parts=parts, patience=1)
    for _ in range(300):
        case = random_case(by, (EXACT, HULL))
        case.logged = Logged(case.logged.atoms, case.logged.probes)
        if (slow := slow_run(case)) is None:
            continue
        records, _ = case.run(threads)
        coverage = covered(records)
        for context, stopped in slow.visited.items():
            for value in ASKED:
                if stopped is None or value <= stopped:
                    check_value(case, slow, coverage, context, value)


def check_value(
    case: Case, slow: SlowTriejoin, coverage: Coverage, context: Row, value: int
) -> None:
    """The invariant: if the value is a match all participants cover it, if not one that lacks it
    does. What is not logged covers all.
    """
    depth = len(context)
    level = case.plan.levels[depth]
    slow.bindings = list(context)
    slow.unknown = slow.unknown_in[context]
    computed = None if level.value is None else slow.value_of(level.value)
    unknown = level.value is not None and computed is None and not slow.parts(depth)
    if unknown or (computed is not None and value != computed):
        return
    lacking: dict[Channel, bool] = {
        ("atom", *part): value not in slow.values(part) for part in slow.parts(depth)
    }
    slow.bindings.append(value)
    if slow.rejected(level):
        return
    for probe in level.probes:
        lacking["probe", probe, last_column(case.plan, probe, depth)] = slow.present(probe) is True
    modes = case.modes()
    covering = {
        channel: channel not in modes or (channel, context, value) in coverage
        for channel in lacking
    }
    if any(lacking.values()):
        assert any(lacking[channel] and covering[channel] for channel in lacking)
    else:
        assert all(covering.values())


# ── by hand ───────────────────────────────────────────────────────────────────────────────────────
def unary(*names: str, negated: tuple[str, ...] = ()) -> NormalRule:
    atoms = tuple(PositiveAtom(name, (Ref(0),)) for name in names)
    return NormalRule(
        1,
        "r",
        (),
        (RuleVariable("x", INT),),
        atoms,
        tuple(NegatedAtom(name, (Ref(0),)) for name in negated),
    )


def logged_by(
    rule: NormalRule,
    rows: dict[str, set[int]],
    logged: Logged,
    *,
    count: bool = True,
    needed: tuple[int, ...] = (0,),
    tuning: Tuning = DEFAULT,
):
    """The intervals of each channel."""
    stored: Rows = {name: {(value,) for value in values} for name, values in rows.items()}
    arena = Arena()
    relations = {name: database({"g": found}, arena)["g"] for name, found in stored.items()}
    context = surroundings(arena, tuning)
    plan = make_plan(rule, needed, relations, context.statistics, count=count)
    assembly = Assembly(plan, relations, context.resources.dictionary, logged)
    channels = assembly.channels
    intervals: dict[str, list[tuple[int, int]]] = {}

    def log(columns: np.ndarray) -> None:
        for channel, low, high in columns[:3].T.tolist():
            intervals.setdefault(f"{channels[channel].kind} {channels[channel].atom}", []).append(
                (low, high)
            )

    for _ in chunks(plan, relations, context, log=log, assembly=assembly):
        pass
    return intervals


def test_two_sets_that_share_little():
    rows = {"a": {0, 4, 20, 30}, "b": {10, 20, 21, 40}}
    both = logged_by(unary("a", "b"), rows, Logged({(0, 0): EXACT, (1, 0): EXACT}))
    # a leads, opens at 0, b sought for 0 is at 10; a sought for 10 lands on 20, b too; a goes on to
    # 30, b sought for 30 lands on 40; a ends
    assert both == {
        "atom 0": [(LOWEST, 0), (10, 30), (40, HIGHEST)],
        "atom 1": [(0, 10), (20, 20), (30, 40)],
    }
    hull = logged_by(unary("a", "b"), rows, Logged({(0, 0): HULL, (1, 0): HULL}))
    assert hull == {"atom 0": [(LOWEST, HIGHEST)], "atom 1": [(0, 40)]}


def test_a_search_broken_off_for_want_of_room_logs_the_same():
    by = random.Random(5)
    rows = {name: set(by.sample(range(300), 60)) for name in "abc"}
    logged = Logged({(atom, 0): EXACT for atom in range(3)})
    expected = logged_by(unary("a", "b", "c"), rows, logged)
    with constants(run, _RUN_RECORDS=1):
        assert logged_by(unary("a", "b", "c"), rows, logged) == expected


def test_a_pinned_value_is_logged_as_a_point_and_its_landing():
    rows = {"a": {1, 5, 9}, "b": {2, 7}, "pin": {5}}
    logged = logged_by(unary("a", "b", "pin"), rows, Logged({(0, 0): EXACT, (1, 0): EXACT}))
    assert logged == {"atom 0": [(5, 5)], "atom 1": [(5, 7)]}


def test_a_search_that_stops_at_the_first_proof_is_logged_up_to_it():
    rows = {"a": {1, 5, 9}, "b": {5, 9}}
    logged = logged_by(
        unary("a", "b"), rows, Logged({(0, 0): EXACT, (1, 0): EXACT}), count=False, needed=()
    )
    assert logged == {"atom 0": [(LOWEST, 1), (5, 5)], "atom 1": [(1, 5)]}


def test_a_negated_atom_is_logged_where_it_is_asked():
    rows = {"a": {1, 5, 6}, "n": {5, 70}}
    assert logged_by(unary("a", negated=("n",)), rows, Logged(probes={0: EXACT})) == {
        "probe 0": [(1, 1), (5, 6)]
    }
    assert logged_by(unary("a", negated=("n",)), rows, Logged(probes={0: HULL})) == {
        "probe 0": [(1, 6)]
    }


def test_an_empty_relation_witnesses_everything():
    logged = logged_by(
        unary("a", "b"), {"a": {1, 5}, "b": set()}, Logged({(0, 0): EXACT, (1, 0): EXACT})
    )
    assert logged == {"atom 0": [(LOWEST, 1)], "atom 1": [(LOWEST, HIGHEST)]}
