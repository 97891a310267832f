"""Bodies that between them have every construct: shared relations, other key orders, negation,
constants, repeats, filters, ∃-blocks.
"""

from __future__ import annotations

from collections.abc import Mapping

from lftj.sensitivity import AtomShape, BodyShape, Constant
from tests.unit.sensitivity.triejoin import Body, Filter

Column = int | Constant
LESS: Mapping[int, Filter] = {1: lambda bound: bound[0] < bound[1]}


def body(
    levels: int,
    atoms: str,
    exists_from: int | None = None,
    computed: Mapping[int, Constant | int | None] | None = None,
    filters: Mapping[int, Filter] | None = None,
) -> Body:
    """A body from text: `E 0 1, E' 1 2, !F 0 =3`.

    A prime reads the relation backwards, `!` negates, `=3` is a constant, a last `_` a wildcard.
    """
    shapes, reads = [], []
    for text in atoms.split(","):
        name, *words = text.split()
        columns: list[Column] = [
            Constant(int(word[1:])) if word.startswith("=") else int(word)
            for word in words
            if word != "_"
        ]
        order = tuple(range(len(words)))
        shapes.append(AtomShape(tuple(columns), name.startswith("!")))
        reads.append((name.strip("!'"), order[::-1] if name.endswith("'") else order))
    shape = BodyShape(
        levels, tuple(shapes), levels if exists_from is None else exists_from, computed or {}
    )
    return Body(shape, tuple(reads), filters or {})


BODIES: dict[str, tuple[Body, int]] = {
    # name: (body, values in the domain)
    "triangle over three relations": (body(3, "E 0 1, F 1 2, G 0 2"), 5),
    "triangle over one": (body(3, "E 0 1, E 1 2, E 0 2"), 5),
    "two sides and no third": (body(3, "E 0 1, E 1 2, !E 0 2"), 5),
    "the rule of section 4.2": (body(3, "G 0 2, H 1 2, I 0 1 2, R 2"), 4),
    "negated, looked up backwards": (body(3, "G 0 2, H 1 2, !G 2 0, P 0"), 4),
    "four-cycle": (body(4, "E 0 1, E 1 2, E 2 3, E 0 3"), 3),
    "∃ one level": (body(3, "E 0 1, F 1 2, G 0 2", exists_from=2), 5),
    "∃ two levels, negated": (body(4, "E 0 1, E 1 2, E 2 3, !E 0 3", exists_from=2), 4),
    "∃ of everything": (body(3, "E 0 1, F 1 2, !G 0 2", exists_from=0), 4),
    "∃ after one": (body(4, "E 0 1, E 1 2, F 2 3", exists_from=1), 4),
    "disconnected": (body(2, "E' 0 1, P 0"), 6),
    "product": (body(4, "E 0 1, F 2 3"), 3),
    "constants": (body(4, "F 0 3, E 1 2, E 2 3", computed={0: Constant(1), 1: Constant(2)}), 4),
    "repeated variable": (body(4, "E 0 1, F 0 2, F 2 3, !G 1 1", computed={1: 0}), 4),
    "negated constant, wildcard": (body(3, "E 0 1, F 1 2, !G =1, !F 2 =0, !E 2 _"), 4),
    "arithmetic": (body(3, "E 0 1, F 1 2, G 0 2", computed={1: None}), 5),
    "comparison": (body(3, "E 0 1, E 1 2, !F 0 2", filters=LESS), 4),
    "∃ and a comparison": (body(3, "P 0, Q 1, F 1 2", exists_from=1, filters=LESS), 5),
}
