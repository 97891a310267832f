# SPDX-License-Identifier: Apache-2.0
"""Phrases whose place decides what they are: terms, conditions, atoms, functors, aggregates.

A phrase is read before its place is known: `f(x)` may turn out to be an atom, a functor or an
aggregate. Until then it is an `Application`; `term` and `literals` decide, bottom-up while the
parser runs, so no depth of nesting can exhaust the stack.

Problems that leave the text readable are collected, not raised: one run of the parser finds all of
them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeGuard

from lark import Token

from lftj.errors import ArityError, LftjError, ParseError, Span
from lftj.functions.aggregates import AGGREGATES
from lftj.scantree.frozen import frozen
from lftj.syntax import constants, functors, tree
from lftj.syntax.source import Source, join


@frozen(slots=True)
class Application:
    """`name(args)` or, with `brackets`, `name[args]`, in a place that is not known yet."""

    name: str
    args: tuple[tree.Term, ...]
    brackets: bool
    span: Span
    grouped: bool = False


@frozen(slots=True)
class Group:
    """Several conditions in parentheses, or `terms` (`literals` is None then), which only `choice`
    takes.
    """

    literals: tuple[tree.Literal, ...] | None
    span: Span
    terms: tuple[tree.Term, ...] = ()


@frozen(slots=True)
class Refused:
    """A condition that is known and refused; its problem is noted."""

    span: Span


class Branches(list[list[object]]):
    """The alternatives of a disjunction, each a list of conditions as read."""


TERMS = (tree.Variable, tree.Wildcard, tree.Constant, tree.Call, tree.Aggregate, tree.HeadAggregate)
LITERALS = (tree.Atom, tree.Comparison, tree.Truth, tree.Negation, tree.Disjunction, tree.Choice)
Children = list[Any]


def is_truth(phrase: object) -> TypeGuard[tree.Constant]:
    """True for `true` and `false`, which are conditions as well as terms."""
    return isinstance(phrase, tree.Constant) and isinstance(phrase.value, bool)


class Phrases:
    """Decides what phrases are and collects problems; `begin` must be called before each text."""

    source: Source
    errors: list[LftjError]

    def begin(self, source: Source) -> None:
        """Forget the last text and read `source` from now on."""
        self.source = source
        self.errors = []
        self.whole = False
        """True when an `if(…)` stays as it is read."""
        self.follows = False
        """True when the clause being read begins on the line of one with an error."""
        self.next_clause()

    def next_clause(self) -> None:
        """Forget what was noted of the clause before."""
        self.read = len(self.errors)
        """Number of errors in the clauses before."""
        self.unplaced: list[tree.HeadAggregate] = []
        """Aggregates of the clause being read: only its end shows whether they stand in
        the head.
        """
        self.conditional_read = False
        """True when the clause has an `if(…)`."""
        self.misread = False
        """True when a phrase of this clause stands where it cannot: others may follow from that."""

    # ── places and problems ───────────────────────────────────────────────────────────────────────
    def at(self, phrase: object) -> Span:
        """The place of a token or of anything built here."""
        if isinstance(phrase, Token):
            return self.source.span(phrase.start_pos or 0, phrase.end_pos or 0)
        span = phrase if isinstance(phrase, Span) else getattr(phrase, "span", None)
        assert span is not None, phrase
        return span

    def between(self, first: object, last: object) -> Span:
        """Span from one phrase to another."""
        if isinstance(first, Token) and isinstance(last, Token):
            return self.source.span(first.start_pos or 0, last.end_pos or 0)
        return join(self.at(first), self.at(last))

    def problem(self, message: str, place: object, hint: str, code: str = "E100") -> None:
        """Note a ParseError at `place` (a token, a node or a span)."""
        self.errors.append(ParseError(message, code=code, span=self.at(place), hint=hint))

    def out_of_place(self, message: str, place: object, hint: str) -> None:
        """Note a phrase where it cannot stand. A clause has one such problem: one comma too many
        puts both its neighbours out of place. A problem inside the phrase explains enough.
        """
        span = self.at(place)
        if not self.misread and not self.spoilt(span):
            self.problem(message, span, hint)
        self.misread = True

    def spoilt(self, span: Span) -> bool:
        """Test for a problem inside `span`, in the clause being read."""
        places = (error.span for error in self.errors[self.read :])
        return any(place is not None and _holds(span, place) for place in places)

    def unsupported(self, what: str, place: object, hint: str) -> None:
        """Note that the construct `what` is known but refused."""
        self.problem(f"{what} not supported", place, hint, "E101")

    # ── deciding ──────────────────────────────────────────────────────────────────────────────────
    def term(self, phrase: object) -> tree.Term:
        """`phrase` in the place of a term."""
        if isinstance(phrase, TERMS):
            return phrase
        if isinstance(phrase, Token):
            return self.number(phrase)
        span = self.at(phrase)
        if isinstance(phrase, Application):
            return self.bracketed_term(phrase) if phrase.brackets else self.call(phrase)
        if isinstance(phrase, Group) and phrase.literals is None:
            several = "several terms" if phrase.terms else "no term"
            self.out_of_place(
                f"{several} in one pair of parentheses",
                span,
                "parentheses in a term hold one term: (x + 1) * 2",
            )
        else:
            self.out_of_place(
                "a condition where a term is expected",
                span,
                "a term is a variable, a constant, arithmetic or a function call",
            )
        return tree.Wildcard(span=span)

    def literals(self, phrase: object) -> tuple[tree.Literal, ...]:
        """`phrase` in the place of a condition; a conjunction in parentheses joins the conjunction
        round it.
        """
        if isinstance(phrase, LITERALS):
            return (phrase,)
        if isinstance(phrase, Group) and phrase.literals is not None:
            return phrase.literals
        if isinstance(phrase, Application):
            return self.predicate(phrase)
        if is_truth(phrase):
            return (tree.Truth(bool(phrase.value), span=phrase.span),)
        if isinstance(phrase, Refused):
            return ()
        hint = "a condition is an atom, `r(x)` or `r()`, a comparison `x < y` or `!` before one"
        self.out_of_place("a term where a condition is expected", phrase, hint)
        return ()

    def body(self, content: object) -> tree.Body:
        """The body that a list of conditions, or `Branches`, makes."""
        if isinstance(content, Branches):
            branches = tuple(self.body(branch) for branch in content)
            return tree.Body(
                (tree.Disjunction(branches, span=self.spread(branches)),),
                span=self.spread(branches),
            )
        assert isinstance(content, list)
        literals = tuple(literal for phrase in content for literal in self.literals(phrase))
        return tree.Body(literals, span=self.spread(literals))

    @staticmethod
    def spread(nodes: tuple[tree.Node, ...]) -> Span | None:
        """Span from the first to the last of `nodes`."""
        places = [node.span for node in nodes if node.span is not None]
        return join(places[0], places[-1]) if places else None

    # ── applications ──────────────────────────────────────────────────────────────────────────────
    def bracketed_term(self, phrase: Application) -> tree.Term:
        """`F[x]` inside a term: refused, since it is a condition."""
        hint = f"write the condition {phrase.name}[…] = v and use v here"
        self.out_of_place(f"the function {phrase.name}[…] inside a term", phrase.span, hint)
        return tree.Wildcard(span=phrase.span)

    def call(self, phrase: Application) -> tree.Term:
        """A functor, a constant such as `date("…")`, or an aggregate of the head."""
        name, args, span = functors.SYNONYMS.get(phrase.name, phrase.name), phrase.args, phrase.span
        if name in functors.UNSUPPORTED_FUNCTORS:
            self.unsupported(f"the functor `{name}` is", span, functors.UNSUPPORTED_FUNCTORS[name])
            return tree.Wildcard(span=span)
        if name in functors.TYPED_CONSTANTS and (len(args) == 1 or name not in functors.FUNCTORS):
            return self.typed_constant(phrase)
        if name == "as":
            return self.as_type(phrase)
        if name == "ord" and len(args) == 1:
            return tree.Call(name, args, span=span)
        known = AGGREGATES.get(name)
        aggregates = known is not None and known.takes(len(args))
        if aggregates or not functors.is_functor(name):
            aggregate = tree.HeadAggregate(name, args, span=span)
            self.unplaced.append(aggregate)
            return aggregate
        if (wrong := functors.wrong_arity(name, len(args))) is not None:
            self.errors.append(ArityError(wrong, code="E121", span=span, hint=functors.USAGE[name]))
        return tree.Call(name, args, span=span)

    def as_type(self, phrase: Application) -> tree.Term:
        """`as(x, T)`, with the name of the type as a constant."""
        match phrase.args:
            case (value, tree.Variable(name=type)):
                return tree.Call(
                    "as",
                    (value, tree.Constant(type, span=self.at(phrase.args[1]))),
                    span=phrase.span,
                )
        self.problem("`as` takes a value and the name of a type", phrase.span, "write as(x, T)")
        return tree.Wildcard(span=phrase.span)

    def typed_constant(self, phrase: Application) -> tree.Term:
        """`date("2013-01-31")` and the like."""
        match phrase.args:
            case (tree.Constant(str() as text),):
                return self.guarded(partial(constants.read_typed, phrase.name), text, phrase.span)
        self.problem(
            f"{phrase.name}(…) takes one string in quotes",
            phrase.span,
            functors.USAGE.get(phrase.name, f'write {phrase.name}("…"), with a constant'),
        )
        return tree.Wildcard(span=phrase.span)

    def predicate(self, phrase: Application) -> tuple[tree.Literal, ...]:
        """`name(args)` as a condition: an atom, `contains` or `match`."""
        name, args, span = phrase.name, phrase.args, phrase.span
        if phrase.brackets:
            self.out_of_place(
                f"the function {name}[…] without its value",
                span,
                f"write {name}[…] = y, or {name}[…] = _",
            )
        elif name == "choice":
            self.problem(
                "`choice` takes two lists of variables",
                span,
                "write choice((x), (y)): for each x one y",
            )
        elif name in functors.PREDICATES:
            wanted = 1 if name in functors.OF_ONE else 2
            if len(args) == wanted:
                return (tree.Comparison(name, args[0], args[-1], span=span),)
            self.errors.append(
                ArityError(
                    f"{name} takes {wanted} argument{'s' * (wanted > 1)}, found {len(args)}",
                    span=span,
                    hint=functors.USAGE[name],
                )
            )
        else:
            return (tree.Atom(name, args, span=span),)
        return ()

    # ── constants ─────────────────────────────────────────────────────────────────────────────────
    def guarded(
        self, read: Callable[[str, Span], tree.LiteralValue], text: str, span: Span
    ) -> tree.Constant:
        """The constant that `read` makes of `text`; its error is noted."""
        try:
            return tree.Constant(read(text, span), span=span)
        except LftjError as problem:
            self.errors.append(problem)
            return tree.Constant(0, span=span)

    def number(self, token: Token, sign: str = "", place: Span | None = None) -> tree.Constant:
        """A number, with the sign before it."""
        read = {"INTEGER": constants.read_integer, "IPV4": constants.read_ipv4}.get(
            token.type, constants.read_float
        )
        return self.guarded(read, sign + token.value, place or self.at(token))


def _holds(outer: Span, inner: Span) -> bool:
    """Test whether `inner` lies within `outer`."""
    return (outer.line, outer.column) <= (inner.line, inner.column) and (
        inner.end_line,
        inner.end_column,
    ) <= (outer.end_line, outer.end_column)
