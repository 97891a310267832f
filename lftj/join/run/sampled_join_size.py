"""How far a body has more assignments than the choice of a variable order expects, which takes all
values to have as many rows.

Where a few items have most of the trades and most of the prices, there are far more pairs of a
trade and a price of one item than the mean number of prices for each trade. Samples of both tell:
the share of their pairs that agree is that of all pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from lftj.join.context import Context
from lftj.join.run.evaluate import Relations
from lftj.program.normal_form import NormalRule, PositiveAtom, Ref, Value
from lftj.types import encode_constant

_SAMPLE = 1024
_SEEN = 10
"""Pairs of sampled rows that have to agree: fewer may be chance."""


def unevenness(rule: NormalRule, relations: Relations, context: Context) -> float:
    """How many times as many pairs of rows of two atoms agree as would if all values had as many
    rows, where these are most; at least 1.

    O(atoms² · sample + atoms · sample · log n).
    """
    drawn = [(_columns(atom), _drawn(atom, relations, context)) for atom in rule.atoms]
    found = [1.0]
    for one, other in combinations(range(len(drawn)), 2):
        (columns, rows), (others, their) = drawn[one], drawn[other]
        shared = [variable for variable in columns if variable in others]
        here = Counter([tuple([row[columns[v]] for v in shared]) for row in rows])
        there = Counter([tuple([row[others[v]] for v in shared]) for row in their])
        agree = sum([count * there[values] for values, count in here.items()])
        if shared and agree >= _SEEN:
            ends = ((rule.atoms[one], columns), (rule.atoms[other], others))
            values = max(
                [
                    context.statistics.of(relations[atom.relation]).combinations(
                        [at[v] for v in shared]
                    )
                    for atom, at in ends
                ]
            )
            found.append(agree * values / (len(rows) * len(their)))
    return max(found)


def _columns(atom: PositiveAtom) -> dict[int, int]:
    """The column of each variable, the last where it has several."""
    return {
        argument.variable: column
        for column, argument in enumerate(atom.args)
        if isinstance(argument, Ref)
    }


def _drawn(atom: PositiveAtom, relations: Relations, context: Context) -> Sequence[tuple[int, ...]]:
    """Rows of the sample that have an atom's constants."""
    rows = zip(
        *[column.tolist() for column in relations[atom.relation].sample(_SAMPLE)], strict=True
    )
    fixed = [
        (column, encode_constant(argument.type, argument.value, context.dictionary))
        for column, argument in enumerate(atom.args)
        if isinstance(argument, Value)
    ]
    return [row for row in rows if all(row[column] == code for column, code in fixed)]
