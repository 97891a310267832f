# SPDX-License-Identifier: Apache-2.0
"""One head of one rule as a query: the columns of its relation, from FROM and WHERE of its body."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product

from lftj.functions import AGGREGATES
from lftj.program import (
    CheckedAtom,
    CheckedChoice,
    CheckedDisjunction,
    CheckedGroups,
    CheckedHead,
    CheckedHeadAggregate,
    CheckedLiteral,
    CheckedRule,
    Filter,
    FunctorCall,
    Ref,
    RelationSchema,
    Value,
)
from lftj.sql.bodies import ColumnNames, Query, Tables, mentioned, variables_of
from lftj.sql.dialects import Dialect, cannot_say
from lftj.sql.expressions import Terms

_MOST_ALTERNATIVES = 8
"""A body with more branches than these has them in FROM, where they do not multiply."""


_GROUPS = "#groups"
"""The relation between what groups a body and what computes a head of the groups."""


@dataclass(frozen=True)
class Head:
    """A head of a rule, to be written over any tables."""

    rule: CheckedRule
    head: CheckedHead
    schema: RelationSchema
    dialect: Dialect
    columns: ColumnNames

    @property
    def literals(self) -> tuple[CheckedLiteral, ...]:
        """The body, and what the head computes, of groups too."""
        groups = () if self.head.groups is None else self.head.groups.literals
        return (*self.rule.body.literals, *groups, *self.head.literals)

    def query(self, tables: Tables, *, line: str = "\n") -> str:
        """The distinct rows of the head. Raises SqlError (E370)."""
        terms = Terms(self.dialect, self.rule.variables)
        if self.head.groups is not None:
            return self._of_groups(self.head.groups, terms, tables, line)
        choices = [each for each in self.literals if isinstance(each, CheckedChoice)]
        if choices:
            return self._chosen(choices, terms, tables, line)
        if self.head.aggregates:
            return self._grouped(self._assignments(terms, tables, line), line)
        found = [
            self._plain(self._query(terms, tables, alternative, guarded=True), line)
            for alternative in _alternatives(self.literals)
        ]
        return f"{line}UNION{line}".join(found)

    def _of_groups(self, groups: CheckedGroups, terms: Terms, tables: Tables, line: str) -> str:
        """The rows that are computed of groups, which a query in FROM has."""
        made = tuple([f"v{variable}" for variable in groups.results])
        types = [self.rule.variables[variable].type for variable in groups.results]
        schema = RelationSchema(_GROUPS, tuple(zip(made, types, strict=True)))
        head = CheckedHead(_GROUPS, groups.args, groups.literals)

        def columns(relation: str) -> tuple[str, ...]:
            return made if relation == _GROUPS else self.columns(relation)

        inner = Head(self.rule, head, schema, self.dialect, columns)
        names = {variable: f"g.v{variable}" for variable in groups.results}
        sources = [f"({inner.query(tables, line=line)}) AS g"]
        found = list[str]()
        for literals in _alternatives(self.head.literals):
            branch = literals != self.head.literals
            query = Query(terms, tables, self.columns, names=dict(names), guarded=branch)
            query.sources += sources
            found.append(self._plain(query.add(literals), line))
        return f"{line}UNION{line}".join(found)

    def refuse_growth(self, recursive: Sequence[CheckedAtom]) -> None:
        """Refuse strings that grow for ever: an argument of the head that `cat` makes of the same
        column of an atom in its cycle, where no other literal looks at it on the way. Raises
        SqlError (E370).
        """
        made = _concatenated(self.literals)
        for place, arg in enumerate(self.head.args):
            columns = [
                atom.args[place : place + 1] if atom.relation == self.schema.name else atom.args
                for atom in recursive
            ]
            own = frozenset[int]().union(*map(variables_of, chain.from_iterable(columns)))
            grown = _way(arg.variable, own, made) if isinstance(arg, Ref) else own & frozenset()
            passing = [*recursive, *(made[each][0] for each in grown & made.keys())]
            others = (each for each in self.literals if each not in passing)
            if len(grown) > 1 and all(mentioned(each).isdisjoint(grown) for each in others):
                what = f"strings of `{self.schema.name}` that `cat` makes longer without a bound"
                raise cannot_say(what, self.dialect.name, self.rule.rule.span)

    def _assignments(self, terms: Terms, tables: Tables, line: str) -> Query:
        """A query for the distinct assignments of the body. Those of each alternative are united
        in FROM.
        """
        alternatives = list(_alternatives(self.literals))
        if len(alternatives) == 1:
            return self._query(terms, tables, self.literals)
        variables = sorted(frozenset().union(*map(mentioned, self.literals)))
        columns = [f"v{variable}" for variable in variables]
        found = list[str]()
        for alternative in alternatives:
            query = self._query(terms, tables, alternative, guarded=True)
            written = [
                f"{query.names[variable]} AS {column}"
                for variable, column in zip(variables, columns, strict=True)
            ]
            found.append(query.select(written or ["TRUE"], distinct=True, line=line))
        names = {
            variable: f"a.{column}" for variable, column in zip(variables, columns, strict=True)
        }
        united = f"{line}UNION{line}".join(found)
        return Query(terms, tables, self.columns, names=names, sources=[f"({united}) AS a"])

    def _query(
        self,
        terms: Terms,
        tables: Tables,
        literals: tuple[CheckedLiteral, ...],
        *,
        guarded: bool = False,
    ) -> Query:
        branch = guarded and literals != self.literals
        return Query(terms, tables, self.columns, guarded=branch).add(literals)

    def _named(self, written: list[str]) -> list[str]:
        """Expressions under the names of the relation's columns."""
        names = self.columns(self.schema.name)
        return [
            each if each.endswith(f".{name}") else f"{each} AS {name}"
            for each, name in zip(written or ["TRUE"], names, strict=True)
        ]

    def _plain(self, query: Query, line: str) -> str:
        written = [
            query.terms.typed(arg, type, query.names)
            for arg, (_, type) in zip(self.head.args, self.schema.columns, strict=True)
            if not isinstance(arg, CheckedHeadAggregate)
        ]
        return query.select(self._named(written), distinct=True, line=line)

    def _grouped(self, query: Query, line: str) -> str:
        written, groups, tests = list[str](), list[str](), list[str]()
        for place, (arg, (_, type)) in enumerate(
            zip(self.head.args, self.schema.columns, strict=True), 1
        ):
            if isinstance(arg, CheckedHeadAggregate):
                args = [query.terms.of(each, query.names) for each in arg.args]
                constant = [isinstance(each, Value) for each in arg.args]
                found = query.terms.aggregate(arg.function, args, type, constant)
                written.append(found)
                if AGGREGATES[arg.function].fold is not None:
                    test = f"{written[-1]} IS NOT NULL"
                    alone = f"count({args[0]}) = 0"
                    tests.append(f"({test} OR {alone})" if arg.type.optional else test)
            else:
                written.append(query.terms.typed(arg, type, query.names))
                groups.append(str(place))
        selected = query.select(self._named(written), line=line)
        if groups:
            selected += f"{line}GROUP BY {', '.join(groups)}"
        else:
            tests.append("count(*) > 0")
        return f"{selected}{line}HAVING {' AND '.join(tests)}" if tests else selected

    def _chosen(self, choices: list[CheckedChoice], terms: Terms, tables: Tables, line: str) -> str:
        """The assignments with the first value for each that determines it."""
        if len(choices) > 1:
            what = "several choices in one rule"
            raise cannot_say(what, self.dialect.name, self.rule.rule.span)
        if self.head.aggregates:
            what = "an aggregate over a choice"
            raise cannot_say(what, self.dialect.name, self.rule.rule.span)
        rest = tuple(each for each in self.literals if each is not choices[0])
        query = self._query(terms, tables, rest)
        by = [query.names[each.variable] for each in choices[0].determining]
        order = [query.names[each.variable] for each in choices[0].determined]
        partition = f"PARTITION BY {', '.join(by)} " if by else ""
        rank = f"dense_rank() OVER ({partition}ORDER BY {', '.join(order)}) AS place"
        written = [
            query.terms.typed(arg, type, query.names)
            for arg, (_, type) in zip(self.head.args, self.schema.columns, strict=True)
            if not isinstance(arg, CheckedHeadAggregate)
        ]
        ranked = query.select([*self._named(written), rank], line=" ")
        columns = ", ".join(self.columns(self.schema.name))
        return f"SELECT DISTINCT {columns}{line}FROM ({ranked}) AS ranked{line}WHERE place = 1"


