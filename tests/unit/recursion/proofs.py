"""Proof counts by their definition, with Python sets and nested loops: what the state of a
recursive stratum has to be.

A program is a list of rules (head, positive atoms, negated atoms, test); an atom is (relation,
arguments), an argument a variable's name or a constant. `counted` gives for each derived row the
iteration that first derives it and its number of proofs in that iteration.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

Row = tuple[Any, ...]
Atom = tuple[str, tuple[Any, ...]]
Input = Mapping[str, set[Row]]
Counted = dict[str, dict[Row, tuple[int, int]]]


class Rule(NamedTuple):
    """`test` gets the bindings by name and says whether comparisons hold; it may bind more names
    (arithmetic).
    """

    head: Atom
    atoms: tuple[Atom, ...]
    negated: tuple[Atom, ...] = ()
    test: Callable[[dict[str, Any]], bool] = lambda bindings: True


def _row(args: tuple[Any, ...], bindings: Mapping[str, Any]) -> Row:
    return tuple(bindings[a] if isinstance(a, str) else a for a in args)


def _match(args: tuple[Any, ...], row: Row, bindings: dict[str, Any]) -> dict[str, Any] | None:
    found = dict(bindings)
    for argument, value in zip(args, row, strict=True):
        if argument == "_":
            continue
        if (found.setdefault(argument, value) if isinstance(argument, str) else argument) != value:
            return None
    return found


def _bindings(
    rule: Rule, facts: Input
) -> Iterator[tuple[dict[str, Any], tuple[tuple[str, Row], ...]]]:
    def extend(
        i: int, bindings: dict[str, Any], used: tuple[tuple[str, Row], ...]
    ) -> Iterator[Any]:
        if i == len(rule.atoms):
            yield bindings, used
            return
        name, args = rule.atoms[i]
        for row in facts.get(name, ()):
            if (found := _match(args, row, bindings)) is not None:
                yield from extend(i + 1, found, (*used, (name, row)))

    yield from extend(0, {}, ())


def counted(rules: list[Rule], members: set[str], facts: Input) -> Counted:
    """Iteration and proof count of every row of `members`, whose base rows and all other relations
    are `facts`.
    """
    known: Counted = {name: dict.fromkeys(facts.get(name, ()), (0, 1)) for name in members}
    iteration = 0
    while True:
        readable = {**facts, **{name: set(rows) for name, rows in known.items()}}
        proofs: dict[str, Counter[Row]] = {name: Counter() for name in members}
        for rule in rules:
            recursive = any(name in members for name, _ in rule.atoms)
            for bindings, used in _bindings(rule, readable):
                last = max(
                    (known[name][row][0] for name, row in used if name in members), default=-1
                )
                if (last != iteration - 1) if recursive else iteration > 0:
                    continue
                if rule.test(bindings) and not any(
                    _holds(atom, bindings, facts) for atom in rule.negated
                ):
                    proofs[rule.head[0]][_row(rule.head[1], bindings)] += 1
        for name, found in proofs.items():
            for row, count in found.items():
                if iteration == 0:
                    known[name][row] = (0, known[name].get(row, (0, 0))[1] + count)
                elif row not in known[name]:
                    known[name][row] = (iteration, count)
        if iteration and not any(
            i == iteration for rows in known.values() for i, _ in rows.values()
        ):
            return known
        iteration += 1


def supported(rules: list[Rule], ranked: Counted, facts: Input) -> Counted:
    """Each row of the members with its rank and its support: the number of derivations of which all
    rows of members rank below it. A base row is a derivation of its own.
    """
    readable = {**facts, **{name: set(rows) for name, rows in ranked.items()}}
    found: Counted = {
        name: {row: (rank, int(row in facts.get(name, ()))) for row, (rank, _) in rows.items()}
        for name, rows in ranked.items()
    }
    for rule in rules:
        name, args = rule.head
        for bindings, used in _bindings(rule, readable):
            if not rule.test(bindings) or any(
                _holds(atom, bindings, facts) for atom in rule.negated
            ):
                continue
            rank, support = found[name][_row(args, bindings)]
            last = max((ranked[each][row][0] for each, row in used if each in ranked), default=-1)
            found[name][_row(args, bindings)] = rank, support + (last < rank)
    return found


def _holds(atom: Atom, bindings: dict[str, Any], facts: Input) -> bool:
    return any(_match(atom[1], row, bindings) is not None for row in facts.get(atom[0], ()))
