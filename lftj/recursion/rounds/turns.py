"""In which order the relations of a stratum take turns, where rows are wanted and not the iterations that they are found in.

What a relation's round finds is there for the next relation of the same pass already (Gauss-Seidel instead of Jacobi). A pass finds at
least what a round over all deltas would, so there are never more passes than such rounds; in a long cycle of relations there are as many
times fewer as it has relations, and each sorts more rows and joins them at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lftj.program.normal_form import NormalRule, RelationSchema
from lftj.recursion.rounds.variants import recursive_atoms


def downstream(schemas: Mapping[str, RelationSchema], rules: Sequence[NormalRule]) -> list[str]:
    """The relations of a stratum so that each is followed by those that read it, as far as cycles allow; a seeded one is first."""
    readers: dict[str, dict[str, None]] = {name: {} for name in schemas}
    for rule in rules:
        for number in recursive_atoms(rule, schemas):
            readers[rule.atoms[number].relation][rule.relation] = None
    seeded = {rule.relation for rule in rules if not recursive_atoms(rule, schemas)}
    seen: set[str] = set()
    finished: list[str] = []
    # the reverse of the order in which a depth-first search leaves the relations
    for start in sorted(schemas, key=lambda name: name not in seeded):
        finished += _left(start, readers, seen)
    return finished[::-1]


def _left(start: str, readers: Mapping[str, Mapping[str, None]], seen: set[str]) -> Iterator[str]:
    """The relations reached from `start` that were not `seen`, in the order in which a depth-first search leaves them."""
    if start in seen:
        return
    seen.add(start)
    path = [(start, iter(readers[start]))]
    while path:
        name, following = path[-1]
        entered = next((reader for reader in following if reader not in seen), None)
        if entered is None:
            path.pop()
            yield name
        else:
            seen.add(entered)
            path.append((entered, iter(readers[entered])))
