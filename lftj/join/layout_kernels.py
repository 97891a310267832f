"""Where things lie in the two int64 arrays a triejoin runs on: the plan, which it reads, and the state, which it can be resumed from.

    plan  = header of PLAN_HEADER words, level records, part records, filter records, probe records and their arguments, output levels,
            expression code
    state = header of STATE_HEADER words, part states, bindings (one per level), expression stack

The plan's header says where each table begins; the first and last of a record are numbers of records, the last one not included. Places of
code count from CODE_TABLE. Some words of the headers are not used.

A *part* is one column of one atom taking part at one level; the parts of a level lie side by side, those whose range does not change with
the level just above (invariant) first. A *probe* is a negated atom.
"""

from __future__ import annotations

# ── plan header ───────────────────────────────────────────────────────────────────────────────────────────────────────
LEVELS = 0
EMIT_LEVEL = 1  # one output row per binding of the levels before this one
SHORT_CIRCUIT = 2  # 1: stop at the first proof from EMIT_LEVEL on; 0: count the proofs
OUTPUTS = 3
LEVEL_TABLE = 4
PART_TABLE = 5
FILTER_TABLE = 6
PROBE_TABLE = 7
ARGUMENT_TABLE = 8
OUTPUT_TABLE = 9
CODE_TABLE = 10
PARTS = 11
PLAN_HEADER = 16

# level record
LEVEL_FIRST = 0
LEVEL_LAST = 1
LEVEL_VALUE = 2  # start of the code that computes the level's value, or −1
LEVEL_FILTER_FIRST = 3
LEVEL_FILTER_LAST = 4
LEVEL_INVARIANT = 5  # number of invariant parts
LEVEL_FAST = 6  # 1: no filter, no value, and every part's column is the last of its key order
LEVEL_RECORD = 8

# part record
PART_ROOT = 0
PART_HEIGHT = 1
PART_COLUMN = 2
PART_CHILD = 3  # the part of the same atom's next column, or −1
PART_RECORD = 4

# filter record
FILTER_CODE = 0  # start of the code of a comparison, or −1
FILTER_PROBE = 1  # the negated atom, when there is no code
FILTER_RECORD = 2

# probe record
PROBE_ROOT = 0
PROBE_HEIGHT = 1
PROBE_FIRST = 2  # its arguments in the argument table, one per leading key column: a level, or −1 and a constant
PROBE_LAST = 3
PROBE_RECORD = 4
ARGUMENT_RECORD = 2

# ── state header ──────────────────────────────────────────────────────────────────────────────────────────────────────
DEPTH = 0
PHASE = 1
STEPS = 2
BUDGET = 3
PROOFS = 4  # proofs found for the present binding of the levels before EMIT_LEVEL
ROWS = 5  # rows in the output buffer
FAILURE = 6  # what went wrong in an expression
CACHE_READY = 8  # 0: no bitmap yet; READY: it holds the invariant parts of the last level; REFUSED: they do not fit
CACHE_WORK = 9  # steps spent at the last level under the present prefix
CACHE_LOW = 10
CACHE_HIGH = 11
CACHE_ROWS = 12
PART_STATES = 13
BINDINGS = 14
STACK = 15
CAPACITY = 16  # rows the output buffer has room for; column i of it begins at word i · CAPACITY
STATE_HEADER = 24

# part state
START = 0  # the part's range: positions from START up to LIMIT
LIMIT = 1
POSITION = 2
RUN_END = 3  # the end of the run of rows that have the value at POSITION
PART_STATE = 4

# phases
OPEN = 0  # begin a level
ADVANCE = 1  # go on to its next value
RESUME = 2  # go on inside a last level that is done all at once

# what a run ends with
DONE = 0
FULL = 1
PAUSED = 2
FAILED = 3

# failures
OVERFLOW = 1
DIVISION_BY_ZERO = 2
NOT_A_NUMBER = 3
