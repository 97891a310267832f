"""Rules that read one relation and compare no more than codes: all its rows are looked at, as they
lie, and those that pass are kept.

A search would want a key order that begins with what is compared. To make one takes longer than to
look at every row once, and it stays: where rows are wide it is most of the memory that a view
takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lftj.join.access.gathering import Gathering, Listed, gathering
from lftj.join.context import Context
from lftj.program.normal_form import Filter, NormalRule, Ref, Value
from lftj.storage.delta import Columns
from lftj.storage.relation import RelationVersion
from lftj.tuning.aids import ROW_SCAN
from lftj.types import encode_constant

_COMPARE: Mapping[str, Callable[..., np.ndarray]] = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
Side = int | Value
"""A column of the relation, or a constant."""

CodeTest = tuple[str, int, Side]
"""A comparison: operator, column (or variable), column (or variable) or constant."""


@dataclass(frozen=True)
class RowScan:
    """A scan of one relation: the columns of the output values, and comparisons as (operator,
    column, column or constant) triples.
    """

    relation: str
    asked: tuple[int, ...]
    tests: tuple[CodeTest, ...]

    @staticmethod
    def of(rule: NormalRule, needed: Iterable[int]) -> RowScan | None:
        """The scan that finds the values of `needed`; None where there is something to join, to
        compute or to look up.
        """
        if len(rule.atoms) != 1 or rule.negated or rule.assignments:
            return None
        (atom,) = rule.atoms
        column: dict[int, int] = {}
        tests: list[CodeTest] = []
        for place, argument in enumerate(atom.args):
            if isinstance(argument, Value):
                tests.append(("=", place, argument))
            elif column.setdefault(argument.variable, place) != place:
                tests.append(("=", place, column[argument.variable]))
        for condition in rule.filters:
            if (test := code_test(condition, rule)) is None:
                return None
            operator, left, right = test
            tests.append(
                (operator, column[left], column[right] if isinstance(right, int) else right)
            )
        return RowScan(
            atom.relation, tuple([column[variable] for variable in needed]), tuple(tests)
        )

    @property
    def tested(self) -> list[int]:
        """The columns that tests look at, which may repeat."""
        return [side for _, *sides in self.tests for side in sides if isinstance(side, int)]

    @property
    def copies(self) -> bool:
        """True when all rows pass."""
        return not self.tests

    def pays(self, relation: RelationVersion, lasting: bool) -> bool:
        """Decide if looking at all rows is better than a search. `lasting`: the answer is kept, so
        the question will not come again.

        A key order that begins with a column that a constant bounds is there to be searched; for
        questions with an equation one is worth making.
        """
        if not (self.asked or self.tests) or not relation.count:
            return False
        return not searched_for(self.tests, relation, lasting)

    def rows(self, relation: RelationVersion, context: Context) -> tuple[Columns, np.ndarray]:
        """The values asked for in every row that passes, each row one assignment, and as many ones;
        without values how many rows pass.

        O(n) for each column that is read.
        """
        context.budget.spend(relation.count)
        asked = gathering(
            self.asked,
            relation.extremes(self.asked),
            relation.count,
            count=True,
            held=context.budget.check_memory,
            tuning=context.tuning,
        )
        if self.copies and isinstance(asked, Listed):
            context.budget.check_memory(8 * relation.count * (1 + len(self.asked)))
            return relation.columns(self.asked), np.ones(relation.count, np.int64)
        for columns, many in self.blocks(relation, context):
            asked.add(columns, many, None)
        return asked.rows()

    def blocks(
        self, relation: RelationVersion, context: Context
    ) -> Iterator[tuple[dict[int, np.ndarray], int]]:
        """The columns asked for of the rows that pass, and how many these are, so many at a
        time.
        """
        read = tuple(dict.fromkeys([*self.asked, *self.tested]))
        for block in relation.blocks(context.tuning.block_rows, read or (0,)):
            columns, many = dict(zip(read, block, strict=False)), block.shape[1]
            if self.tests:
                kept = np.flatnonzero(self.passing(columns, context))
                columns, many = (
                    {column: columns[column].take(kept) for column in self.asked},
                    len(kept),
                )
            yield columns, many

    def passing(self, columns: Mapping[int, np.ndarray], context: Context) -> np.ndarray:
        """Mark the rows, given these columns, that pass all tests; there is a test."""
        return passing(self.tests, columns, context)


def searched_for(tests: Iterable[CodeTest], relation: RelationVersion, lasting: bool) -> bool:
    """Test for rows that are better searched for than looked at one by one (`RowScan.pays`)."""
    bounding = {
        left: operator
        for operator, left, right in tests
        if isinstance(right, Value) and operator != "!="
    }
    if not lasting and "=" in bounding.values():
        return True
    return any(order and order[0] in bounding for order in relation.orders())


def code_test(condition: Filter, rule: NormalRule) -> CodeTest | None:
    """A comparison that needs no more than codes, as (operator, variable, variable or constant);
    None for others.
    """
    condition = condition.turned if isinstance(condition.left, Value) else condition
    left, right, operator = condition.left, condition.right, condition.operator
    if not isinstance(left, Ref) or not isinstance(right, Ref | Value):
        return None
    if operator not in ("=", "!=") and rule.variables[left.variable].type.name == "str":
        return None  # numbers of strings do not ascend as strings do
    return operator, left.variable, right.variable if isinstance(right, Ref) else right


def passing(
    tests: Iterable[CodeTest], columns: Mapping[int, np.ndarray], context: Context
) -> np.ndarray:
    """Mark the rows that pass all tests of columns, or of variables, of which there is one at
    least.
    """
    found: list[np.ndarray] = []
    for operator, left, right in tests:
        other = (
            columns[right]
            if isinstance(right, int)
            else encode_constant(right.type, right.value, context.resources.dictionary)
        )
        found.append(_COMPARE[operator](columns[left], other))
    return np.logical_and.reduce(found)


def scanned_rows(
    rule: NormalRule,
    needed: Iterable[int],
    relations: Mapping[str, RelationVersion],
    context: Context,
) -> tuple[Columns, np.ndarray] | None:
    """`RowScan.rows` for a rule; None where its rows are to be searched for."""
    scan = _paying(rule, needed, relations, context)
    return None if scan is None else scan.rows(relations[scan.relation], context)


def scan_rows(
    rule: NormalRule,
    needed: Sequence[int],
    relations: Mapping[str, RelationVersion],
    context: Context,
    found: Gathering,
) -> bool:
    """As `scanned_rows`, gathered in `found`; False where the rows are to be searched for. O(n) for
    each column that is read.
    """
    scan = _paying(rule, needed, relations, context)
    if scan is None:
        return False
    relation = relations[scan.relation]
    context.budget.spend(relation.count)
    place = dict(zip(needed, scan.asked, strict=True))
    for columns, many in scan.blocks(relation, context):
        found.add({variable: columns[column] for variable, column in place.items()}, many, None)
    return True


def _paying(
    rule: NormalRule,
    needed: Iterable[int],
    relations: Mapping[str, RelationVersion],
    context: Context,
) -> RowScan | None:
    """The scan of a rule, where it pays; statistics know of the relation from now on."""
    if ROW_SCAN in context.tuning.without:
        return None
    scan = RowScan.of(rule, needed)
    if scan is None or not scan.pays(relations[scan.relation], context.keep):
        return None
    if context.keep:
        # its rows are at hand now: after a workspace was opened, a sample would read all pages
        context.statistics.of(relations[scan.relation])
    return scan
