"""The second opinion: a conjunctive rule as one SQL query, run by DuckDB.

Negation becomes NOT EXISTS, a body aggregate a correlated subquery. Disjunctions and recursion are
left to the sets and loops next door.
"""

from __future__ import annotations

import datetime
import decimal
import itertools
from collections.abc import Iterable, Mapping

import duckdb

from lftj.proofs.kinds import Value
from lftj.proofs.nested_loops import mentioned
from lftj.proofs.terms import variables_of
from lftj.syntax import tree
from tests.strategies.schemas import required

SQL_TYPES = {
    "int": "BIGINT",
    "float": "DOUBLE",
    "str": "VARCHAR",
    "bool": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "decimal(8,2)": "DECIMAL(8,2)",
}
OPERATORS = {"+": "+", "-": "-", "*": "*", "/": "//", "%": "%"}
FUNCTIONS = {
    "min": "CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN least({0}, {1}) END",
    "max": "CASE WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN greatest({0}, {1}) END",
    "coalesce": "coalesce({}, {})",
    "band": "({} & {})",
    "cat": "({} || {})",
    "neg": "(-{})",
    "strlen": "length({})",
}
FUNCTIONS |= {"to_string": "({}::VARCHAR)", "substr": "substr({}, {} + 1, {})"}
FUNCTIONS |= {part: f"{part}({{}})" for part in ("year", "month", "day", "abs")}
FUNCTIONS |= {
    "to_number": "trunc({})::BIGINT",
    "to_float": "({}::DOUBLE)",
    "to_date": "({}::DATE)",
    "date": "make_date({}, {}, {})",
    "floor": "floor({})",
    "ceil": "ceil({})",
}
AGGREGATES = {"count": "count", "sum": "sum", "min": "min", "max": "max", "mean": "avg",
    "stddev": "stddev_samp", "any": "bool_or"}  # fmt: skip

Names = Mapping[str, str]


