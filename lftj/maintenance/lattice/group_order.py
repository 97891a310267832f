# SPDX-License-Identifier: Apache-2.0
"""An order of the groups of a stratum that keeps best values, in which each group comes after those
that it is offered values from.

Where values grow along a path and the greatest is kept, as for the latest start of a task, the best
offer tells little: a longer path may come. In this order a group is taken once, when all offers are
there, as in the longest paths of an acyclic graph. It is found by Kahn's algorithm [Topological
sorting of large networks, 1962]. Groups on cycles, and behind them, come last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lftj.join.context import Context
from lftj.join.run.evaluate import Columns, Relations, chunks, plan_rule
from lftj.maintenance.lattice.group_order_kernels import rank_nodes
from lftj.program.monotone import Lattice
from lftj.program.normal_form import NormalRule, Ref, Value
from lftj.scantree import Tree
from lftj.scantree.frozen import frozen
from lftj.scantree.rows import sort_rows
from lftj.storage.delta import stored_width
from lftj.storage.relation import RelationVersion
from lftj.types import encode_constant

_WORTH = 2
"""Part of the groups that has to come before all cycles for the order to be of use."""


@frozen(slots=True)
class GroupOrder:
    """The ranks of the groups of a relation, by their numbers. `last`: that of groups on cycles.
    `group`: the columns of a row that say its group.
    """

    numbers: Tree
    ranks: np.ndarray
    last: int
    group: Sequence[int]

    def of(self, rows: Columns) -> np.ndarray:
        """The ranks of the groups of rows; -1 for one that was not there. O(log n) each."""
        there, (numbers,) = self.numbers.lookup(_keys(rows, self.group, len(rows[0])))
        return np.where(there, self.ranks[numbers], -1)


def order_groups(
    rules: Sequence[NormalRule],
    rows: Mapping[str, RelationVersion],
    found: Mapping[str, Lattice],
    lower: Relations,
    context: Context,
) -> dict[str, GroupOrder] | None:
    """The order of the groups of each relation that keeps best values, as far as `rows` show it;
    None where most are on cycles or behind them.

    `rules` offer what they derive. As much work as one evaluation of them over all rows.
    """
    groups = {name: _group(version, found.get(name)) for name, version in rows.items()}
    numbers, count = dict[str, Tree](), 0
    for name, version in rows.items():
        keys = _keys(version.columns(), groups[name], version.count)
        keys = keys if name not in found else sort_rows(keys)
        empty = Tree.empty(context.resources.arena, len(keys), 1)
        numbers[name] = empty.apply([*keys, np.arange(count, count + len(keys[0]))])
        count += len(keys[0])
    pairs = [np.empty((2, 0), np.int64)]
    for rule in rules:
        pairs += _edges(rule, numbers, groups, {**lower, **rows}, context)
    sources, targets = np.concatenate(pairs, axis=1)
    ranks = np.zeros(count, np.int64)
    ranked = rank_nodes(sources, targets, ranks)
    if _WORTH * ranked < count:
        return None
    last = int(ranks.max()) if ranked < count else -1
    return {name: GroupOrder(numbers[name], ranks, last, groups[name]) for name in found}


def _edges(
    rule: NormalRule,
    numbers: Mapping[str, Tree],
    groups: Mapping[str, Sequence[int]],
    relations: Relations,
    context: Context,
) -> list[np.ndarray]:
    """The numbers of groups that offer values by a rule, and of those that they are offered to."""
    heads = [(atom.relation, atom.args) for atom in rule.atoms if atom.relation in numbers]
    if not heads:
        return []
    heads.append((rule.relation, rule.head_in(rule.relation).args))
    terms = [(name, [args[column] for column in groups[name]]) for name, args in heads]
    read = [each.variable for _, some in terms for each in some if isinstance(each, Ref)]
    needed = tuple(sorted(set(read)))
    plan = plan_rule(rule, relations, context, needed=needed, count=False)
    dictionary, found = context.resources.dictionary, list[np.ndarray]()
    for piece in chunks(plan, relations, context) if needed else ():
        nodes = list[tuple[np.ndarray, np.ndarray]]()
        for name, some in terms:
            keys = [
                np.full(piece.shape[1], encode_constant(each.type, each.value, dictionary))
                if isinstance(each, Value)
                else piece[needed.index(each.variable)]
                for each in some
            ]
            there, (number,) = numbers[name].lookup(_keys(keys, range(len(keys)), piece.shape[1]))
            nodes.append((there, number))
        *sources, (here, target) = nodes
        found += [np.array((source, target))[:, there & here] for there, source in sources]
    return found


def _group(version: RelationVersion, lattice: Lattice | None) -> Sequence[int]:
    arity = version.schema.arity
    return range(arity) if lattice is None else lattice.group(stored_width(arity))


def _keys(columns: Columns, group: Sequence[int], rows: int) -> Columns:
    return [columns[place] for place in group] or [np.zeros(rows, np.int64)]
