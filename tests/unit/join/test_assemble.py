"""The words that the kernel reads say what the plan says."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from lftj.join.kernels import layout_kernels as at
from lftj.join.kernels import operation_kernels as code
from lftj.join.plan.cardinality import Statistics
from lftj.join.plan.plan import RulePlan
from lftj.join.plan.planner import make_plan
from lftj.join.run.assemble import Assembly
from lftj.program.normal_form import Apply, Ref, Value
from lftj.scantree import Arena
from lftj.types import INT, STR
from lftj.types.dictionary import Dictionary
from tests.unit.join.bodies import Body, Term, relations
from tests.unit.join.random_rules import database, random_rows, random_rule

SIZES = {"e": (20, 5, 5), "f": (20, 5, 5), "t": (30, 5, 5, 5), "n": (4, 4), "none": (0, 1)}


class Words:
    """The plan's words, read by table."""

    def __init__(self, words: np.ndarray):
        self.words = words

    def record(self, table: int, number: int, size: int) -> list[int]:
        start = int(self.words[table]) + number * size
        return self.words[start : start + size].tolist()

    def level(self, number: int) -> list[int]:
        return self.record(at.LEVEL_TABLE, number, at.LEVEL_RECORD)

    def part(self, number: int) -> list[int]:
        return self.record(at.PART_TABLE, number, at.PART_RECORD)

    def filter(self, number: int) -> list[int]:
        return self.record(at.FILTER_TABLE, number, at.FILTER_RECORD)

    def probe(self, number: int) -> list[int]:
        return self.record(at.PROBE_TABLE, number, at.PROBE_RECORD)

    def arguments(self, first: int, last: int) -> list[list[int]]:
        return [
            self.record(at.ARGUMENT_TABLE, number, at.ARGUMENT_RECORD)
            for number in range(first, last)
        ]

    def code(self, start: int) -> list[int]:
        """The code from a place to its end; constants and bindings are followed by a word that is
        no operation.
        """
        place = int(self.words[at.CODE_TABLE]) + start
        found: list[int] = []
        while self.words[place] != code.END_CODE:
            width = 2 if self.words[place] in (code.PUSH_CONSTANT, code.PUSH_BINDING) else 1
            found += self.words[place : place + width].tolist()
            place += width
        return found


def assembled(
    body: Body, order: str, needed: str = "", count: bool = True
) -> tuple[RulePlan, Assembly, Words]:
    data = relations(SIZES)
    plan = make_plan(
        body.rule,
        body.numbers(needed),
        data,
        Statistics(),
        count=count,
        forced=tuple(order.split()),
    )
    assembly = Assembly(plan, data, Dictionary())
    return plan, assembly, Words(assembly.words)


def parts_of_levels(words: Words, levels: int) -> list[range]:
    return [
        range(words.level(number)[at.LEVEL_FIRST], words.level(number)[at.LEVEL_LAST])
        for number in range(levels)
    ]


def test_random_plans_are_decoded_from_their_words():
    by = random.Random(9)
    for _ in range(150):
        rule = random_rule(by)
        data = database(random_rows(by), Arena())
        needed = tuple(by.sample(range(len(rule.variables)), by.randrange(len(rule.variables) + 1)))
        plan = make_plan(rule, needed, data, Statistics(), count=by.random() < 0.5)
        assembly = Assembly(plan, data, Dictionary())
        words = Words(assembly.words)
        assert words.words[at.LEVELS] == len(plan.levels)
        assert words.words[at.EMIT_LEVEL] == plan.emit_level
        assert words.words[at.SHORT_CIRCUIT] in ((0,) if plan.count else (1, 2))
        outputs = [
            words.record(at.OUTPUT_TABLE, number, 1)[0]
            for number in range(int(words.words[at.OUTPUTS]))
        ]
        assert outputs == list(plan.outputs)
        assert assembly.empty == any(not data[atom.relation].count for atom in plan.atoms)
        check_parts(plan, assembly, words, data)


def check_parts(plan: RulePlan, assembly: Assembly, words: Words, data: dict) -> None:
    """Each column of each atom takes part once, at its level, reads its tree, and leads to the
    next; invariant parts come first.
    """
    levels = parts_of_levels(words, len(plan.levels))
    assert [part for level in levels for part in level] == list(range(int(words.words[at.PARTS])))
    level_of = {part: number for number, level in enumerate(levels) for part in level}
    for number, atom in enumerate(plan.atoms):
        tree = data[atom.relation].tree(atom.order)
        parts = assembly.parts_of(number)
        assert [level_of[part] for part in parts] == list(atom.levels)
        for column, part in enumerate(parts):
            child = parts[column + 1] if column + 1 < len(parts) else -1
            found = words.part(part)
            assert found[: at.PART_CHILD + 1] == [tree.root, tree.height, column, child]
            invariant = column == 0 or atom.levels[column - 1] < atom.levels[column] - 1
            place = part - levels[atom.levels[column]].start
            assert invariant == (place < words.level(atom.levels[column])[at.LEVEL_INVARIANT])