def literal(value: Value) -> str:
    """A constant in SQL, with its type."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).lower()
        case str():
            quoted = value.replace("'", "''")
            return f"'{quoted}'"
        case float():
            return f"{value!r}::DOUBLE"
        case decimal.Decimal():
            return f"{value}::DECIMAL(8,2)"
        case datetime.datetime():
            return f"TIMESTAMP '{value}'"
        case datetime.date():
            return f"DATE '{value}'"
    return f"({value})::BIGINT"


def expression(term: tree.Term, names: Names) -> str:
    """A term in SQL, with the columns that the variables stand for."""
    match term:
        case tree.Constant(value=value):
            return literal(value)
        case tree.Variable(name=name):
            return names[name]
        case tree.Call(functor=functor, args=args) if functor in FUNCTIONS:
            return FUNCTIONS[functor].format(*(expression(arg, names) for arg in args))
        case tree.Call(functor="round", args=(value, *places)):
            last = expression(places[0], names) if places else "0"
            return f"round({expression(value, names)}, {last}::INT)"
        case tree.Call(functor=functor, args=(left, right)):
            # A plain number, since DuckDB adds only INTEGER to a DATE.
            second = (
                str(right.value)
                if isinstance(right, tree.Constant) and type(right.value) is int
                else expression(right, names)
            )
            return f"({expression(left, names)} {OPERATORS[functor]} ({second}))"
    raise NotImplementedError(f"{term} in SQL")


class Query:
    """FROM and WHERE of one body; `names` maps each variable to the column that binds it."""

    def __init__(self, body: tree.Body, names: Names, aliases: itertools.count[int]):
        self.names, self.aliases = dict(names), aliases
        self.tables: list[str] = []
        self.tests: list[str] = []
        self.later: list[tuple[str, tree.Term]] = []
        atoms = [each for each in body.literals if isinstance(each, tree.Atom)]
        for atom in atoms:
            self._atom(atom)
        for column, term in self.later:
            self._equate(column, term)
        self._rest([each for each in body.literals if not isinstance(each, tree.Atom)])

    def _atom(self, atom: tree.Atom) -> None:
        alias = f"t{next(self.aliases)}"
        self.tables.append(f'"{atom.relation}" {alias}')
        for column, term in enumerate(atom.terms):
            self._equate(f"{alias}.c{column}", term)

    def _equate(self, column: str, term: tree.Term) -> None:
        if isinstance(term, tree.Variable) and term.name not in self.names:
            self.names[term.name] = column
        elif not isinstance(term, tree.Wildcard):
            self.tests.append(f"{column} = {self.value(term)}")

    def _rest(self, waiting: list[tree.Literal]) -> None:
        comparisons = [each for each in waiting if isinstance(each, tree.Comparison)]
        while comparisons:
            ready = next(each for each in comparisons if self._ready(each, comparisons))
            comparisons = [each for each in comparisons if each is not ready]
            self._compare(ready.operator, ready.left, ready.right)
        for each in waiting:
            if isinstance(each, tree.Negation):
                self.tests.append(
                    f"NOT EXISTS ({Query(each.body, self.names, self.aliases).select('1')})"
                )
            elif isinstance(each, tree.Truth):
                self.tests.append(str(each.value))
            elif not isinstance(each, tree.Comparison):
                raise NotImplementedError(f"{each} in SQL")

    def _ready(self, each: tree.Comparison, waiting: list[tree.Comparison]) -> bool:
        unbound = (variables_of(each.left) | variables_of(each.right)) - set(self.names)
        if isinstance(each.right, tree.Aggregate):
            others = [
                variables_of(side)
                for other in waiting
                if other is not each
                for side in (other.left, other.right)
            ]
            waits = any(mentioned(each.right) & names - set(self.names) for names in others)
            return not waits and (not unbound or each.operator == "=")
        return not unbound or self._binds(each)

    def _binds(self, each: tree.Comparison) -> bool:
        free = [
            isinstance(side, tree.Variable) and side.name not in self.names
            for side in (each.left, each.right)
        ]
        other = each.right if free[0] else each.left
        return each.operator == "=" and sum(free) == 1 and variables_of(other) <= set(self.names)

    def _compare(self, operator: str, left: tree.Term, right: tree.Term) -> None:
        for target, source in ((left, right), (right, left)):
            if (
                operator == "="
                and isinstance(target, tree.Variable)
                and target.name not in self.names
            ):
                self.names[target.name] = self.value(source)
                if isinstance(source, tree.Aggregate):
                    self.tests.append(self._has_value(source))
                else:
                    self.tests.append(f"{self.names[target.name]} IS NOT NULL")
                return
        if operator == "is_null":
            self.tests.append(f"{self.value(left)} IS NULL")
            return
        self.tests.append(f"{self.value(left)} {operator} {self.value(right)}")

    def value(self, term: tree.Term) -> str:
        """A term in SQL; a body aggregate is a subquery of its own."""
        if not isinstance(term, tree.Aggregate):
            return expression(term, self.names)
        if term.target is None:
            return f"({Query(term.body, self.names, self.aliases).select('count(*)')})"
        result, nothing = AGGREGATES[term.function], {"sum": "0", "any": "false"}.get(term.function)
        found = f"CASE WHEN count(*) = 0 THEN {nothing} ELSE {result}(v) END"
        return self._of_rows(term, found if nothing else f"{result}(v)")

    def _of_rows(self, term: tree.Aggregate, column: str) -> str:
        """A query over what is aggregated, `v`. An aggregate of outer columns alone would belong to
        the outer query; a table in between keeps it here.
        """
        assert term.target is not None
        inner = Query(term.body, self.names, self.aliases)
        return f"(SELECT {column} FROM ({inner.select(f'{inner.value(term.target)} AS v')}))"

    def _has_value(self, term: tree.Aggregate) -> str:
        """The test that an aggregate has a value, NULL or not."""
        if term.function in ("sum", "any", "count"):
            return "true"
        test = "count(*) > 0"
        if term.function == "stddev":
            test += " AND (stddev_samp(v) IS NOT NULL OR count(v) = 0)"
        return self._of_rows(term, test)

    def select(self, columns: str) -> str:
        """The query with these columns."""
        return (
            f"SELECT {columns} FROM {', '.join(self.tables) or '(SELECT 1)'} WHERE "
            f"{' AND '.join(self.tests) or 'true'}"
        )


def query(rule: tree.Rule) -> str:
    """The SQL of a rule with one head."""
    body = Query(rule.body, {}, itertools.count())
    terms = rule.heads[0].terms
    columns = []
    for term in terms:
        if isinstance(term, tree.HeadAggregate):
            columns.append(
                "count(*)"
                if not term.args
                else f"{AGGREGATES[term.function]}({body.value(term.args[0])})"
            )
        else:
            columns.append(body.value(term))
    if not any(isinstance(term, tree.HeadAggregate) for term in terms):
        return body.select(f"DISTINCT {', '.join(columns) or '1'}")
    groups = [
        column
        for column, term in zip(columns, terms, strict=True)
        if not isinstance(term, tree.HeadAggregate)
    ]
    grouped = body.select(", ".join(columns)) + (f" GROUP BY {', '.join(groups)}" if groups else "")
    valued = [
        f" AND ({column} IS NOT NULL OR {column.replace('stddev_samp', 'count', 1)} = 0)"
        for column in columns
        if column.startswith("stddev")
    ]
    return f"{grouped} HAVING count(*) > 0{''.join(valued)}"


def answer(
    rule: tree.Rule,
    types: Mapping[str, Iterable[str]],
    facts: Mapping[str, Iterable[tuple[Value, ...]]],
) -> set[tuple[Value, ...]]:
    """The rows of a rule over tables of these column types, from an in-memory database."""
    with duckdb.connect() as base:
        for name, columns in types.items():
            listed = (
                ", ".join(
                    f"c{place} {SQL_TYPES[required(type_)]}" for place, type_ in enumerate(columns)
                )
                or "nothing INT"
            )
            base.execute(f'CREATE TABLE "{name}" ({listed})')
            for row in facts.get(name, ()):
                base.execute(f'INSERT INTO "{name}" VALUES ({", ".join(map(literal, row)) or "0"})')
        return {row[: len(rule.heads[0].terms)] for row in base.execute(query(rule)).fetchall()}
