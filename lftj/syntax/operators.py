"""Groups a flat sequence of operands and operators by precedence, with two stacks and no recursion (Dijkstra's shunting yard)."""

from __future__ import annotations

from lark import Token

from lftj.syntax import tree
from lftj.syntax.functors import PRECEDENCE, RIGHT_ASSOCIATIVE
from lftj.syntax.phrases import Phrases

_OPERATORS = frozenset({"MINUS", "INFIX", "PREFIX"})
_NUMBERS = frozenset({"INTEGER", "FLOAT"})


def apply_operators(phrases: Phrases, items: list[object]) -> tree.Term:
    """The term that `items`, operands and operator tokens in the order of the text, make; O(len(items)).

    A minus right before a number belongs to the number, so that the least int64 can be written, except before `^`, which binds tighter.
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
    return isinstance(number, Token) and number.type in _NUMBERS and not (isinstance(following, Token) and following == "^")


def _apply_tighter(phrases: Phrases, operands: list[tree.Term], waiting: list[tuple[str, Token]], operator: str) -> None:
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