def test_invariant_parts_stand_first():
    _, assembly, words = assembled(Body("x y z", [("e", "yz"), ("e", "xy"), ("f", "xz")]), "x y z")
    assert words.level(2)[at.LEVEL_INVARIANT] == 1
    assert words.level(2)[at.LEVEL_FIRST] == assembly.parts_of(2)[1], (
        "f(x, ·) does not change with y"
    )


def test_a_level_is_fast_when_nothing_is_tested_or_computed_there():
    body = Body("x y z", [("t", "xyz")], filters=[("<", "x", "y")], negated=[("n", "z")])
    _, _, words = assembled(body, "x y z")
    assert [words.level(number)[at.LEVEL_FAST] for number in range(3)] == [1, 0, 0]


def test_plain_comparisons_come_before_arithmetic_and_both_before_probes():
    dividing = Apply("/", (Value(6, INT), Ref(0)), INT)
    body = Body(
        "x y",
        [("e", "xy")],
        assignments=[("y", dividing)],
        filters=[("!=", "x", 0)],
        negated=[("n", "x")],
    )
    _, _, words = assembled(body, "y x")
    first, last = words.level(1)[at.LEVEL_FILTER_FIRST : at.LEVEL_FILTER_LAST + 1]
    tests = [words.filter(number) for number in range(first, last)]
    assert [test[at.FILTER_PROBE] for test in tests] == [-1, -1, 0]
    assert words.code(tests[0][at.FILTER_CODE]) == [
        code.PUSH_BINDING,
        1,
        code.PUSH_CONSTANT,
        0,
        code.NOT_EQUAL,
    ]
    division = [code.PUSH_CONSTANT, 6, code.PUSH_BINDING, 1, code.DIVIDE]
    assert words.code(tests[1][at.FILTER_CODE]) == [code.PUSH_BINDING, 0, *division, code.EQUAL]


def test_a_computed_level_has_its_code_and_no_other_has():
    doubled = Apply("+", (Ref(0), Ref(0)), INT)
    _, _, words = assembled(Body("x y", [("e", [4, "x"])], assignments=[("y", doubled)]), "x y")
    values = [words.level(number)[at.LEVEL_VALUE] for number in range(3)]
    assert words.code(values[0]) == [code.PUSH_CONSTANT, 4]
    assert values[1] == -1
    assert words.code(values[2]) == [code.PUSH_BINDING, 1, code.PUSH_BINDING, 1, code.ADD]


@pytest.mark.parametrize(("operator", "kind"), [("bxor", 1), ("/", 2)])
def test_the_search_for_one_proof_goes_on_where_arithmetic_may_fail(operator: str, kind: int):
    body = Body(
        "x y z",
        [("e", "xy"), ("n", "z")],
        assignments=[("z", Apply(operator, (Ref(1), Ref(0)), INT))],
    )
    assert assembled(body, "x y z", "x", count=False)[2].words[at.SHORT_CIRCUIT] == kind
    assert assembled(body, "x y z", "x")[2].words[at.SHORT_CIRCUIT] == 0
    assert assembled(body, "x y z", "x y z", count=False)[2].words[at.SHORT_CIRCUIT] == 1


def test_operands_stand_before_their_operation():
    least = Apply(
        "min", (Apply("min", (Ref(0), Ref(1)), INT), Apply("neg", (Value(3, INT),), INT)), INT
    )
    _, _, words = assembled(Body("x y z", [("e", "xy")], assignments=[("z", least)]), "x y z")
    inner = [code.PUSH_BINDING, 0, code.PUSH_BINDING, 1, code.LEAST]
    assert words.code(words.level(2)[at.LEVEL_VALUE]) == [
        *inner,
        code.PUSH_CONSTANT,
        3,
        code.NEGATE,
        code.LEAST,
    ]


def test_probes_look_up_levels_and_constants():
    body = Body("x y", [("e", "xy")], negated=[("t", ["y", 5, None]), ("e", [1, 2])])
    plan, _, words = assembled(body, "x y")
    first = words.probe(0)
    assert words.arguments(*first[at.PROBE_FIRST : at.PROBE_LAST + 1]) == [[1, 0], [-1, 5]]
    second = words.probe(1)
    assert words.arguments(*second[at.PROBE_FIRST : at.PROBE_LAST + 1]) == [[-1, 1], [-1, 2]]
    assert [each[at.PROBE_CONSTANT] for each in (first, second)] == [0, 1]
    assert [len(probe.args) for probe in plan.probes] == [2, 2]


