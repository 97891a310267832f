# SPDX-License-Identifier: Apache-2.0
"""Rules that mean what they say, and often not what was meant: the warnings of `lftj check`, and
those that a user gets who adds such rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from lftj.functions.aggregates import AGGREGATES, COUNTS, TOTALS
from lftj.program.normal_form import RelationSchema
from lftj.syntax import tree
from lftj.syntax.depth import below

Aggregated = tree.Aggregate | tree.HeadAggregate
Ranging = tuple[Aggregated, tree.Body]
"""An aggregate, and the body that it ranges over."""

_OF_ALL = TOTALS | {
    name
    for name, each in AGGREGATES.items()
    if each.fold is not None or (each.in_order is not None and each.in_order.counted)
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


def doubts(
    rules: Iterable[tree.Rule],
    others: Iterable[tree.Rule],
    relations: Mapping[str, RelationSchema],
    *,
    names: bool = True,
) -> Iterator[Doubt]:
    """The warnings of these rules, in the order of the text. `others`: all that derive what they
    read; `relations`: what is declared; `names`: also of variables that stand once.
    """
    makers: _Makers | None = None
    for rule in rules:
        aggregates = list(_aggregates(rule))
        if names or aggregates:
            yield from _lone_variables(rule, aggregates, relations, names=names)
        if any(call.function in _OF_ALL for call, _ in aggregates):
            makers = makers or _Makers(others, relations)
            yield from _sums_of_different(rule, aggregates, makers)
        if any(call.function in COUNTS and len(body.literals) > 1 for call, body in aggregates):
            yield from _before_nothing(rule.body.literals, (), relations)


# ── variables that occur once ─────────────────────────────────────────────────────────────────────
def _lone_variables(
    rule: tree.Rule,
    aggregates: Sequence[Ranging],
    relations: Mapping[str, RelationSchema],
    *,
    names: bool,
) -> Iterator[Doubt]:
    """Variables that stand once in their rule: often one that another was to be, in whose place the
    rule has a cross product; or one whose values are to be counted, where rows are. Names that
    begin with `_` are meant so.
    """
    found = [node for node in below(rule) if isinstance(node, tree.Variable)]
    times = Counter(each.name for each in found)
    counted = {id(each): form for each, form in _counted(aggregates, relations)}
    for each in found:
        if times[each.name] == 1 and not each.name.startswith("_"):
            if form := counted.get(id(each)):
                message = f"rows are counted here, of which several may have one `{each.name}`"
                yield Doubt(each, message, f"{form} counts the different ones; rows need no name")
            elif names:
                message = f"variable `{each.name}` occurs once in its rule"
                yield Doubt(each, message, "write `_` where any value will do")


def _counted(
    aggregates: Sequence[Ranging], relations: Mapping[str, RelationSchema]
) -> Iterator[tuple[tree.Variable, str]]:
    """Variables of atoms that have wildcards too, where assignments are counted; and the form that
    counts their values. Not of one atom whose key is named: each row has its own values there.
    """
    for call, body in aggregates:
        if call.function not in COUNTS or call.args:
            continue
        form = "count_distinct {0} : {{ … }}"
        if isinstance(call, tree.HeadAggregate):
            form = "count_distinct({0})"
        atoms = list(_atoms(body))
        for atom in atoms:
            schema = relations.get(atom.relation) if len(atoms) == 1 else None
            key = schema.key if schema and len(schema.columns) == len(atom.terms) else None
            if key and not any(_is_any(atom.terms[place]) for place in key):
                continue
            if any(map(_is_any, atom.terms)):
                found = [term for term in atom.terms if isinstance(term, tree.Variable)]
                yield from ((term, form.format(term.name)) for term in found)


# ── sums of rows that are no more ─────────────────────────────────────────────────────────────────
def _sums_of_different(
    rule: tree.Rule, aggregates: Sequence[Ranging], makers: _Makers
) -> Iterator[Doubt]:
    """Sums in which each value of a group counts once, as nothing else tells rows apart, over a
    relation that leaves a column out which did.
    """
    for call, body in aggregates:
        own = set(_names(call.args[:1]))
        if call.function not in _OF_ALL or not own or any(map(_is_any, below(body))):
            continue
        if set(_names([body])) - own - _grouping(rule, call):
            continue
        for atom in below(body):
            if isinstance(atom, tree.Atom) and own <= set(_names([atom])):
                dropped = makers.dropped(atom, own)
                if dropped is not None:
                    yield _of_different(call, *dropped)


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


class _Makers:
    """Rules by the relation that they derive, and what is declared."""

    def __init__(self, rules: Iterable[tree.Rule], relations: Mapping[str, RelationSchema]):
        self._relations = relations
        self._of: dict[str, list[tuple[tree.Rule, tree.Atom]]] = {}
        for rule in rules:
            for head in rule.heads:
                self._of.setdefault(head.relation, []).append((rule, head))

    def dropped(self, atom: tree.Atom, own: set[str]) -> tuple[str, str] | None:
        """A relation that leaves out a column of the rows that these values of an atom are from,
        and that column as it is written there or declared. Looked for through rules that copy.
        """
        places = tuple(n for n, t in enumerate(atom.terms) if own & set(_names([t])))
        ahead, seen = [(atom.relation, places)], set[tuple[str, tuple[int, ...]]]()
        while ahead:
            now = ahead.pop(0)
            if now in seen:
                continue
            seen.add(now)
            for rule, head in self._of.get(now[0], ()):
                if any(isinstance(term, tree.HeadAggregate) for term in head.terms):
                    continue  # a row for each group
                kept = set(_names(head.terms))
                values = set(_names([head.terms[n] for n in now[1] if n < len(head.terms)]))
                for source in _atoms(rule.body):
                    if values & set(_names(source.terms)):
                        missing = self._missing(source, _determined(rule.body, kept))
                        if missing is not None:
                            return now[0], missing
                        columns = enumerate(source.terms)
                        its = tuple(n for n, t in columns if values & set(_names([t])))
                        ahead.append((source.relation, its))
        return None

    def _missing(self, atom: tree.Atom, kept: set[str]) -> str | None:
        """The first column of an atom that nothing kept determines."""

        def is_kept(term: tree.Node) -> bool:
            return not _is_any(term) and set(_names([term])) <= kept

        schema = self._relations.get(atom.relation)
        if schema is None or len(schema.columns) != len(atom.terms):
            return None
        if schema.key is not None and all(is_kept(atom.terms[place]) for place in schema.key):
            return None
        for (name, _), term in zip(schema.columns, atom.terms, strict=True):
            if not is_kept(term):
                return name if _is_any(term) else str(term)
        return None


def _atoms(body: tree.Body) -> Iterator[tree.Atom]:
    """The positive atoms of a body, those of its branches too."""
    for literal in body.literals:
        if isinstance(literal, tree.Atom):
            yield literal
        elif isinstance(literal, tree.Disjunction):
            for branch in literal.branches:
                yield from _atoms(branch)


def _determined(body: tree.Body, kept: set[str]) -> set[str]:
    """The variables that have one value for each row of these, by the equations of a body."""
    known, before = set(kept), -1
    equations = [
        each for each in body.literals if isinstance(each, tree.Comparison) and each.operator == "="
    ]
    while before != (before := len(known)):
        for each in equations:
            for side, other in ((each.left, each.right), (each.right, each.left)):
                if isinstance(side, tree.Variable) and set(_names([other])) <= known:
                    known.add(side.name)
    return known


# ── bounds of NULL ────────────────────────────────────────────────────────────────────────────────
_BOUNDS = ("<", "<=", ">", ">=")


def _before_nothing(
    literals: Sequence[tree.Literal],
    around: tuple[tree.Literal, ...],
    relations: Mapping[str, RelationSchema],
) -> Iterator[Doubt]:
    """Counts of rows before or behind a value that may be NULL, of which there are none, so that
    the row is among the first.
    """
    for literal in literals:
        others = (*around, *(each for each in literals if each is not literal))
        if isinstance(literal, tree.Disjunction):
            for branch in literal.branches:
                yield from _before_nothing(branch.literals, others, relations)
        elif isinstance(literal, tree.Comparison):
            for call in below(literal):
                if isinstance(call, tree.Aggregate) and call.function in COUNTS:
                    yield from _null_bounds(call, others, relations)


def _null_bounds(
    call: tree.Aggregate, others: Sequence[tree.Literal], relations: Mapping[str, RelationSchema]
) -> Iterator[Doubt]:
    atoms = [each for each in others if isinstance(each, tree.Atom)]
    outside = set(_names(atoms))
    own = set(_names([each for each in call.body.literals if isinstance(each, tree.Atom)]))
    for bound in call.body.literals:
        if isinstance(bound, tree.Comparison) and bound.operator in _BOUNDS:
            sides = bound.left, bound.right
            for side, other in (sides, sides[::-1]):
                if (
                    isinstance(side, tree.Variable)
                    and isinstance(other, tree.Variable)
                    and side.name in outside - own
                    and other.name in own - outside
                    and _has_null(side.name, atoms, others, relations)
                ):
                    yield _of_null(bound, side.name)


def _has_null(
    name: str,
    atoms: Sequence[tree.Atom],
    others: Sequence[tree.Literal],
    relations: Mapping[str, RelationSchema],
) -> bool:
    """Test for a variable of one optional column, of which no condition asks anything. Any other
    literal that has it leaves NULL out, or was written with NULL in mind.
    """
    if sum(name in _names([each]) for each in others) != 1:
        return False
    for atom in atoms:
        schema = relations.get(atom.relation)
        if schema is not None and len(schema.columns) == len(atom.terms):
            pairs = zip(atom.terms, schema.columns, strict=True)
            found = [column[1] for term, column in pairs if name in _names([term])]
            if found:
                return len(found) == 1 and found[0].optional
    return False


def _of_null(bound: tree.Comparison, name: str) -> Doubt:
    message = f"`{name}` may be NULL, and no row is before NULL or behind it: the count is 0 then"
    return Doubt(
        bound, message, f"write !is_null({name}) outside the braces, or coalesce({name}, …)"
    )


# ── nodes ─────────────────────────────────────────────────────────────────────────────────────────
def _aggregates(rule: tree.Rule) -> Iterator[Ranging]:
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
