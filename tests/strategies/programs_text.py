"""Random syntax trees: everything that rule text can express, whether or not it means anything."""

from __future__ import annotations

from hypothesis import strategies as st

from lftj.functions.aggregates import IN_BRACES
from lftj.syntax import functors, tree

_TRICKY_NAMES = [
    "x",
    "y",
    "_x",
    "?",
    "x?",
    "__",
    "a1",
    "é",
    "date",
    "output",
    "inline",
    "agg",
    "decl",
    "not",
    "e1",
    "u",
    "x0b1",
    "contains_",
]


def names(reserved: frozenset[str]) -> st.SearchStrategy[str]:
    """Names that are none of `reserved`; some look like words of the language."""
    words = [*_TRICKY_NAMES, *sorted(functors.BODY_AGGREGATES), *sorted(functors.FUNCTORS)]
    return st.one_of(st.sampled_from(words), st.from_regex(functors.NAME, fullmatch=True)).filter(
        lambda name: name not in reserved
    )


relation_names = names(functors.RESERVED_RELATIONS)
variables = names(functors.RESERVED_VARIABLES).map(tree.Variable)
values = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.booleans(),
    st.dates(),
    st.datetimes(),
    st.decimals(allow_nan=False, allow_infinity=False),
)
constants = values.map(tree.Constant)
simple_terms = st.one_of(variables, constants, st.just(tree.Wildcard()))


def _calls(terms: st.SearchStrategy[tree.Term]) -> st.SearchStrategy[tree.Term]:
    prefix = st.builds(
        lambda name, arg: tree.Call(name, (arg,)), st.sampled_from(sorted(functors.PREFIX)), terms
    )
    infix = st.builds(
        lambda name, left, right: tree.Call(name, (left, right)),
        st.sampled_from(sorted(functors.INFIX)),
        terms,
        terms,
    )
    named = st.sampled_from(sorted(functors.FUNCTORS)).flatmap(lambda name: _call(name, terms))
    return st.one_of(prefix, infix, named)


def _call(name: str, terms: st.SearchStrategy[tree.Term]) -> st.SearchStrategy[tree.Term]:
    least, greatest = functors.FUNCTORS[name]
    args = st.lists(terms, min_size=least, max_size=greatest or least + 1)
    return args.map(lambda found: tree.Call(name, tuple(found)))


plain_terms = st.recursive(simple_terms, _calls, max_leaves=6)


def _arguments(terms: st.SearchStrategy[tree.Term]) -> st.SearchStrategy[tuple[tree.Term, ...]]:
    return st.lists(terms, max_size=3).map(tuple)


def atoms(terms: st.SearchStrategy[tree.Term]) -> st.SearchStrategy[tree.Atom]:
    """Atoms of relations and of functions."""
    return st.builds(tree.Atom, relation_names, _arguments(terms), st.none() | terms)


def _literals(terms: st.SearchStrategy[tree.Term]) -> st.SearchStrategy[tree.Literal]:
    operators = st.sampled_from(sorted({"=", "!=", "<", "<=", ">", ">="} | functors.PREDICATES))
    return st.one_of(
        atoms(terms),
        st.builds(_comparison, operators, terms, terms),
        st.builds(tree.Truth, st.booleans()),
    )


def _comparison(operator: str, left: tree.Term, right: tree.Term) -> tree.Comparison:
    return tree.Comparison(operator, left, left if operator in functors.OF_ONE else right)


def _nested(bodies: st.SearchStrategy[tree.Body]) -> st.SearchStrategy[tree.Body]:
    aggregates = st.one_of(
        bodies.map(lambda body: tree.Aggregate("count", (), body)),
        st.builds(
            tree.Aggregate,
            st.sampled_from(
                sorted(name for name, each in IN_BRACES.items() if each.arguments and each.takes(1))
            ),
            st.tuples(plain_terms),
            bodies,
        ),
        st.builds(
            tree.Aggregate,
            st.sampled_from(["first", "last"]),
            st.tuples(plain_terms, plain_terms) | st.tuples(plain_terms, plain_terms, plain_terms),
            bodies,
        ),
    )
    disjunctions = st.lists(bodies, min_size=2, max_size=3).map(
        lambda branches: tree.Disjunction(tuple(branches))
    )
    literals = st.one_of(
        _literals(plain_terms | aggregates), bodies.map(tree.Negation), disjunctions
    )
    return st.lists(literals, min_size=1, max_size=3).map(lambda found: tree.Body(tuple(found)))


_flat_bodies = st.lists(_literals(plain_terms), min_size=1, max_size=3).map(
    lambda found: tree.Body(tuple(found))
)
bodies = st.recursive(_flat_bodies, _nested, max_leaves=4)

_aggregate_names = names(
    functors.RESERVED_VARIABLES | frozenset(functors.FUNCTORS) | functors.TYPED_CONSTANTS
)
head_aggregates = st.one_of(
    st.builds(tree.HeadAggregate, _aggregate_names, _arguments(plain_terms)),
    st.builds(
        lambda name, arg: tree.HeadAggregate(name, (arg,)),
        st.sampled_from(["sum", "min", "max", "mean", "stddev", "any"]),
        plain_terms,
    ),
    st.just(tree.HeadAggregate("count", ())),
).filter(lambda aggregate: aggregate.function not in functors.UNSUPPORTED_FUNCTORS)
_heads = st.lists(atoms(plain_terms | head_aggregates), min_size=1, max_size=2).map(tuple)
rules = st.builds(tree.Rule, _heads, bodies | st.just(tree.Body(())))

_types = st.sampled_from(["number", "int", "symbol", "decimal(10,2)", "decimal", "Name"])
_columns = st.builds(tree.Column, names(frozenset({"_"})), _types)
declarations = st.one_of(
    st.builds(
        tree.Declaration,
        relation_names,
        st.lists(_columns, max_size=3).map(tuple),
        st.just(False),
        st.lists(st.sampled_from(sorted(functors.QUALIFIERS)), max_size=2)
        .filter(lambda words: sum(word in functors.STRUCTURES for word in words) <= 1)
        .map(tuple),
        key=st.none() | st.lists(names(frozenset({"_"})), max_size=2).map(tuple),
    ),
    st.builds(
        tree.Declaration,
        relation_names,
        st.lists(_columns, min_size=1, max_size=3).map(tuple),
        st.just(True),
    ),
)
_parameters = st.tuples(
    names(frozenset({"_"})), st.text(max_size=5) | st.integers(-(2**63), 2**63 - 1)
)
directives = st.builds(
    tree.Directive,
    st.sampled_from(["input", "output", "printsize", "limitsize"]),
    relation_names,
    st.lists(_parameters, max_size=2).map(tuple),
)
aliases = st.builds(tree.TypeAlias, names(frozenset({"_"})), _types)
clauses = st.one_of(rules, rules, declarations, directives, aliases)
programs = st.lists(clauses, max_size=4).map(lambda found: tree.ParsedProgram(tuple(found)))