@pytest.mark.parametrize("atoms", [[("n", "x")], [("t", ["x", 1, 1]), ("e", ["x", "x"])]])
def test_a_fresh_state_has_room_for_everything_and_stands_at_the_beginning(atoms: list):
    _, assembly, words = assembled(Body("x", atoms), "x")
    state = assembly.fresh_state()
    parts, levels = int(words.words[at.PARTS]), int(words.words[at.LEVELS])
    assert state[at.PART_STATES] >= at.STATE_HEADER
    assert state[at.BINDINGS] >= state[at.PART_STATES] + at.PART_STATE * parts
    assert state[at.STACK] >= state[at.BINDINGS] + levels
    assert len(state) > state[at.STACK]
    assert (state[at.DEPTH], state[at.PHASE], state[at.STEPS], state[at.ROWS]) == (0, at.OPEN, 0, 0)


def test_a_relation_without_rows_is_noticed():
    assert assembled(Body("x", [("n", "x"), ("none", "x")]), "x")[1].empty
    assert not assembled(Body("x", [("n", "x")], negated=[("none", "x")]), "x")[1].empty


@pytest.mark.parametrize(
    ("operator", "left", "right", "bounds"),
    [
        ("<", "y", "x", 1),
        ("<=", "y", 3, 1),
        (">", "x", "y", 1),
        (">=", 3, "y", 1),
        (">", "y", "x", 0),
        ("!=", "y", "x", 0),
        ("<", "x", 3, 1),
    ],
)
def test_a_comparison_that_bounds_its_level_from_above_ends_it(
    operator: str, left: str, right: int | str, bounds: int
):
    body = Body("x y", [("e", "xy")], filters=[(operator, left, right)])  # type: ignore[list-item]
    _, _, words = assembled(body, "x y", "x y")
    assert words.filter(0)[at.FILTER_BOUNDS] == bounds


@pytest.mark.parametrize(
    ("condition", "bounds", "value"),
    [
        ((">", "y", "x"), 0, [code.PUSH_BINDING, 0, code.PUSH_CONSTANT, 1, code.ADD]),
        (("<=", "x", "y"), 0, [code.PUSH_BINDING, 0]),
        (
            ("<", "x", ("+", "y", 3)),
            0,
            [
                code.PUSH_BINDING,
                0,
                code.PUSH_CONSTANT,
                3,
                code.SUBTRACT,
                code.PUSH_CONSTANT,
                1,
                code.ADD,
            ],
        ),
        (
            (">=", ("+", 3, "y"), "x"),
            0,
            [code.PUSH_BINDING, 0, code.PUSH_CONSTANT, 3, code.SUBTRACT],
        ),
        ((">=", ("-", "y", 3), "x"), 0, [code.PUSH_BINDING, 0, code.PUSH_CONSTANT, 3, code.ADD]),
        (
            ("<=", ("-", "x", "y"), 3),
            0,
            [code.PUSH_BINDING, 0, code.PUSH_CONSTANT, 3, code.SUBTRACT],
        ),
        (("<=", ("-", "y", "x"), 3), 2, None),
        (("<", ("+", "x", "y"), 3), 2, None),
        ((">", ("-", "x", "y"), 3), 2, None),
        ((">", ("*", "x", "y"), 3), 0, None),
        ((">", ("+", "y", "y"), 3), 0, None),
        ((">", "y", ("+", "y", 3)), 0, None),
    ],
)
def test_a_comparison_says_from_which_value_it_holds(
    condition: tuple[str, Term, Term], bounds: int, value: list[int] | None
):
    body = Body("x y", [("e", "xy")], filters=[condition])
    _, _, words = assembled(body, "x y", "x y")
    found = words.filter(0)
    assert found[at.FILTER_BOUNDS] == bounds
    assert (
        (found[at.FILTER_LEAST] < 0)
        if value is None
        else (words.code(found[at.FILTER_LEAST]) == value)
    )


def test_texts_ascend_by_code_and_are_not_bounded():
    body = Body("x y", [("e", "xy")], filters=[("<", "y", "x")])
    rule = replace(
        body.rule, variables=tuple(replace(variable, type=STR) for variable in body.rule.variables)
    )
    plan = make_plan(rule, (0, 1), relations(SIZES), Statistics(), count=True, forced=("x", "y"))
    assert (
        Words(Assembly(plan, relations(SIZES), Dictionary()).words).filter(0)[at.FILTER_BOUNDS] == 0
    )
