"""A triejoin over Python sets that logs what it depends on. Slow and plain on purpose."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lftj.join.plan.plan import Level, RulePlan
from lftj.join.plan.variable_orders import variables_of
from lftj.program.normal_form import Apply, Expression, Ref, Value
from tests.unit.join.random_rules import COMPARE, HIGHEST, LOWEST, Row, Rows

Channel = tuple[str, int, int]
Touch = tuple[Channel, Row, int, int]


class SlowTriejoin:
    """One run of a plan over rows.

    `touched`: what it depends on. `visited`: per context the value its search was stopped at, or
    None; `unknown_in`: the levels without a value there; `passed_over`: below which value a
    comparison fails there. `failed`: arithmetic has no value in some proof.
    """

    def __init__(self, plan: RulePlan, rows: Rows, logged: Mapping[tuple[int, int], int]):
        self.plan = plan
        self.logged = logged
        self.rows = rows
        self.bindings: list[int] = []
        self.unknown: set[int] = set()
        self.doubts = 0
        self.failed = False
        self.stops = not plan.count and not any(
            map(may_fail, expressions(plan.levels[plan.emit_level :]))
        )
        self.touched: list[Touch] = []
        self.visited: dict[Row, int | None] = {}
        self.unknown_in: dict[Row, set[int]] = {}
        self.passed_over: dict[Row, int] = {}
        self.proofs: list[Row] = []
        self.search(0)

    # ── what a level is made of ───────────────────────────────────────────────────────────────────
    def parts(self, level: int) -> list[tuple[int, int]]:
        """(atom, column) of a level, those whose range the level above does not change first."""
        found = [
            (number, atom.levels.index(level))
            for number, atom in enumerate(self.plan.atoms)
            if level in atom.levels
        ]
        return sorted(
            found,
            key=lambda part: (
                part[1] > 0 and self.plan.atoms[part[0]].levels[part[1] - 1] == level - 1
            ),
        )

    def stored(self, relation: str, order: Sequence[int]) -> list[Row]:
        return [tuple((row or (0,))[c] for c in order) for row in self.rows[relation]]

    def values(self, part: tuple[int, int]) -> list[int]:
        """The values of a part in the present context."""
        atom, column = self.plan.atoms[part[0]], part[1]
        prefix = tuple(self.bindings[level] for level in atom.levels[:column])
        return sorted(
            {
                row[column]
                for row in self.stored(atom.relation, atom.order)
                if row[:column] == prefix
            }
        )

    def value_of(self, expression: Expression) -> int | None:
        """The value of an expression in the present context; None: it has none."""
        if isinstance(expression, Value):
            return int(expression.value)  # type: ignore[call-overload]
        if isinstance(expression, Ref):
            level = next(
                i
                for i, level in enumerate(self.plan.levels)
                if level.variable == expression.variable
            )
            return None if level in self.unknown else self.bindings[level]
        left, right = map(self.value_of, expression.args)
        if (
            left is None
            or right is None
            or (expression.operator, right) == ("%", 0)
            or (expression.operator, left) == ("+", HIGHEST)
        ):
            return None
        if expression.operator == "%":
            return left % abs(right)
        return left ^ right if expression.operator == "bxor" else left + right

    def rejected(self, level: Level) -> bool:
        """By a comparison."""
        pairs = [
            (condition.operator, self.value_of(condition.left), self.value_of(condition.right))
            for condition in level.filters
        ]
        return not all(
            left is None or right is None or COMPARE[compare](left, right)
            for compare, left, right in pairs
        )

    def untested(self, level: Level) -> bool:
        """Test for a comparison with an unknown side."""
        return any(
            self.value_of(side) is None
            for condition in level.filters
            for side in (condition.left, condition.right)
        )

    def present(self, probe: int) -> bool | None:
        """Test for a negated atom's tuple; None when its arguments are not known."""
        planned = self.plan.probes[probe]
        sought = tuple(map(self.value_of, planned.args))
        if None in sought:
            return None
        return any(
            row[: len(sought)] == sought for row in self.stored(planned.relation, planned.order)
        )

    def bound(self, depth: int, value: int) -> int | None:
        """The value of a level from which on the comparison that rejects this one holds; this one
        where it says nothing, None for no value.

        What is below is not looked at, and not depended on either.
        """
        level, own = self.plan.levels[depth], self.plan.levels[depth].variable
        for condition in sorted(
            level.filters, key=lambda f: isinstance(f.left, Apply) or isinstance(f.right, Apply)
        ):
            self.bindings.append(value)
            left, right = self.value_of(condition.left), self.value_of(condition.right)
            self.bindings.pop()
            if left is None or right is None or COMPARE[condition.operator](left, right):
                continue
            sides = [(condition.left, left), (condition.right, right)]
            (small, least), (great, _) = (
                reversed(sides) if condition.operator in (">", ">=") else sides
            )
            if (
                condition.operator in ("=", "!=")
                or Ref(own) not in (small, great)
                or own in variables_of(small) & variables_of(great)
            ):
                return value
            if small == Ref(own):
                return None
            least += "=" not in condition.operator
            if least > HIGHEST:
                return value
            self.forget_below(depth, least)
            return least
        return value

    def forget_below(self, depth: int, least: int) -> None:
        """Depend on no lesser value of a level in the present context."""
        context, parts = tuple(self.bindings), self.parts(depth)
        self.passed_over[context] = least
        for touch in [
            touch
            for touch in self.touched
            if touch[1] == context and touch[0][1:] in parts and touch[0][0] == "atom"
        ]:
            self.touched.remove(touch)
            if touch[3] >= least:
                self.touched.append((*touch[:2], max(touch[2], least), touch[3]))

    # ── the search ────────────────────────────────────────────────────────────────────────────────
    def touch(self, kind: str, atom: int, column: int, low: int, high: int, depth: int) -> None:
        self.touched.append(((kind, atom, column), tuple(self.bindings[:depth]), low, high))

    def search(self, depth: int) -> bool:
        """Search for proofs below this level; stop at the first when the plan does."""
        if depth == len(self.plan.levels):
            self.proofs.append(tuple(self.bindings))
            self.failed |= self.doubts > 0
            return True
        self.visited[tuple(self.bindings)] = None
        self.unknown_in[tuple(self.bindings)] = set(self.unknown)
        found = False
        for value in self.candidates(depth):
            context = tuple(self.bindings)
            doubtful = depth in self.unknown or self.is_free(depth)
            self.bindings.append(value)
            doubtful |= self.untested(self.plan.levels[depth])
            self.doubts += doubtful
            proved = self.admitted(depth) and self.search(depth + 1)
            self.doubts -= doubtful
            self.bindings.pop()
            found |= proved
            if proved and self.stops and depth >= self.plan.emit_level:
                self.visited[context] = value
                break
        self.unknown.discard(depth)
        return found

    def is_free(self, depth: int) -> bool:
        """Test for a level that should compute its value and cannot."""
        value = self.plan.levels[depth].value
        return value is not None and self.value_of(value) is None

    def admitted(self, depth: int) -> bool:
        if self.rejected(self.plan.levels[depth]):
            return False
        for probe in self.plan.levels[depth].probes:
            if self.present(probe) is None:
                continue
            column = last_column(self.plan, probe, depth)
            value = self.bindings[depth]
            self.touch(
                "probe",
                probe,
                column,
                *((value, value) if column >= 0 else (LOWEST, HIGHEST)),
                depth,
            )
            if self.present(probe):
                return False
        return True

    def candidates(self, depth: int) -> Iterator[int]:
        """The values that all parts of a level have, as a leapfrog search finds them: nothing is
        looked at before it is asked for.
        """
        parts = self.parts(depth)
        most = max(range(len(parts)), key=lambda i: parts[i][1], default=0)
        leader = next((i for i, part in enumerate(parts) if part not in self.logged), most)
        iterators = Iterators(
            [self.values(part) for part in parts],
            lambda i, low, high: self.touch("atom", *parts[i], low, high, depth),
        )
        computed = self.plan.levels[depth].value
        known = None if computed is None else self.value_of(computed)
        if computed is not None and not iterators.open(None):
            return
        if known is not None:
            if all(iterators.seek(i, known) == known for i in range(len(parts))):
                yield known
        elif not parts:
            self.unknown.add(depth)
            yield 0
        elif iterators.open(leader):
            yield from iterators.search(leader, lambda value: self.bound(depth, value))


