# SPDX-License-Identifier: Apache-2.0
"""Rules that mean what they say, and often not what was meant: the warnings of `lftj check`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lftj.functions.aggregates import AGGREGATES, COUNTS, TOTALS
from lftj.syntax import tree
from lftj.syntax.depth import below

Aggregated = tree.Aggregate | tree.HeadAggregate

_OF_ALL = TOTALS | {
    name
    for name, each in AGGREGATES.items()
    if each.fold is not None or (each.in_order is not None and each.in_order.by_share)
}
"""Aggregates in which a value that occurs twice counts twice."""


class Doubt(NamedTuple):
    """A warning about a node of a rule, and what to write."""

    node: tree.Node
    message: str
    help: str

    def __str__(self) -> str:
        """The warning with its place."""
        span = self.node.span
        place, caret = (f"{span}: ", span.caret()) if span else ("", "")
        lines = (f"{place}warning: {self.message}", caret, f"  help: {self.help}")
        return "\n".join(filter(None, lines))


def doubts(program: tree.ParsedProgram) -> Iterator[Doubt]:
    """The warnings of a program, in the order of the text."""
    rules = [clause for clause in program.clauses if isinstance(clause, tree.Rule)]
    for rule in rules:
        yield from _lone_variables(rule)
        yield from _sums_of_different(rule, rules)


# ── variables that occur once ─────────────────────────────────────────────────────────────────────
def _lone_variables(rule: tree.Rule) -> Iterator[Doubt]:
    """Variables that stand once in their rule: often one that another was to be, in whose place the
    rule has a cross product; or one whose values are to be counted, where rows are. Names that
    begin with `_` are meant so.
    """
    found = [node for node in below(rule) if isinstance(node, tree.Variable)]
    times = Counter(each.name for each in found)
    counted = {id(each): form for each, form in _counted(rule)}
    for each in found:
        if times[each.name] == 1 and not each.name.startswith("_"):
            if form := counted.get(id(each)):
                message = f"rows are counted here, of which several may have one `{each.name}`"
                yield Doubt(each, message, f"{form} counts the different ones; rows need no name")
            else:
                message = f"variable `{each.name}` occurs once in its rule"
                yield Doubt(each, message, "write `_` where any value will do")


def _counted(rule: tree.Rule) -> Iterator[tuple[tree.Variable, str]]:
    """Variables of atoms that have wildcards too, where assignments are counted; and the form that
    counts their values.
    """
    for call, body in _aggregates(rule):
        if call.function not in COUNTS or call.args:
            continue
        form = "count_distinct {0} : {{ … }}"
        if isinstance(call, tree.HeadAggregate):
            form = "count_distinct({0})"
        for atom in below(body):
            if isinstance(atom, tree.Atom) and any(map(_is_any, atom.terms)):
                found = [term for term in atom.terms if isinstance(term, tree.Variable)]
                yield from ((term, form.format(term.name)) for term in found)


# ── sums of rows that are no more ─────────────────────────────────────────────────────────────────
def _sums_of_different(rule: tree.Rule, rules: Sequence[tree.Rule]) -> Iterator[Doubt]:
    """Sums in which each value of a group counts once, as nothing else tells rows apart, over a
    relation that leaves a column out which did.
    """
    for call, body in _aggregates(rule):
        own = set(_names(call.args[:1]))
        if call.function not in _OF_ALL or not own or any(map(_is_any, below(body))):
            continue
        if set(_names([body])) - own - _grouping(rule, call):
            continue
        for atom in below(body):
            if isinstance(atom, tree.Atom) and own <= set(_names([atom])):
                dropped = next(_dropped(atom, own, rules), None)
                if dropped is not None:
                    yield _of_different(call, atom.relation, dropped)


def _of_different(call: Aggregated, relation: str, dropped: str) -> Doubt:
    message = (
        f"`{call.function}` takes each `{call.args[0]}` of a group once: rows of `{relation}` that "
        "are equal are one row"
    )
    help_ = f"keep `{dropped}` in `{relation}`, or aggregate where it is left out"
    return Doubt(call, message, help_)


def _grouping(rule: tree.Rule, call: Aggregated) -> set[str]:
    """The variables that an aggregate is grouped by."""
    if isinstance(call, tree.HeadAggregate):
        plain = [
            term
            for head in rule.heads
            for term in head.terms
            if not any(isinstance(each, tree.HeadAggregate) for each in below(term))
        ]
        return set(_names(plain))
    inside = {id(each) for each in below(call)}
    around = [each for each in below(rule) if id(each) not in inside]
    return {each.name for each in around if isinstance(each, tree.Variable)}


def _dropped(atom: tree.Atom, own: set[str], rules: Sequence[tree.Rule]) -> Iterator[str]:
    """Columns that a rule of the atom's relation leaves out of the rows that the values are from,
    as they are written there.
    """
    places = [n for n, t in enumerate(atom.terms) if isinstance(t, tree.Variable) and t.name in own]
    makers = [
        (rule, head)
        for rule in rules
        for head in rule.heads
        if head.relation == atom.relation and len(head.terms) == len(atom.terms)
    ]
    for rule, head in makers:
        kept, values = set(_names(head.terms)), set(_names([head.terms[n] for n in places]))
        for literal in rule.body.literals:
            if isinstance(literal, tree.Atom) and values & set(_names(literal.terms)):
                for term in literal.terms:
                    if _is_any(term) or not set(_names([term])) <= kept:
                        yield str(term)


# ── nodes ─────────────────────────────────────────────────────────────────────────────────────────
def _aggregates(rule: tree.Rule) -> Iterator[tuple[Aggregated, tree.Body]]:
    """The aggregates of a rule, with the bodies that they range over."""
    for node in below(rule):
        if isinstance(node, tree.Aggregate):
            yield node, node.body
        elif isinstance(node, tree.HeadAggregate):
            yield node, rule.body


def _names(nodes: Sequence[tree.Node]) -> Iterator[str]:
    return (each.name for n in nodes for each in below(n) if isinstance(each, tree.Variable))


def _is_any(node: tree.Node) -> bool:
    """Test for a wildcard, or a name that is meant as one."""
    return isinstance(node, tree.Wildcard) or (
        isinstance(node, tree.Variable) and node.name.startswith("_")
    )
