# SPDX-License-Identifier: Apache-2.0
"""Monoids of `concat` and of users' semigroups over rows in order, which scan trees combine page by
page [LFTJ-IVM 2.3.3, 3.1.1].

After a change only the pages that it made are combined again, and the pages above them; a page's
aggregate is kept as long as a version has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from lftj.frames.out import to_values
from lftj.heads.aggregate_shape import CallShape
from lftj.heads.concatenation import grouped_concatenations, joined
from lftj.heads.kept import GroupChange
from lftj.heads.user import UserAggregate, grouped_folds
from lftj.scantree import Monoid, Tree
from lftj.scantree.frozen import frozen
from lftj.types import STR, Type
from lftj.types.dictionary import Dictionary

Bound = Sequence[int] | None


class Scan(Protocol):
    """Reader of a call's result for one group from the rows in its range."""

    def grouped(self, call: CallShape, change: GroupChange) -> np.ndarray:
        """The codes of the results of all groups of a change that holds all rows."""
        ...

    def result(
        self, tree: Tree, low: Bound, high: Bound, name: Callable[[int], str], group: int
    ) -> int:
        """The code of the result over the rows with low <= key < high, some; `name(group)` is what
        messages call the group.
        """
        ...


@frozen(slots=True, eq=False)
class Concatenation:
    """`concat`: an element is the separator of the first row and the joined texts."""

    monoid: Monoid[tuple[str, str]]
    dictionary: Dictionary

    @staticmethod
    def of(dictionary: Dictionary, text: int, separator: int | str) -> Concatenation:
        """Monoid over rows with texts in this column, separators in that one, if it is not one for
        all, both as codes, and the count in the last.
        """

        def lift_rows(columns: list[np.ndarray]) -> tuple[str, str]:
            order = np.repeat(np.arange(len(columns[0])), columns[-1])
            texts = to_values(STR, columns[text].take(order), dictionary)
            if isinstance(separator, str):
                return separator, separator.join(texts)
            separators = to_values(STR, columns[separator].take(order), dictionary)
            return separators[0], joined(texts, separators)

        return Concatenation(
            Monoid.of_rows(("", ""), lift_rows, lambda a, b: (a[0], "".join((a[1], *b)))),
            dictionary,
        )

    def grouped(self, call: CallShape, change: GroupChange) -> np.ndarray:
        """As full evaluation has it."""
        text, *more = call.args
        args = [change.column(text)]
        if isinstance(call.constant, str):
            more = more[1:]
            args.append(np.full(len(change.net), self.dictionary.encode_one(call.constant)))
        args += map(change.column, more)
        return grouped_concatenations(args, call.types, change.net, change.starts, self.dictionary)

    def result(
        self, tree: Tree, low: Bound, high: Bound, name: Callable[[int], str], group: int
    ) -> int:
        """The code of the joined texts."""
        return self.dictionary.encode_one(tree.scan(self.monoid, low, high)[1])


@frozen(slots=True, eq=False)
class Fold:
    """A user's aggregate without an inverse: an element is a state."""

    monoid: Monoid[Any]
    aggregate: UserAggregate
    type: Type
    dictionary: Dictionary

    @staticmethod
    def of(
        dictionary: Dictionary,
        aggregate: UserAggregate,
        args: Sequence[int],
        types: Sequence[Type],
        result: Type,
    ) -> Fold:
        """Monoid over rows with the codes of the arguments in columns `args` and the support count
        in the last.
        """

        def lift_rows(columns: list[np.ndarray]) -> Any:
            values = [
                to_values(type, columns[arg], dictionary)
                for arg, type in zip(args, types, strict=True)
            ]
            rows = list(zip(*values, strict=True)) if values else [()] * len(columns[-1])
            return aggregate.fold(rows, columns[-1].tolist())

        return Fold(
            Monoid.of_rows(aggregate.zero, lift_rows, aggregate.combine),
            aggregate,
            result,
            dictionary,
        )

    def grouped(self, call: CallShape, change: GroupChange) -> np.ndarray:
        """As full evaluation has it."""
        args = [change.column(arg) for arg in call.args]
        return grouped_folds(
            self.aggregate,
            args,
            call.types,
            change.net,
            change.starts,
            self.dictionary,
            self.type,
            change.name,
        )

    def result(
        self, tree: Tree, low: Bound, high: Bound, name: Callable[[int], str], group: int
    ) -> int:
        """The code of the finished state. Raises as `UserAggregate.error_of`."""
        scanned = [(0, lambda: tree.scan(self.monoid, low, high))]
        codes = self.aggregate.published(
            scanned, 1, self.type, self.dictionary, lambda _: name(group)
        )
        return int(codes[0])