def _alternatives(
    literals: tuple[CheckedLiteral, ...],
) -> Iterator[tuple[CheckedLiteral, ...]]:
    """A body without its outermost disjunctions, one for each choice of branches, if these are
    few.
    """
    branching = [each for each in literals if isinstance(each, CheckedDisjunction)]
    many = 1
    for each in branching:
        many *= len(each.branches)
    if not branching or not 1 < many <= _MOST_ALTERNATIVES:
        yield literals
        return
    rest = tuple(each for each in literals if not isinstance(each, CheckedDisjunction))
    for branches in product(*(each.branches for each in branching)):
        yield (*rest, *(literal for branch in branches for literal in branch.literals))


Made = Mapping[int, tuple[CheckedLiteral, frozenset[int]]]
"""Variables, each with the literal that binds it and the variables that this makes it of."""


def _concatenated(literals: Iterable[CheckedLiteral]) -> Made:
    """The variables that `cat` gives, and other names of them."""
    made: dict[int, tuple[CheckedLiteral, frozenset[int]]] = {}
    for each in literals:
        match each:
            case FunctorCall(functor="cat", args=args, result=int(result)):
                made[result] = each, frozenset[int]().union(*map(variables_of, args))
            case Filter(operator="=", left=Ref(variable=one), right=Ref(variable=other)):
                # Whichever side `cat` gives; its call comes before.
                if other in made:
                    made.setdefault(one, (each, frozenset({other})))
                elif one in made:
                    made[other] = each, frozenset({one})
    return made


def _way(variable: int, own: frozenset[int], made: Made) -> frozenset[int]:
    """The variables from this one down to one of `own`; none where it is made of none of these."""
    if variable in own:
        return frozenset({variable})
    parts = made[variable][1] if variable in made else frozenset[int]()
    rest = {each: found for each, found in made.items() if each != variable}  # b = cat(b, c)
    below = frozenset[int]().union(*(_way(part, own, rest) for part in parts))
    return below | {variable} if below else below
