# SPDX-License-Identifier: Apache-2.0
"""Identity of a rule: what is left of it without layout, names of variables, and the order of its
heads and of the literals of its body.

Two rules with the same canonical text are one rule under a renaming of variables and another order
of literals, so they derive the same. The reverse holds but for bodies whose literals can only be
told apart by trying all orders: such rules pass for different ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from lftj.program.scope import rename_apart
from lftj.syntax import tree

_PLACE = "\0"
"""Stands for a variable in the shape of a literal; no text of a program has it unquoted."""
Shape = tuple[str, tuple[str, ...]]
"""A node as text with places for variables, and their names in the order of the places."""


def canonical(rule: tree.Rule) -> str:
    """The rule as a text that equal rules share. O(size of the rule · its variables)."""
    rule = rename_apart(rule)
    fresh = _Fresh()
    heads = [_shape(head, fresh.none) for head in rule.heads]
    body = [_shape(each, fresh.of_atom(each)) for each in rule.body.literals]
    colors = _colors([("h", each) for each in heads] + [("b", each) for each in body])

    def rank(shape: Shape) -> tuple[str, list[int]]:
        return shape[0], [colors[name] for name in shape[1]]

    numbers: dict[str, int] = {}
    ordered = [sorted(heads, key=rank), sorted(body, key=rank)]
    parts = [sorted(_numbered(each, numbers) for each in part) for part in ordered]
    return "\n:-\n".join("\n".join(part) for part in parts)


class _Fresh:
    """Names for `_` in atoms that have to hold, where it is a variable like any other."""

    def __init__(self) -> None:
        self._count = 0

    def none(self) -> str | None:
        """No name: `_` stays."""
        return None

    def of_atom(self, literal: tree.Literal) -> Callable[[], str | None]:
        """Names for an atom of a rule's own body, none for other literals."""
        return self._next if isinstance(literal, tree.Atom) else self.none

    def _next(self) -> str:
        self._count += 1
        return f"_'{self._count}"


def _numbered(shape: Shape, numbers: dict[str, int]) -> str:
    text, names = shape
    places = [str(numbers.setdefault(name, len(numbers))) for name in names]
    parts = text.split(_PLACE)
    return parts[0] + "".join(
        f"${place}{part}" for place, part in zip(places, parts[1:], strict=True)
    )


def _colors(shapes: Sequence[tuple[str, Shape]]) -> Mapping[str, int]:
    """Numbers that tell variables apart by where they stand, whatever their names."""
    where: dict[str, list[tuple[int, int]]] = {}
    for number, (_, (_, names)) in enumerate(shapes):
        for place, name in enumerate(names):
            where.setdefault(name, []).append((number, place))
    colors, count = dict.fromkeys(where, 0), 0
    while count < len(where):
        signs = [
            f"{part}{text!r}{[colors[name] for name in names]}" for part, (text, names) in shapes
        ]
        looks = {
            name: f"{colors[name]:9}{sorted((signs[number], place) for number, place in places)}"
            for name, places in where.items()
        }
        ranks = {look: rank for rank, look in enumerate(sorted({*looks.values()}))}
        colors = {name: ranks[look] for name, look in looks.items()}
        if len(ranks) == count:
            break
        count = len(ranks)
    return colors


# ── shapes ────────────────────────────────────────────────────────────────────────────────────────
def _shape(node: tree.Node, wildcard: Callable[[], str | None]) -> Shape:
    names: list[str] = []
    return "".join(_pieces(node, names, wildcard)), tuple(names)


def _pieces(node: object, names: list[str], wildcard: Callable[[], str | None]) -> Iterator[str]:
    """The node as text that tells all of it but places and the names of variables."""
    match node:
        case tree.Variable():
            names.append(node.name)
            yield _PLACE
        case tree.Wildcard():
            name = wildcard()
            if name is None:
                yield "_"
            else:
                names.append(name)
                yield _PLACE
        case tree.Constant(value):
            yield f"{type(value).__name__} {str(value)!r}"
        case tree.Node():
            yield f"{type(node).__name__}("
            for field, value in vars(node).items():
                if field != "span":
                    yield from _pieces(value, names, wildcard)
                    yield ";"
            yield ")"
        case tuple():
            yield "["
            for each in node:
                yield from _pieces(each, names, wildcard)
                yield ","
            yield "]"
        case _:
            yield repr(node)
