# SPDX-License-Identifier: Apache-2.0
"""Builders for the grammar's rules for terms and conditions. Each method has the name of its rule
and takes the rule's children.
"""

from __future__ import annotations

from dataclasses import replace

from lark import Token

from lftj.functions.aggregates import IN_BRACES
from lftj.syntax import constants, functors, tree
from lftj.syntax.functors import PRECEDENCE, RIGHT_ASSOCIATIVE
from lftj.syntax.phrases import (
    LITERALS,
    TERMS,
    Application,
    Branches,
    Children,
    Group,
    Phrases,
    Refused,
    is_truth,
)

# Groups a flat sequence of operands and operators by precedence, with two stacks and no recursion
# (Dijkstra's shunting yard).

_OPERATORS = frozenset({"MINUS", "INFIX", "PREFIX"})
_NUMBERS = frozenset({"INTEGER", "FLOAT"})


def apply_operators(phrases: Phrases, items: list[object]) -> tree.Term:
    """The term that `items`, operands and operator tokens in the order of the text, make;
    O(len(items)).

    A minus right before a number belongs to the number, so that the least int64 can be written,
    except before `^`, which binds tighter.
    """
    operands: list[tree.Term] = []
    waiting: list[tuple[str, Token]] = []
    operand_next = True
    position = 0
    while position < len(items):
        item = items[position]
        position += 1
        if not (isinstance(item, Token) and item.type in _OPERATORS):
            operands.append(phrases.term(item))
            operand_next = False
        elif not operand_next:
            _apply_tighter(phrases, operands, waiting, str(item))
            waiting.append((str(item), item))
            operand_next = True
        elif item.type == "MINUS" and _signs(items, position):
            number = items[position]
            assert isinstance(number, Token)
            operands.append(phrases.number(number, "-", phrases.between(item, number)))
            position += 1
            operand_next = False
        else:
            waiting.append(("neg" if item.type == "MINUS" else str(item), item))
    while waiting:
        _apply(phrases, operands, *waiting.pop())
    return operands[0]


def _signs(items: list[object], position: int) -> bool:
    """True when the minus before `items[position]` is the sign of a number."""
    number = items[position]
    following = items[position + 1] if position + 1 < len(items) else None
    return (
        isinstance(number, Token)
        and number.type in _NUMBERS
        and not (isinstance(following, Token) and following == "^")
    )


def _apply_tighter(
    phrases: Phrases, operands: list[tree.Term], waiting: list[tuple[str, Token]], operator: str
) -> None:
    """Apply the waiting operators that come before `operator`."""
    while waiting:
        before, here = PRECEDENCE[waiting[-1][0]], PRECEDENCE[operator]
        if before < here or (before == here and operator in RIGHT_ASSOCIATIVE):
            return
        _apply(phrases, operands, *waiting.pop())


def _apply(phrases: Phrases, operands: list[tree.Term], functor: str, token: Token) -> None:
    right = operands.pop()
    if functor in ("neg", "bnot", "lnot"):
        operands.append(tree.Call(functor, (right,), span=phrases.between(token, right)))
    else:
        left = operands.pop()
        operands.append(tree.Call(functor, (left, right), span=phrases.between(left, right)))


