# SPDX-License-Identifier: Apache-2.0
"""Plan of the states that an aggregated head keeps: as few as possible, each serving the calls it
can.

The groups' tree holds per group η, then the published result of every call but `count`, then what
exact integer totals and extremes by keys keep there, then for each list of optional columns the
number of assignments that have values in them, which `count(x)` publishes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lftj.functions.aggregates import AGGREGATES, COUNTS, EXTREMES, TOTALS
from lftj.heads.aggregate_shape import AggregateShape, CallShape, Surroundings
from lftj.heads.built_in import fold_of
from lftj.heads.ends import ordered_args
from lftj.heads.float_sum import FloatTotals
from lftj.heads.in_order import reading
from lftj.heads.integer_sum import IntegerTotals
from lftj.heads.kept import Kept
from lftj.heads.ordered_rows import OrderedRows
from lftj.heads.scans import Concatenation, Fold, Scan
from lftj.heads.unordered_extremes import UnorderedExtremes, unordered_extremes
from lftj.heads.user_totals import UserTotals
from lftj.scantree import Arena
from lftj.scantree.frozen import frozen

_KeptBy = dict[CallShape, Kept]


@frozen(slots=True)
class PartPlan:
    """The part that states which see the same assignments take of them: the columns `args` behind
    the group. `by_groups`: they take rows that are sorted by groups alone, and sooner so.
    """

    args: tuple[int, ...]
    by_groups: bool


@frozen(slots=True)
class AggregatePlan:
    """`kept`: the states, empty; `server`: for each call the number of the one that serves it, None
    for `count`; `published`: for each call the value column of the groups' tree with its result;
    `valued`: by optional columns, the value column with the number of assignments without NULL in
    them; `takes`, `sees`: for each call, and for each state, the optional columns whose values it
    takes; `width`: how many value columns that tree has; `texts`: the columns of a change that hold
    texts which stand in order; `parts`: by optional columns what is seen of many assignments, those
    first that see all.
    """

    kept: tuple[Kept, ...]
    server: tuple[int | None, ...]
    published: tuple[int, ...]
    valued: Mapping[tuple[int, ...], int]
    takes: tuple[tuple[int, ...], ...]
    sees: tuple[tuple[int, ...], ...]
    width: int
    texts: tuple[int, ...]
    parts: Mapping[tuple[int, ...], PartPlan]


def plan_aggregates(
    shape: AggregateShape, arena: Arena, surroundings: Surroundings, *, ordered: bool = True
) -> AggregatePlan:
    """The states for a head. O(calls²). Not `ordered`: no rows are put in order for extremes of
    what is no text, by themselves or by keys.
    """
    published: list[int] = []
    width = 1
    for call in shape.calls:
        published.append(0 if call.function in COUNTS else width)
        width += call.function not in COUNTS
    serving: _KeptBy = {}
    width = _plan_integer_totals(shape, published, width, serving)
    _plan_float_totals(shape, arena, serving)
    _plan_user_totals(shape, arena, surroundings, serving)
    if not ordered:
        calls = [*zip(shape.calls, published, strict=True)]
        for state, mine in unordered_extremes(calls, width):
            width += len(state.columns)
            serving.update(dict.fromkeys(mine, state))
    _plan_ordered_rows(shape, arena, surroundings, serving)
    kept = list({id(state): state for state in serving.values()}.values())
    places = {id(state): number for number, state in enumerate(kept)}
    seen = {id(state): call.optional for call, state in serving.items()}
    takes = tuple([call.optional for call in shape.calls])
    optional = dict.fromkeys(filter(None, takes))
    valued = {args: width + number for number, args in enumerate(optional)}
    published = [
        valued[args] if call.function in COUNTS and args else place
        for call, args, place in zip(shape.calls, takes, published, strict=True)
    ]
    server = tuple(places[id(serving[call])] if call in serving else None for call in shape.calls)
    sees = tuple([seen[id(state)] for state in kept])
    in_order = {arg for state in kept if isinstance(state, OrderedRows) for arg in state.args}
    texts = tuple(sorted(arg for arg in in_order if shape.types[arg].name == "str"))
    return AggregatePlan(
        tuple(kept),
        server,
        tuple(published),
        valued,
        takes,
        sees,
        width + len(valued),
        texts,
        _plan_parts(shape, [*zip(kept, sees, strict=True)], valued),
    )


def own_columns(state: Kept) -> tuple[int, ...]:
    """The value columns of the groups' tree that a state has to itself."""
    return state.columns if isinstance(state, (IntegerTotals, UnorderedExtremes)) else ()


