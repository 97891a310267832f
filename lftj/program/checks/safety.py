# SPDX-License-Identifier: Apache-2.0
"""Safety check: every variable of a rule is bound. Works on rules whose variables have been renamed
apart.

A variable is bound by a positive atom of which it is an argument, by `x = expression` (either way
round) whose variables are bound, by the result of a body aggregate, or by a disjunction that binds
it in every branch. Everything else only asks: heads, negations, comparisons, the arguments of
functors, the targets of aggregates.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

from lftj.errors import Span, UnsafeRuleError
from lftj.functions.aggregates import IN_BRACES, WITNESSED, listed
from lftj.program.scope import (
    direct_names,
    direct_terms,
    mentioned_names,
    negated_atom,
    term_aggregates,
    term_names,
    user_name,
)
from lftj.syntax import tree

Names = frozenset[str]

_BESIDE = "bind it with a positive atom beside the negation"
_NO_WITNESS = (
    f"the braces of {listed(IN_BRACES.keys() - WITNESSED)} bind nothing outside: "
    "r({name}, _) beside them gives one result for each `{name}`"
)
PLACES: dict[str, tuple[str, str]] = {
    "head": ("E140", "bind it in the body: add a positive atom that has `{name}`, or `{name} = …`"),
    "negation": ("E141", _BESIDE + "; if you meant any value, write `_` in its place"),
    "equal": (
        "E141",
        _BESIDE
        + "; if you meant any value that is the same in both places, write !( r({name}, other), "
        "{name} = other )",
    ),
    "computed": ("E141", _BESIDE),
    "comparison": (
        "E142",
        "bind it with a positive atom, or with `{name} = …` over bound variables",
    ),
    "aggregate": (
        "E143",
        "bind it with a positive atom inside the aggregate's braces, or beside the aggregate",
    ),
    "expression": (
        "E142",
        "an expression computes from bound variables only: bind `{name}` with a positive atom",
    ),
}
"""Error code and remedy for each kind of place."""


def unsafe_variables(rule: tree.Rule) -> list[UnsafeRuleError]:
    """One error for each variable that nothing binds, in the order of the text."""
    check = _Check(rule)
    # `n = x + 1` with `x` unbound leaves `n` unbound too: one of the two is the mistake.
    causes = [error for name, error in check.errors.items() if name not in check.follow] or list(
        check.errors.values()
    )
    return sorted(
        causes, key=lambda error: (error.span.line, error.span.column) if error.span else (0, 0)
    )


# ── what binds ────────────────────────────────────────────────────────────────────────────────────
def bound_names(literals: Sequence[tree.Literal], given: Names, visible: Names) -> Names:
    """The variables bound once all of `literals` hold, `given` among them. `visible`: the variables
    of the bodies around.
    """
    bound = set(given)
    waiting, size = list(literals), -1
    while size != (size := len(bound)):
        for literal in waiting:
            bound.update(_binds(literal, bound, visible))
        # so that chains of equations settle in two passes, whichever way they are written
        waiting.reverse()
    return frozenset(bound)


def _binds(literal: tree.Literal, bound: Set[str], visible: Names) -> Iterable[str]:
    match literal:
        case tree.Atom():
            return [term.name for term in literal.terms if isinstance(term, tree.Variable)]
        case tree.Comparison("is_null", tree.Variable(name)):
            return (name,)
        case tree.Comparison(operator="="):
            sides = ((literal.left, literal.right), (literal.right, literal.left))
            return [
                side.name
                for side, other in sides
                if isinstance(side, tree.Variable) and _computable(other, bound, visible)
            ]
        case tree.Disjunction() if literal.branches:
            given = frozenset(bound)
            bodies = [
                (branch.literals, visible | direct_names(branch.literals).keys())
                for branch in literal.branches
            ]
            return frozenset.intersection(
                *(bound_names(literals, given, names) for literals, names in bodies)
            )
    return ()


def _computable(term: tree.Term, bound: Set[str], visible: Names) -> bool:
    """True when the term's variables are bound, and those that its aggregates share with the bodies
    around them.
    """
    if isinstance(term, tree.Wildcard):
        return False
    shared = {
        name for each in term_aggregates(term) for name in mentioned_names(each) if name in visible
    }
    return term_names(term).keys() | shared <= bound


def _names_in_branches(body: tree.Body) -> set[str]:
    """Variables that atoms in branches of disjunctions have."""
    branches = [
        branch
        for literal in body.literals
        if isinstance(literal, tree.Disjunction)
        for branch in literal.branches
    ]
    atoms = [
        literal
        for branch in branches
        for literal in branch.literals
        if isinstance(literal, tree.Atom)
    ]
    return {name for atom in atoms for name in mentioned_names(atom)}.union(
        *map(_names_in_branches, branches)
    )


def _names_in_braces(rule: tree.Rule) -> set[str]:
    """Variables that atoms in the braces of aggregates have."""
    terms = [term for head in rule.heads for term in head.terms]
    terms += [term for literal in rule.body.literals for term in direct_terms(literal)]
    literals = [
        literal
        for term in terms
        for each in term_aggregates(term)
        for literal in each.body.literals
    ]
    return {
        name
        for literal in literals
        if isinstance(literal, tree.Atom)
        for name in mentioned_names(literal)
    }


def _constant(term: tree.Term) -> bool:
    return not term_names(term) and not term_aggregates(term)


# ── what asks ─────────────────────────────────────────────────────────────────────────────────────
class _Check:
    """Walks a rule and keeps the first error of each variable; `follow` would be bound if other
    variables were.
    """

    def __init__(self, rule: tree.Rule):
        self.errors: dict[str, UnsafeRuleError] = {}
        self.follow: set[str] = set()
        self._in_branches, self._in_braces = _names_in_branches(rule.body), _names_in_braces(rule)
        head_names = {
            name for head in rule.heads for term in head.terms for name in term_names(term)
        }
        visible = frozenset(head_names | direct_names(rule.body.literals).keys())
        bound = self._body(rule.body.literals, frozenset(), visible)
        for head in rule.heads:
            for term in head.terms:
                self._ask(
                    term, bound, visible, "head", f"in the head of `{head.relation}`", head.span
                )

    def _body(self, literals: Sequence[tree.Literal], given: Names, visible: Names) -> Names:
        bound = bound_names(literals, given, visible)
        for literal in literals:
            self._literal(literal, bound, visible)
        return bound

    def _literal(self, literal: tree.Literal, bound: Names, visible: Names) -> None:
        match literal:
            case tree.Atom():
                for term in literal.terms:
                    if not isinstance(term, tree.Variable):
                        self._ask(
                            term,
                            bound,
                            visible,
                            "expression",
                            f"in an expression in `{literal.relation}`",
                            literal.span,
                        )
            case tree.Comparison():
                where = (
                    "in a comparison"
                    if literal.operator in ("=", "!=", "<", "<=", ">", ">=")
                    else f"in `{literal.operator}`"
                )
                for term, other in ((literal.left, literal.right), (literal.right, literal.left)):
                    self._ask(term, bound, visible, "comparison", where, literal.span)
                    if (
                        literal.operator == "="
                        and isinstance(term, tree.Variable)
                        and not _constant(other)
                    ):
                        self.follow |= {term.name} - term_names(other).keys()
            case tree.Choice(determining, determined):
                for term in (*determining, *determined):
                    self._ask(term, bound, visible, "comparison", "in `choice`", literal.span)
            case tree.Negation():
                self._negation(literal, bound, visible)
            case tree.Disjunction():
                for branch in literal.branches:
                    self._body(
                        branch.literals, bound, visible | direct_names(branch.literals).keys()
                    )

    def _negation(self, negation: tree.Negation, bound: Names, visible: Names) -> None:
        if (atom := negated_atom(negation)) is None:
            self._body(
                negation.body.literals, bound, visible | direct_names(negation.body.literals).keys()
            )
            return
        for term in atom.terms:
            kind = (
                "computed"
                if not isinstance(term, tree.Variable)
                else "negation"
                if atom.terms.count(term) == 1
                else "equal"
            )
            self._ask(
                term,
                bound,
                visible,
                kind,
                f"under the negation of `{atom.relation}`",
                negation.span,
            )

    def _ask(
        self,
        term: tree.Term,
        bound: Names,
        visible: Names,
        kind: str,
        where: str,
        span: Span | None,
    ) -> None:
        for name, variable in term_names(term).items():
            if name not in bound:
                self._report(name, kind, where, variable.span or span)
        for aggregate in term_aggregates(term):
            inner = visible | direct_names(aggregate.body.literals).keys()
            inside = self._body(aggregate.body.literals, bound, inner)
            given = {name: each for arg in aggregate.args for name, each in term_names(arg).items()}
            for name, variable in given.items():
                if name not in inside:
                    self._report(
                        name,
                        "aggregate",
                        f"in the target of `{aggregate.function}`",
                        variable.span or aggregate.span,
                    )

    def _report(self, name: str, kind: str, where: str, span: Span | None) -> None:
        code, hint = PLACES[kind]
        if name in self._in_branches:
            hint = (
                "only some branches of the disjunction bind it: bind `{name}` in every branch, "
                "or beside the disjunction"
            )
        elif name in self._in_braces and kind != "aggregate":
            hint = _NO_WITNESS
        shown = user_name(name)
        message = f"variable `{shown}` {where} is not bound"
        self.errors.setdefault(
            name, UnsafeRuleError(message, code=code, span=span, hint=hint.format(name=shown))
        )
