"""Running a plan: slices of kernel work, in between which limits, interrupts and output are seen to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from lftj.errors import LftjError, ValueRangeError
from lftj.join import layout_kernels as at
from lftj.join.assemble import Assembly
from lftj.join.bitmap_kernels import CACHE_LIST, CACHE_WORDS, clear_cache
from lftj.join.context import Bitmap, Context
from lftj.join.plan import RulePlan, make_plan
from lftj.join.trace import NOTHING, LogBuffer, Logged, Sink
from lftj.join.triejoin_kernels import run
from lftj.program.normal_form import NormalRule, Ref
from lftj.storage.loose_rows import LooseRows
from lftj.storage.relation import RelationVersion
from lftj.types import decode_scalar
from scantree.jit import address

Columns = list[np.ndarray]
Relations = Mapping[str, RelationVersion]

SLICE = 20_000_000
"""Kernel steps between two looks at limits and interrupts: about a tenth of a second."""

_PLANS = 4096  # plans that are remembered
_STALE = 2  # growth or shrinkage of what a plan reads after which it is made anew
_SMALL = 64  # rows up to which sizes do not matter
_CHUNK = 1 << 16  # rows of the output buffer: small enough to stay in the processor's cache
_RECORDS = 1 << 14  # records of the trace's buffer
_FAILURES = {
    at.OVERFLOW: ("an integer or float result is out of range", "E220"),
    at.DIVISION_BY_ZERO: ("division by zero", "E221"),
    at.NOT_A_NUMBER: ("the result is not a number", "E222"),
}


def plan_rule(
    rule: NormalRule, relations: Relations, context: Context, *, needed: tuple[int, ...], count: bool, lasting: bool = False
) -> RulePlan:
    """The plan for the values of `needed`, with this context's statistics and forced orders; `lasting` as in `make_plan`.

    A plan made before is used again while the sizes of what it reads are nearly the same: making one takes longer than many a run.
    """
    forced = context.orders.get(rule.source)
    if forced is not None:
        return make_plan(rule, needed, relations, context.statistics, count=count, forced=forced, lasting=lasting)
    read = [relations[atom.relation] for atom in rule.atoms]
    sizes = [0 if isinstance(relation, LooseRows) else relation.count for relation in read]
    # rows of a change or of a round come in all sizes: plans are told apart by their magnitude alone
    key = (rule, needed, count, lasting, *((type(r), r.count.bit_length() // 4 * isinstance(r, LooseRows)) for r in read))
    known = context.plans.get(key)
    if known is not None and all(_alike(*pair) for pair in zip(sizes, known[0], strict=True)):
        return known[1]
    plan = make_plan(rule, needed, relations, context.statistics, count=count, lasting=lasting)
    if len(context.plans) >= _PLANS:
        context.plans.clear()
    context.plans[key] = (sizes, plan)
    return plan


def _alike(now: int, planned: int) -> bool:
    return max(now, planned) <= _SMALL or (min(now, planned) > 0 and max(now, planned) < _STALE * min(now, planned))


def chunks(
    plan: RulePlan, relations: Relations, context: Context, *, logged: Logged = NOTHING, log: Sink | None = None
) -> Iterator[np.ndarray]:
    """The plan's output rows in pieces: arrays of shape (outputs + 1) × n, the last row the number of proofs.

    Ascending by the levels in plan order. A piece is overwritten by the next. `log` is given the records of what is `logged`
    (`Assembly.channels` numbers it), the last of them before the last piece.
    """
    assembly = Assembly(plan, relations, context.dictionary, logged if log else NOTHING)
    if assembly.empty and log is None:
        return
    state = assembly.fresh_state()
    buffer = LogBuffer(len(plan.levels), len(assembly.channels), _RECORDS)
    buffer.attach(state)
    cache = borrow_cache(context)
    out = np.empty((len(plan.outputs) + 1, _CHUNK), np.int64)
    out[-1] = 1  # proofs; rows that are written a window at a time have one each
    state[at.CAPACITY] = _CHUNK
    offsets, text = context.dictionary.flat()
    arrays = (context.arena.memory, assembly.words, state, offsets, text, cache.array, out.reshape(-1), buffer.words)
    arguments = [address(array) for array in arrays]
    status = at.PAUSED
    while status != at.DONE:
        before = int(state[at.STEPS])
        state[at.BUDGET] = before + context.slice(SLICE)
        status = run(*arguments)
        context.spend(int(state[at.STEPS]) - before)
        if status == at.FAILED:
            raise evaluation_failure(plan, state, context)
        buffer.hand_over(state, log)
        if state[at.ROWS] and status != at.PAUSED:
            yield out[:, : int(state[at.ROWS])]
            state[at.ROWS] = 0
    return_cache(context, cache, state)


def borrow_cache(context: Context) -> Bitmap:
    """A bitmap without a bit set. One whose run was broken off is not to be returned."""
    try:
        return context.caches.pop()
    except IndexError:
        words = np.zeros(CACHE_WORDS + CACHE_LIST, np.int64)
        return Bitmap(words, address(words))


def return_cache(context: Context, cache: Bitmap, state: np.ndarray) -> None:
    """Clear the bitmap of a run that went to its end, and keep it for the next."""
    if state[at.CACHE_ROWS]:
        clear_cache(cache.address, address(state))
    context.caches.append(cache)


def run_plan(plan: RulePlan, relations: Relations, context: Context) -> tuple[Columns, np.ndarray]:
    """All output rows: (columns in the order of the plan's outputs, number of proofs of each)."""
    pieces = [piece.copy() for piece in chunks(plan, relations, context)]
    if not pieces:
        return [np.empty(0, np.int64) for _ in plan.outputs], np.empty(0, np.int64)
    rows = pieces[0] if len(pieces) == 1 else np.concatenate(pieces, axis=1)
    return list(rows[:-1]), rows[-1]


def evaluate(
    rule: NormalRule, relations: Relations, context: Context, *, needed: tuple[int, ...] | None = None, count: bool = True
) -> tuple[Columns, np.ndarray]:
    """The values of `needed` (by default the head's variables) over all satisfying assignments, and how many of these each row stands for.

    Rows may repeat unless the needed variables come first in the variable order. Without `count` every count is 1.
    """
    if needed is None:
        needed = tuple(term.variable for term in rule.head if isinstance(term, Ref))
    return run_plan(plan_rule(rule, relations, context, needed=needed, count=count), relations, context)


def evaluation_failure(plan: RulePlan, state: np.ndarray, context: Context) -> LftjError:
    """What to raise after FAILED: the message names the variables' values."""
    message, code = _FAILURES[int(state[at.FAILURE])]
    bindings = int(state[at.BINDINGS])
    values = []
    for i in range(int(state[at.DEPTH]) + 1):
        variable = plan.levels[i].variable
        unknown = i <= at.LAST_BIT and int(state[at.UNKNOWN]) >> i & 1
        if variable is not None and not unknown and not plan.rule.variables[variable].name.startswith("_"):
            about = plan.rule.variables[variable]
            values.append(f"{about.name} = {decode_scalar(about.type, int(state[bindings + i]), context.dictionary)!r}")
    where = f" with {', '.join(values)}" if values else ""
    remedy = "exclude such rows in the body"
    hint = f"{remedy}, for instance with y != 0" if code == "E221" else f"use a wider type, or {remedy}"
    return ValueRangeError(f"{message} in a rule for {plan.rule.relation!r}{where}", code=code, span=plan.rule.span, hint=hint)