def _plan_parts(
    shape: AggregateShape,
    kept: Sequence[tuple[Kept, tuple[int, ...]]],
    valued: Mapping[tuple[int, ...], int],
) -> dict[tuple[int, ...], PartPlan]:
    """The parts of many assignments: columns as the longest list of arguments has them, so that
    rows which are sorted by them are in order for it.
    """
    whole = [()] if not valued or any(not args for _, args in kept) else []
    found: dict[tuple[int, ...], PartPlan] = {}
    for optional in (*whole, *valued):
        mine = [state for state, args in kept if args == optional]
        lists = sorted(map(_taken_by, mine), key=len, reverse=True)
        args = dict.fromkeys(arg for args in lists for arg in args if arg >= shape.width)
        found[optional] = PartPlan(tuple(args), _by_groups(mine, tuple(args)))
    return found


def _taken_by(state: Kept) -> tuple[int, ...]:
    """The columns of an assignment that a state reads."""
    if isinstance(state, (OrderedRows, UnorderedExtremes)):
        return state.args
    if isinstance(state, UserTotals):
        return state.call.args
    assert isinstance(state, (IntegerTotals, FloatTotals))
    return (state.arg,)


def _by_groups(kept: Sequence[Kept], args: tuple[int, ...]) -> bool:
    """True when no state keeps the columns of an assignment in order, all of them, and none asks a
    user's function about each row.
    """
    for state in kept:
        if isinstance(state, UserTotals):
            return False
        if isinstance(state, OrderedRows) and (
            state.args == args or any(isinstance(scan, Fold) for scan in state.scans.values())
        ):
            return False
    return bool(args)


def _sums(shape: AggregateShape, *, of_floats: bool) -> dict[int, list[CallShape]]:
    """The calls with a total by their argument."""
    calls: dict[int, list[CallShape]] = {}
    for call in shape.calls:
        if call.function in TOTALS and (call.types[0].name == "float") == of_floats:
            calls.setdefault(call.args[0], []).append(call)
    return calls


def _plan_integer_totals(
    shape: AggregateShape, published: list[int], width: int, serving: _KeptBy
) -> int:
    for arg, calls in _sums(shape, of_floats=False).items():
        sums = [
            published[shape.calls.index(call)]
            for call in calls
            if not AGGREGATES[call.function].divided
        ]
        state = IntegerTotals(arg, sums[0] if sums else None, width)
        width += 0 if sums else 2
        serving.update(dict.fromkeys(calls, state))
    return width


def _plan_float_totals(shape: AggregateShape, arena: Arena, serving: _KeptBy) -> None:
    for arg, calls in _sums(shape, of_floats=True).items():
        serving.update(dict.fromkeys(calls, FloatTotals.empty(arena, arg, max(1, shape.width))))


def _plan_user_totals(
    shape: AggregateShape, arena: Arena, surroundings: Surroundings, serving: _KeptBy
) -> None:
    for call in shape.calls:
        if call in serving or call.function in COUNTS:
            continue
        aggregate = fold_of(call.function, call.types, surroundings.user)
        if aggregate is not None and aggregate.invertible:
            serving[call] = UserTotals.empty(
                arena, call, aggregate, surroundings.dictionary, max(1, shape.width)
            )


def _plan_ordered_rows(
    shape: AggregateShape, arena: Arena, surroundings: Surroundings, serving: _KeptBy
) -> None:
    """One tree for each list of arguments, but none for the argument of a `min`, `max` or quantile
    with which another list begins.
    """
    wanted: dict[tuple[int, ...], list[CallShape]] = {}
    for call in shape.calls:
        if call.function not in COUNTS and call not in serving:
            wanted.setdefault(ordered_args(call), []).append(call)
    for args in list(wanted):
        sees = wanted[args][0].optional
        longer = next(
            (
                other
                for other, calls in wanted.items()
                if other[:1] == args and other != args and calls[0].optional == sees
            ),
            None,
        )
        if longer is not None and all(map(_read_by_first, wanted[args])):
            wanted[longer] += wanted.pop(args)
    for args, calls in wanted.items():
        types = tuple(shape.types[arg] for arg in args)
        weighed = any(read.by_share for call in calls if (read := reading(call.function)))
        empty = OrderedRows.empty(arena, shape.width, args, types, weighed=weighed)
        scans = {
            call: _scan(call, empty, surroundings)
            for call in calls
            if call.function not in EXTREMES and reading(call.function) is None
        }
        serving.update(dict.fromkeys(calls, replace(empty, scans=scans)))


def _read_by_first(call: CallShape) -> bool:
    """Test for a call whose rows may be divided by further columns: an extreme, or what lies at a
    share of the assignments.
    """
    read = reading(call.function)
    return call.function in EXTREMES or (read is not None and read.by_share)


def _scan(call: CallShape, rows: OrderedRows, surroundings: Surroundings) -> Scan:
    dictionary = surroundings.dictionary
    places = {arg: rows.code_column(rows.args.index(arg)) for arg in call.args if arg in rows.args}
    fold = fold_of(call.function, call.types, surroundings.user)
    if fold is not None:
        args = [places[arg] for arg in call.args]
        return Fold.of(dictionary, fold, args, call.types, call.result)
    text, *more = call.args
    separator = places[more[0]] if more and call.constant is None else str(call.constant or "")
    return Concatenation.of(dictionary, places[text], separator)
