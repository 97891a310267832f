"""Short hand for syntax trees in tests: a plain string is a variable, `_` the wildcard, anything
else a constant.
"""

from __future__ import annotations

from lftj.syntax import tree

Shorthand = tree.Term | tree.LiteralValue


def term(short: Shorthand) -> tree.Term:
    """The term that a short form stands for."""
    if isinstance(short, tree.Node):
        return short
    if isinstance(short, str):
        return tree.Wildcard() if short == "_" else tree.Variable(short)
    return tree.Constant(short)


def text(value: str) -> tree.Constant:
    """A string constant."""
    return tree.Constant(value)


def atom(relation: str, *args: Shorthand) -> tree.Atom:
    """`relation(args)`."""
    return tree.Atom(relation, tuple(map(term, args)))


def function(relation: str, *args: Shorthand) -> tree.Atom:
    """`relation[args…] = last`."""
    *keys, value = map(term, args)
    return tree.Atom(relation, tuple(keys), value)


def call(functor: str, *args: Shorthand) -> tree.Call:
    """Arithmetic or a functor."""
    return tree.Call(functor, tuple(map(term, args)))


def compare(left: Shorthand, operator: str, right: Shorthand) -> tree.Comparison:
    """`left operator right`."""
    return tree.Comparison(operator, term(left), term(right))


def body(*literals: tree.Literal) -> tree.Body:
    """A conjunction."""
    return tree.Body(literals)


def without(*literals: tree.Literal) -> tree.Negation:
    """`!( … )`."""
    return tree.Negation(body(*literals))


def either(*branches: tuple[tree.Literal, ...]) -> tree.Disjunction:
    """A disjunction of conjunctions."""
    return tree.Disjunction(tuple(tree.Body(branch) for branch in branches))


def gather(aggregate: str, target: Shorthand | None, *literals: tree.Literal) -> tree.Aggregate:
    """A body aggregate."""
    return tree.Aggregate(aggregate, () if target is None else (term(target),), body(*literals))


def of_group(aggregate: str, *args: Shorthand) -> tree.HeadAggregate:
    """A head aggregate."""
    return tree.HeadAggregate(aggregate, tuple(map(term, args)))


def rule(heads: tree.Atom | tuple[tree.Atom, ...], *literals: tree.Literal) -> tree.Rule:
    """`heads :- literals.`"""
    return tree.Rule(heads if isinstance(heads, tuple) else (heads,), body(*literals))


def declare(name: str, *types: str, functional: bool = False) -> tree.Declaration:
    """`.decl name(c0: …, c1: …)`."""
    return tree.Declaration(
        name,
        tuple(tree.Column(f"c{place}", type_) for place, type_ in enumerate(types)),
        functional,
    )
