# SPDX-License-Identifier: Apache-2.0
"""Builders for the grammar's rules for directives: files, and what is for Soufflé only. Each method
has the name of its grammar rule.
"""

from __future__ import annotations

from lark import Token

from lftj.syntax import functors, tree
from lftj.syntax.phrases import Children
from lftj.syntax.term_actions import TermActions


class DirectiveActions(TermActions):
    """Builds directives."""

    def directive(self, children: Children) -> list[tree.Clause]:
        """Parameters belong to all names since the last parameters, as in `.input a,
        b(IO=file)`.
        """
        keyword, *items = children
        made: list[tree.Directive] = []
        following: tuple[tuple[str, str | int], ...] = ()
        for name, parameters, place in reversed(items):
            following = following if parameters is None else parameters
            made.append(
                tree.Directive(
                    str(keyword)[1:], str(name), following, span=self.between(keyword, place)
                )
            )
        return list(reversed(made))

    def directive_item(self, children: Children) -> object:
        name, parameters = children
        values, place = parameters if isinstance(parameters, tuple) else (None, name)
        return name, values, place

    def parameters(self, children: Children) -> object:
        return tuple(pair for pair in children[1:-1] if pair is not None), children[-1]

    def parameter(self, children: Children) -> tuple[str, str | int]:
        name, _, *sign, value = children
        assert isinstance(value, Token)
        if value.type == "INTEGER":
            number = self.number(value, "-" if sign else "").value
            assert isinstance(number, int)
            return str(name), number
        if sign:
            self.problem("a minus before text", value, "a minus goes before a number only")
        return str(name), str(self.string([value]).value if value.type == "STRING" else value)

    def pragma(self, children: Children) -> list[tree.Clause]:
        """Options of Soufflé that have no effect here are kept for a warning; what is no option is
        refused by name.
        """
        keyword, option, value = children
        name = self.string([option]).value
        if name not in functors.PRAGMAS:
            hint = "leave it out and pass options on the command line or to lftj.connect()"
            self.unsupported(f'`.pragma "{name}"` is', self.between(keyword, option), hint)
            return []
        given = "" if value is None else str(self.string([value]).value)
        return [tree.Pragma(str(name), given, span=self.between(keyword, option))]

    def literal_order(self, children: Children) -> None:
        """One order of a body, in a `.plan`. The order never changes results, and the planner
        chooses one: nothing is kept of it.
        """
        _, opening, *positions, closing = children
        numbers = sorted(int(position) for position in positions if position is not None)
        if numbers != list(range(1, len(numbers) + 1)):
            self.problem(
                "a plan that does not name each atom once",
                self.between(opening, closing),
                "leave it out, or write 1 to the number of atoms",
            )

    def plan(self, children: Children) -> None:
        return None