class TermActions(Phrases):
    """Builds terms and conditions."""

    # ── constants and variables ───────────────────────────────────────────────────────────────────
    def string(self, children: Children) -> tree.Constant:
        (token,) = children
        return self.guarded(constants.read_string, str(token), self.at(token))

    def true(self, children: Children) -> tree.Constant:
        return tree.Constant(True, span=self.at(children[0]))

    def false(self, children: Children) -> tree.Constant:
        return tree.Constant(False, span=self.at(children[0]))

    def wildcard(self, children: Children) -> tree.Wildcard:
        return tree.Wildcard(span=self.at(children[0]))

    def variable(self, children: Children) -> tree.Term:
        name, span = str(children[0]), self.at(children[0])
        if name in functors.RESERVED_VARIABLES:
            if name == "nil":
                self.unsupported(
                    "records (`nil`) are", span, "give the relation one column for each field"
                )
            elif name in functors.WORDS_OF_NULL:
                self.problem(
                    f"`{name}` would be a variable here, which is never NULL in a comparison",
                    span,
                    "write is_null(x) of the variable in its place, or !is_null(x)",
                )
            elif name in functors.WORDS_OF_TRUTH:
                value = name.lower()
                self.problem(f"`{name}` would be a variable here", span, f"write `{value}`")
            else:
                self.problem(
                    f"`{name}` is a word of the language",
                    span,
                    f"choose another name for the variable, such as {name}_",
                )
        return tree.Variable(name, span=span)

    # ── compound phrases ──────────────────────────────────────────────────────────────────────────
    def arguments(self, children: Children) -> Children:
        return children

    def by_column(self, children: Children) -> tree.Term:
        """`column=term`, among the arguments of an atom."""
        name, _, phrase = children
        term = self.term(phrase)
        column = tree.Constant(str(name), span=self.at(name))
        return tree.Call(tree.BY_COLUMN, (column, term), span=self.between(name, phrase))

    def application(self, children: Children) -> object:
        name, opening, rest, closing = children
        span = self.between(name, closing)
        phrases = rest if isinstance(rest, list) else []
        if str(name) == "choice" and opening.type == "LPAR":
            if len(phrases) == 2:
                return tree.Choice(*map(self.listed, phrases), span=span)
            phrases = []
        return Application(
            str(name), tuple(self.term(phrase) for phrase in phrases), opening.type == "LSQB", span
        )

    function_application = application

    def listed(self, phrase: object) -> tuple[tree.Term, ...]:
        """The terms of one side of a choice: `(x, y)`, `(x)` or plain `x`."""
        return (
            phrase.terms
            if isinstance(phrase, Group) and phrase.literals is None
            else (self.term(phrase),)
        )

    def aggregate_application(self, children: Children) -> object:
        name, opening, *rest, closing = children
        phrases = [
            phrase for part in rest for phrase in (part if isinstance(part, list) else [part])
        ]
        return self.application([name, opening, phrases, closing])

    def arithmetic(self, children: Children) -> tree.Term:
        return apply_operators(self, children)

    def braces(self, children: Children) -> object:
        _, content, closing = children
        return self.body(content), closing

    def aggregate(self, children: Children) -> tree.Aggregate:
        name, *middle, last = children
        flat = [each for part in middle for each in (part if isinstance(part, list) else [part])]
        args = tuple(
            self.term(part)
            for part in flat
            if not (isinstance(part, Token) and part.type in ("LPAR", "RPAR"))
        )
        body, closing = last if isinstance(last, tuple) else (self.body([last]), last)
        span = self.between(name, closing)
        known = IN_BRACES.get(str(name))
        if known is not None and not known.takes_in_braces(len(args)):
            found = f"takes {known.wanted}" if args else "needs a term"
            hint = "write `count : { … }`, and `sum x : { … }` for the others"
            if not known.takes(1) and known.of_values:
                hint = f"write `{known.in_braces}`"
            self.out_of_place(f"{name} {found} before the colon", span, hint)
        return tree.Aggregate(str(name), args, body, span=span)

    def conditional(self, children: Children) -> tree.Term:
        word, _, condition, *branches, end = children
        self.conditional_read = True
        body = tree.Body(self.literals(condition), span=self.at(condition))
        first, second = map(self.term, branches)
        return tree.Conditional("if", (first, second), body, span=self.between(word, end))

    def comparison(self, children: Children) -> tree.Literal:
        left, operator, right = children
        span = self.between(left, right)
        for function, value in ((left, right), (right, left)):
            if isinstance(function, Application) and function.brackets and str(operator) == "=":
                return tree.Atom(function.name, function.args, self.term(value), span=span)
        return tree.Comparison(str(operator), self.term(left), self.term(right), span=span)

    def negation(self, children: Children) -> tree.Negation:
        sign, phrase = children
        literals = self.literals(phrase)
        grouped = isinstance(phrase, Group) or (isinstance(phrase, Application) and phrase.grouped)
        nested = grouped and len(literals) == 1 and isinstance(literals[0], tree.Atom)
        return tree.Negation(
            tree.Body(literals, span=self.at(phrase)), nested, span=self.between(sign, phrase)
        )

    def conjunction(self, children: Children) -> Children:
        return children

    def disjunction(self, children: Children) -> Branches:
        return Branches(children)

    def group(self, children: Children) -> object:
        opening, content, closing = children
        span = self.between(opening, closing)
        if not isinstance(content, Branches):
            assert isinstance(content, list)
            if len(content) == 1 and isinstance(content[0], Application):
                return replace(content[0], grouped=True)
            if len(content) == 1 and not isinstance(content[0], LITERALS):
                return self.number(content[0]) if isinstance(content[0], Token) else content[0]
            if all(isinstance(phrase, (*TERMS, Token)) for phrase in content) and not all(
                is_truth(phrase) for phrase in content
            ):
                return Group(None, span, tuple(map(self.term, content)))
        return Group(self.body(content).literals, span)

    def left_join(self, children: Children) -> tree.LeftJoin:
        opening, content, _, mark = children
        self.conditional_read = True
        return tree.LeftJoin((self.body(content),), span=self.between(opening, mark))

    def no_terms(self, children: Children) -> Group:
        return Group(None, self.between(*children))

    def of_component(self, children: Children) -> Refused:
        """`graph.edge(…)`, with what is compared with it; or `row.column`."""
        name, sign, *_ = children
        called = isinstance(sign, Token) and sign.type in ("LPAR", "LSQB")
        message, hint, code = functors.of_dotted(str(name), "relation" if called else "term")
        self.problem(message, name, hint, code)
        self.misread = True
        return Refused(self.between(name, children[3]) if called else self.at(name))

    # ── refused ───────────────────────────────────────────────────────────────────────────────────
    def record(self, children: Children) -> tree.Term:
        span = self.between(children[0], children[-1])
        self.unsupported(
            "records `[a, b]` are", span, "give the relation one column for each field"
        )
        return tree.Wildcard(span=span)

    def counter(self, children: Children) -> tree.Term:
        self.unsupported(
            "the counter `$` is", children[0], functors.UNSUPPORTED_FUNCTORS["autoinc"]
        )
        return tree.Wildcard(span=self.at(children[0]))

    def variant(self, children: Children) -> tree.Term:
        span = self.between(children[0], children[-1])
        self.unsupported(
            f"algebraic data types (`${children[1]}`) are",
            span,
            "use one relation for each kind of value",
        )
        return tree.Wildcard(span=span)

    def user_functor(self, children: Children) -> tree.Term:
        span = self.between(children[0], children[-1])
        self.unsupported(
            f"functors from C++ libraries (`@{children[1]}`) are",
            span,
            functors.UNSUPPORTED_DIRECTIVES["functor"][1],
        )
        return tree.Wildcard(span=span)