@dataclass
class Iterators:
    """The values of the parts of one level, and whom to tell what was asked of them: (part, low,
    high).
    """

    values: list[list[int]]
    touch: Callable[[int, int, int], None]

    def open(self, leader: int | None) -> bool:
        """False when a part is empty, which is told in any case; else where the leader begins."""
        for i, values in enumerate(self.values):
            if i == leader or not values:
                self.touch(i, LOWEST, values[0] if values else HIGHEST)
            if not values:
                return False
        return True

    def seek(self, part: int, value: int, beyond: int = 0) -> int | None:
        """The least value of a part from `value` on, or `beyond` it."""
        found = next((v for v in self.values[part] if v >= value + beyond), None)
        self.touch(part, value, HIGHEST if found is None else found)
        return found

    def search(self, leader: int, bound: Callable[[int], int | None]) -> Iterator[int]:
        """All shared values: after each, the leader goes on, to what is said to be the `bound`
        then.
        """
        value: int | None = self.values[leader][0]
        while value is not None:
            agreeing, part = 1, leader
            while agreeing < len(self.values):
                part = (part + 1) % len(self.values)
                found = self.seek(part, value)
                if found is None:
                    return
                agreeing = agreeing + 1 if found == value else 1
                value = found
            yield value
            least = bound(value)
            value = None if least is None else self.seek(leader, least, beyond=int(least == value))


def expressions(levels: Sequence[Level]) -> list[Expression]:
    """Expressions that these levels compute and compare."""
    sides = [
        side
        for level in levels
        for condition in level.filters
        for side in (condition.left, condition.right)
    ]
    return sides + [level.value for level in levels if level.value is not None]


def may_fail(expression: Expression) -> bool:
    return isinstance(expression, Apply) and expression.operator != "bxor"


def last_column(plan: RulePlan, probe: int, depth: int) -> int:
    """The last column of a negated atom's key order that level `depth` binds, or −1."""
    variable = plan.levels[depth].variable
    return max(
        (
            c
            for c, a in enumerate(plan.probes[probe].args)
            if isinstance(a, Ref) and a.variable == variable
        ),
        default=-1,
    )
