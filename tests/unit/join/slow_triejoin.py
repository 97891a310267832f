"""A triejoin over Python sets that logs what it depends on, and random rules and rows to run it on. Slow and plain on purpose."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from lftj.join.plan import Level, RulePlan
from lftj.program.normal_form import (
    Apply,
    Assignment,
    Expression,
    Filter,
    NegatedAtom,
    NormalRule,
    PositiveAtom,
    Ref,
    RelationSchema,
    RuleVariable,
    Value,
)
from lftj.storage.relation import RelationVersion
from lftj.types import INT
from scantree import Arena

LOWEST, HIGHEST = -(2**63), 2**63 - 1
DOMAIN = (LOWEST, -7, 0, 1, 2, 3, 5, HIGHEST)
ARITIES = {"e": 2, "f": 2, "g": 1, "t": 3, "o": 0}
COMPARE = {"=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}

Row = tuple[int, ...]
Rows = dict[str, set[Row]]
Channel = tuple[str, int, int]
Touch = tuple[Channel, Row, int, int]


def random_rule(by: random.Random) -> NormalRule:
    """One to four atoms over up to four variables; constants, repeated variables, negated atoms, a comparison, a computed variable."""
    variables = by.randrange(1, 5)

    def argument(constants: float = 0.15) -> Ref | Value:
        return Value(by.choice(DOMAIN), INT) if by.random() < constants else Ref(by.randrange(variables))

    names = by.choices(list(ARITIES), weights=(5, 4, 3, 2, 0.3), k=by.randrange(1, 5))
    atoms = [PositiveAtom(name, tuple(argument() for _ in range(ARITIES[name]))) for name in names]
    bound = {term.variable for atom in atoms for term in atom.args if isinstance(term, Ref)}
    atoms += [PositiveAtom("g", (Ref(v),)) for v in range(variables) if v not in bound]
    negated = [
        NegatedAtom(name, tuple(None if by.random() < 0.2 else argument() for _ in range(ARITIES[name])))
        for name in by.choices(list(ARITIES), k=by.choice((0, 0, 1, 1, 2)))
    ]
    filters = [Filter(by.choice(list(COMPARE)), Ref(by.randrange(variables)), argument(0.4)) for _ in range(by.choice((0, 0, 1)))]
    assignments = []
    if by.random() < 0.3:
        target = by.randrange(variables + 1)
        assignments.append(Assignment(target, Apply("bxor", (Ref(by.randrange(variables)), Value(1, INT)), INT)))
        variables = max(variables, target + 1)
    names_of = tuple(RuleVariable(f"v{i}", INT) for i in range(variables))
    return NormalRule(1, "r", (), names_of, tuple(atoms), tuple(negated), tuple(assignments), tuple(filters))


def random_rows(by: random.Random) -> Rows:
    """Rows over DOMAIN; some relations are empty."""
    return {
        name: {tuple(by.choice(DOMAIN) for _ in range(arity)) for _ in range(by.choice((0, 4, 12, 30)) if by.random() < 0.9 else 0)}
        for name, arity in ARITIES.items()
    }


def database(rows: Rows, arena: Arena) -> dict[str, RelationVersion]:
    """The rows as relations."""
    relations = {}
    for name, found in rows.items():
        schema = RelationSchema(name, tuple((f"c{i}", INT) for i in range(ARITIES[name])))
        stored = sorted(row or (0,) for row in found)
        columns = [np.array([row[i] for row in stored], np.int64) for i in range(max(1, ARITIES[name]))]
        relations[name] = RelationVersion.build(schema, arena, columns)
    return relations


class SlowTriejoin:
    """One run of a plan over rows. `touched`: what it depends on; `visited`: per context the value its search was stopped at, or None."""

    def __init__(self, plan: RulePlan, rows: Rows, logged: Mapping[tuple[int, int], int]):
        self.plan = plan
        self.logged = logged
        self.rows = rows
        self.bindings: list[int] = []
        self.touched: list[Touch] = []
        self.visited: dict[Row, int | None] = {}
        self.proofs: list[Row] = []
        self.search(0)

    # ── what a level is made of ───────────────────────────────────────────────────────────────────────────────────────
    def parts(self, level: int) -> list[tuple[int, int]]:
        """(atom, column) of a level, those whose range the level above does not change first."""
        found = [(number, atom.levels.index(level)) for number, atom in enumerate(self.plan.atoms) if level in atom.levels]
        return sorted(found, key=lambda part: part[1] > 0 and self.plan.atoms[part[0]].levels[part[1] - 1] == level - 1)

    def stored(self, relation: str, order: Sequence[int]) -> list[Row]:
        return [tuple((row or (0,))[c] for c in order) for row in self.rows[relation]]

    def values(self, part: tuple[int, int]) -> list[int]:
        """The values of a part in the present context."""
        atom, column = self.plan.atoms[part[0]], part[1]
        prefix = tuple(self.bindings[level] for level in atom.levels[:column])
        return sorted({row[column] for row in self.stored(atom.relation, atom.order) if row[:column] == prefix})

    def value_of(self, expression: Expression) -> int:
        if isinstance(expression, Value):
            return int(expression.value)  # type: ignore[call-overload]
        if isinstance(expression, Ref):
            return self.bindings[next(i for i, level in enumerate(self.plan.levels) if level.variable == expression.variable)]
        left, right = map(self.value_of, expression.args)
        return left ^ right

    def rejected(self, level: Level) -> bool:
        """By a comparison."""
        return not all(COMPARE[f.operator](self.value_of(f.left), self.value_of(f.right)) for f in level.filters)

    def present(self, probe: int) -> bool:
        """Whether a negated atom has its tuple."""
        planned = self.plan.probes[probe]
        sought = tuple(map(self.value_of, planned.args))
        return any(row[: len(sought)] == sought for row in self.stored(planned.relation, planned.order))

    # ── the search ────────────────────────────────────────────────────────────────────────────────────────────────────
    def touch(self, kind: str, atom: int, column: int, low: int, high: int, depth: int) -> None:
        self.touched.append(((kind, atom, column), tuple(self.bindings[:depth]), low, high))

    def search(self, depth: int) -> bool:
        """Whether there is a proof below; stops at the first when the plan does."""
        if depth == len(self.plan.levels):
            self.proofs.append(tuple(self.bindings))
            return True
        self.visited[tuple(self.bindings)] = None
        found = False
        for value in self.candidates(depth):
            context = tuple(self.bindings)
            self.bindings.append(value)
            proved = self.admitted(depth) and self.search(depth + 1)
            self.bindings.pop()
            found |= proved
            if proved and not self.plan.count and depth >= self.plan.emit_level:
                self.visited[context] = value
                break
        return found

    def admitted(self, depth: int) -> bool:
        if self.rejected(self.plan.levels[depth]):
            return False
        for probe in self.plan.levels[depth].probes:
            column = last_column(self.plan, probe, depth)
            value = self.bindings[depth]
            self.touch("probe", probe, column, *((value, value) if column >= 0 else (LOWEST, HIGHEST)), depth)
            if self.present(probe):
                return False
        return True

    def candidates(self, depth: int):
        """The values that all parts of a level have, as a leapfrog search finds them: nothing is looked at before it is asked for."""
        parts = self.parts(depth)
        lists = [self.values(part) for part in parts]
        leader = next((i for i, part in enumerate(parts) if part not in self.logged), 0)
        computed = self.plan.levels[depth].value

        def touch(i: int, low: int, high: int) -> None:
            self.touch("atom", *parts[i], low, high, depth)

        def landing(i: int, value: int) -> int | None:
            return next((v for v in lists[i] if v >= value), None)

        for i, values in enumerate(lists):
            if not values or (computed is None and parts[leader] in self.logged):
                touch(i, LOWEST, values[0] if values else HIGHEST)
            if not values:
                return
        if computed is not None:
            yield from self.meeting(self.value_of(computed), len(parts), touch, landing)
            return
        value: int | None = lists[leader][0]
        while value is not None:
            value = leapfrog(value, leader, len(parts), touch, landing)
            if value is None:
                return
            yield value
            following = next((v for v in lists[leader] if v > value), None)
            touch(leader, value, HIGHEST if following is None else following)
            value = following

    def meeting(self, value: int, parts: int, touch: Callable[[int, int, int], None], landing: Callable[[int, int], int | None]):
        for i in range(parts):
            found = landing(i, value)
            touch(i, value, HIGHEST if found is None else found)
            if found != value:
                return
        yield value


def leapfrog(
    value: int, leader: int, parts: int, touch: Callable[[int, int, int], None], landing: Callable[[int, int], int | None]
) -> int | None:
    """The least value from here on that all parts have; the part at `leader` stands at `value`."""
    agreeing, part = 1, leader
    while agreeing < parts:
        part = (part + 1) % parts
        found = landing(part, value)
        touch(part, value, HIGHEST if found is None else found)
        if found is None:
            return None
        agreeing = agreeing + 1 if found == value else 1
        value = found
    return value


def last_column(plan: RulePlan, probe: int, depth: int) -> int:
    """The last column of a negated atom's key order that level `depth` binds, or −1."""
    variable = plan.levels[depth].variable
    return max((c for c, a in enumerate(plan.probes[probe].args) if isinstance(a, Ref) and a.variable == variable), default=-1)
