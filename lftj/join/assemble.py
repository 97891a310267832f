"""From a plan and a database to the two int64 arrays that the kernel runs on (`layout_kernels` says where things lie)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lftj.dictionary import Dictionary
from lftj.join import layout_kernels as at
from lftj.join import operation_kernels as code
from lftj.join.plan import RulePlan
from lftj.program.normal_form import Apply, Expression, Filter, NormalRule, Ref, Value
from lftj.storage.relation import RelationVersion
from lftj.types import Type, encode_scalar
from scantree import Tree
from scantree.seek_kernels import END

_INTEGER = {
    "+": code.ADD, "-": code.SUBTRACT, "*": code.MULTIPLY, "/": code.DIVIDE, "%": code.REMAINDER, "^": code.POWER, "neg": code.NEGATE,
    "min": code.LEAST, "max": code.GREATEST, "band": code.BIT_AND, "bor": code.BIT_OR, "bxor": code.BIT_XOR, "bnot": code.BIT_NOT,
    "bshl": code.SHIFT_LEFT, "bshr": code.SHIFT_RIGHT, "bshru": code.SHIFT_RIGHT_UNSIGNED, "land": code.LOGICAL_AND,
    "lor": code.LOGICAL_OR, "lxor": code.LOGICAL_XOR, "lnot": code.LOGICAL_NOT, "to_int": code.FLOAT_TO_INT, "to_float": code.INT_TO_FLOAT,
}  # fmt: skip
_FLOAT = {
    "+": code.FLOAT_ADD, "-": code.FLOAT_SUBTRACT, "*": code.FLOAT_MULTIPLY, "/": code.FLOAT_DIVIDE, "%": code.FLOAT_REMAINDER,
    "^": code.FLOAT_POWER, "neg": code.FLOAT_NEGATE, "min": code.LEAST, "max": code.GREATEST, "to_float": code.INT_TO_FLOAT,
}  # fmt: skip
_COMPARE = {
    "=": code.EQUAL, "!=": code.NOT_EQUAL, "<": code.LESS, "<=": code.LESS_EQUAL, ">": code.GREATER, ">=": code.GREATER_EQUAL,
}  # fmt: skip
_ROOM_FOR_STACK = 64


class Assembly:
    """The arrays of one plan over one database. Holds the trees it reads, so that their pages stay while a run lasts."""

    def __init__(self, plan: RulePlan, relations: Mapping[str, RelationVersion], dictionary: Dictionary):
        self.plan = plan
        self._dictionary = dictionary
        self._trees: list[Tree] = [relations[atom.relation].tree(atom.order) for atom in plan.atoms]
        self._probe_trees: list[Tree] = [relations[probe.relation].tree(probe.order) for probe in plan.probes]
        self._code: list[int] = []
        self._stack = 0
        self._parts = self._number_parts()
        self.empty = any(len(tree) == 0 for tree in self._trees)
        self.words = self._assemble()

    def _number_parts(self) -> list[list[tuple[int, int]]]:
        """Per level its parts as (atom, column), the invariant ones first."""
        levels: list[list[tuple[int, int]]] = [[] for _ in self.plan.levels]
        for number, atom in enumerate(self.plan.atoms):
            for column, level in enumerate(atom.levels):
                levels[level].append((number, column))
        for level, parts in enumerate(levels):
            parts.sort(key=lambda part, level=level: not self._invariant(part, level))
        return levels

    def _invariant(self, part: tuple[int, int], level: int) -> bool:
        atom, column = part
        return column == 0 or self.plan.atoms[atom].levels[column - 1] < level - 1

    def parts_of(self, atom: int) -> list[int]:
        """The numbers of an atom's parts."""
        return [i for i, (owner, _) in enumerate(part for parts in self._parts for part in parts) if owner == atom]

    # ── the plan's words ──────────────────────────────────────────────────────────────────────────────────────────────
    def _assemble(self) -> np.ndarray:
        plan = self.plan
        number = {part: i for i, part in enumerate(part for parts in self._parts for part in parts)}
        levels, filters = self._level_records()
        parts: list[int] = []
        for atom, column in number:
            tree = self._trees[atom]
            parts += [tree.root, tree.height, column, number.get((atom, column + 1), -1)]
        probes, arguments = self._probe_records()
        tables = [levels, parts, filters, probes, arguments, list(plan.outputs), self._code]
        header = [0] * at.PLAN_HEADER
        header[at.LEVELS] = len(plan.levels)
        header[at.EMIT_LEVEL] = plan.emit_level
        header[at.SHORT_CIRCUIT] = 0 if plan.count else 1
        header[at.OUTPUTS] = len(plan.outputs)
        header[at.PARTS] = len(number)
        start = at.PLAN_HEADER
        for place, table in zip(range(at.LEVEL_TABLE, at.CODE_TABLE + 1), tables, strict=True):
            header[place] = start
            start += len(table)
        return np.array([*header, *(word for table in tables for word in table)], np.int64)

    def _level_records(self) -> tuple[list[int], list[int]]:
        records: list[int] = []
        filters: list[int] = []
        first = 0
        for number, level in enumerate(self.plan.levels):
            parts = self._parts[number]
            value = -1 if level.value is None else self._compile(level.value)
            filter_first = len(filters) // at.FILTER_RECORD
            # plain comparisons before arithmetic, so that a guard such as y != 0 holds before something is divided by y
            for condition in sorted(level.filters, key=lambda f: isinstance(f.left, Apply) or isinstance(f.right, Apply)):
                filters += [self._compile_filter(condition), -1]
            for probe in level.probes:
                filters += [-1, probe]
            filter_last = len(filters) // at.FILTER_RECORD
            fast = int(value < 0 and filter_first == filter_last and len(parts) > 0)
            invariant = sum(self._invariant(part, number) for part in parts)
            records += [first, first + len(parts), value, filter_first, filter_last, invariant, fast, 0]
            first += len(parts)
        return records, filters

    def _probe_records(self) -> tuple[list[int], list[int]]:
        place = {level.variable: i for i, level in enumerate(self.plan.levels) if level.variable is not None}
        records: list[int] = []
        arguments: list[int] = []
        for probe, tree in zip(self.plan.probes, self._probe_trees, strict=True):
            first = len(arguments) // at.ARGUMENT_RECORD
            for argument in probe.args:
                arguments += [place[argument.variable], 0] if isinstance(argument, Ref) else [-1, self._encode(argument)]
            records += [tree.root, tree.height, first, len(arguments) // at.ARGUMENT_RECORD]
        return records, arguments

    # ── expressions ───────────────────────────────────────────────────────────────────────────────────────────────────
    def _encode(self, value: Value) -> int:
        return encode_scalar(value.type, value.value, self._dictionary)

    def _compile(self, expression: Expression) -> int:
        start = len(self._code)
        self._emit(expression, 1)
        self._code.append(code.END_CODE)
        return start

    def _compile_filter(self, condition: Filter) -> int:
        start = len(self._code)
        self._emit(condition.left, 1)
        self._emit(condition.right, 2)
        operation = _COMPARE[condition.operator]
        if operation >= code.LESS and type_of(self.plan.rule, condition.left).name == "str":
            operation += code.TEXT_LESS - code.LESS
        self._code += [operation, code.END_CODE]
        return start

    def _emit(self, expression: Expression, depth: int) -> None:
        self._stack = max(self._stack, depth)
        if isinstance(expression, Ref):
            level = next(i for i, level in enumerate(self.plan.levels) if level.variable == expression.variable)
            self._code += [code.PUSH_BINDING, level]
        elif isinstance(expression, Value):
            self._code += [code.PUSH_CONSTANT, self._encode(expression)]
        else:
            for i, argument in enumerate(expression.args):
                self._emit(argument, depth + i)
                if i >= 2:  # min and max of several
                    self._code.append(self._operation(expression))
            if len(expression.args) <= 2:
                self._code.append(self._operation(expression))

    def _operation(self, expression: Apply) -> int:
        return (_FLOAT if expression.type.name == "float" else _INTEGER)[expression.operator]

    # ── the state ─────────────────────────────────────────────────────────────────────────────────────────────────────
    def fresh_state(self) -> np.ndarray:
        """A state at the beginning of a run."""
        parts = int(self.words[at.PARTS])
        bindings = at.STATE_HEADER + at.PART_STATE * parts
        stack = bindings + len(self.plan.levels)
        state = np.zeros(stack + self._stack + _ROOM_FOR_STACK, np.int64)
        state[at.PART_STATES] = at.STATE_HEADER
        state[at.BINDINGS] = bindings
        state[at.STACK] = stack
        number = 0
        for parts_here in self._parts:
            for _, column in parts_here:
                if column == 0:
                    state[at.STATE_HEADER + at.PART_STATE * number + at.LIMIT] = END
                number += 1
        return state


def type_of(rule: NormalRule, expression: Expression) -> Type:
    """The type of an expression's value."""
    return rule.variables[expression.variable].type if isinstance(expression, Ref) else expression.type
