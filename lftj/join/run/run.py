# SPDX-License-Identifier: Apache-2.0
"""One run of the kernel: what it works with, and going on with it a slice of steps at a time."""

from __future__ import annotations

import numpy as np

from lftj.errors import LftjError, ValueRangeError
from lftj.join.context import Context
from lftj.join.kernels import layout_kernels as at
from lftj.join.kernels.bitmap_kernels import CACHE_WORDS, clear_cache
from lftj.join.kernels.kept_count_kernels import COUNT_WORDS, COUNTS
from lftj.join.kernels.triejoin_kernels import run
from lftj.join.plan.plan import RulePlan
from lftj.join.resources import Buffer
from lftj.join.run.assemble import Assembly
from lftj.join.run.log_buffer import LogBuffer, Sink
from lftj.program.scope import written_name
from lftj.scantree.jit import address
from lftj.types import decode_scalar, in_words

OUTPUT_WORDS = 1 << 16
"""Words of an output that runs borrow one after another: few enough to stay in the processor's
cache.
"""

_WIDEST = "an int has 64 bits and a decimal 18 digits: compute with to_float(x), which is not exact"
_EXCLUDE = "exclude such rows in the body"
_FAILURES = {
    at.OVERFLOW: (
        "a result is out of range",
        "E220",
        f"{_WIDEST}, or {_EXCLUDE}",
    ),
    at.DIVISION_BY_ZERO: ("division by zero", "E221", f"{_EXCLUDE}, for instance with y != 0"),
    at.NOT_A_NUMBER: (
        "the result is not a number",
        "E222",
        f"{_EXCLUDE}; for a negative power of an integer, make the base a float",
    ),
}
_RUN_RECORDS = 1 << 14
"""Records of a trace that a run has room for, as `run_rows`."""


class Run:
    """A state of the kernel with its buffers, over an assembly that others may run at the same
    time. One thread at a time may use it.

    `go`, then look at `status`, `hand_over` the log, take the `rows` and `make_room`; and so on
    until DONE; then `close`.
    """

    def __init__(self, assembly: Assembly, context: Context):
        self.assembly = assembly
        self.state = assembly.fresh_state()
        self.status = at.PAUSED
        plan = assembly.plan
        self._context = context
        self._buffer = LogBuffer(len(plan.levels), len(assembly.channels), _RUN_RECORDS)
        self._cache = borrow_cache(context)
        self._output = borrow_output(context)
        columns = len(plan.outputs) + 1
        self._room = min(context.tuning.run_rows, OUTPUT_WORDS // columns)
        self._out = self._output.array[: columns * self._room].reshape(columns, self._room)
        self._out[-1] = 1  # proofs; rows that are written a window at a time have one each
        self._text = context.resources.dictionary.flat()
        self._addresses: list[object] = []
        self.state[at.CAPACITY] = self._room
        self._buffer.attach(self.state)
        self._tell(assembly.words)

    def begin(self, state: np.ndarray) -> None:
        """Take up another state of the same assembly that has not run yet: of a part. Counts that
        were kept hold for it too.
        """
        state[at.CAPACITY] = self._room
        state[at.COUNT_SLOTS : at.COUNTS_KEPT + 1] = self.state[at.COUNT_SLOTS : at.COUNTS_KEPT + 1]
        self._buffer.attach(state)
        self.state = state
        self.status = at.PAUSED
        self.keep_to_part()

    def keep_to_part(self) -> None:
        """Read, from now on, the ranges that the state has, which may have been narrowed, not whole
        trees.
        """
        self._tell(self.assembly.words_of_parts)

    def _tell(self, words: np.ndarray) -> None:
        arrays = (
            self._context.resources.arena.memory,
            words,
            self.state,
            *self._text,
            self._cache.array,
            self._out.reshape(-1),
            self._buffer.words,
        )
        self._addresses = [address(array) for array in arrays]

    def go(self, most: int | None = None) -> int:
        """Go on for a slice of kernel steps, or `most`, or until a buffer is full. The number of
        steps that were made.
        """
        before = self.steps
        steps = self._context.tuning.run_steps
        self.state[at.BUDGET] = before + self._context.budget.slice(min(most or steps, steps))
        self.status = int(run(*self._addresses))
        return self.steps - before

    @property
    def steps(self) -> int:
        """Kernel steps so far."""
        return int(self.state[at.STEPS])

    @property
    def complete_rows(self) -> int:
        """Number of rows to take. While a run is only paused they stay: a small array is not worth
        taking.
        """
        return int(self.state[at.ROWS]) if self.status != at.PAUSED else 0

    def rows(self) -> np.ndarray:
        """The rows since the last `make_room`, as an array of shape (outputs + 1) × n that the next
        `go` overwrites.
        """
        return self._out[:, : int(self.state[at.ROWS])]

    def make_room(self) -> None:
        """The rows were taken."""
        self.state[at.ROWS] = 0

    def hand_over(self, log: Sink | None) -> None:
        """Give the records of the trace so far to the sink."""
        self._buffer.hand_over(self.state, log)

    def unset_bitmap(self) -> None:
        """Leave the bitmap without a bit set, as a fresh state expects it."""
        if self.state[at.CACHE_ROWS]:
            clear_cache(self._cache.address, address(self.state))

    def close(self) -> None:
        """Give the buffers back for others to use. Only a run that went to its end is closed; those
        of the others are dropped.
        """
        self.unset_bitmap()
        self._context.resources.caches.append(self._cache)
        self._context.resources.outputs.append(self._output)


def borrow_cache(context: Context) -> Buffer:
    """A bitmap without a bit set, and room for counts. One whose run was broken off is not to be
    returned.
    """
    return _borrowed(context.resources.caches, COUNTS + COUNT_WORDS, CACHE_WORDS)


def borrow_output(context: Context) -> Buffer:
    """OUTPUT_WORDS words for the rows of a run. A thread that touches memory for the first time
    pays for it, and is alone meanwhile.
    """
    return _borrowed(context.resources.outputs, OUTPUT_WORDS, 0)


def _borrowed(spare: list[Buffer], size: int, zeros: int) -> Buffer:
    """Words of which the first so many are 0 when they are new. Asked for zeros alone, NumPy may
    write them all.
    """
    try:
        return spare.pop()
    except IndexError:
        words = np.empty(size, np.int64)
        words[:zeros] = 0
        return Buffer(words, address(words))


def return_cache(context: Context, cache: Buffer, state: np.ndarray) -> None:
    """Clear the bitmap of a run that went to its end, and keep it for the next."""
    if state[at.CACHE_ROWS]:
        clear_cache(cache.address, address(state))
    context.resources.caches.append(cache)


def evaluation_failure(plan: RulePlan, state: np.ndarray, context: Context) -> LftjError:
    """Build the error to raise after FAILED: its message names the variables' values."""
    message, code, hint = _FAILURES[int(state[at.FAILURE])]
    bindings = int(state[at.BINDINGS])
    values, names = [], context.resources.dictionary
    for i in range(int(state[at.DEPTH]) + 1):
        variable = plan.levels[i].variable
        unknown = i <= at.LAST_BIT and int(state[at.UNKNOWN]) >> i & 1
        if variable is None or unknown:
            continue
        about = plan.rule.variables[variable]
        if (name := written_name(about.name, plan.rule.span)) is not None:
            value = decode_scalar(about.type, int(state[bindings + i]), names)
            values.append(f"{name} = {in_words(value)}")
    where = f" with {', '.join(values)}" if values else ""
    return ValueRangeError(f"{message}{where}", code=code, span=plan.rule.span, hint=hint)
