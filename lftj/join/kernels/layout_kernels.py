# SPDX-License-Identifier: Apache-2.0
"""Layout of the two int64 arrays that a triejoin runs on: the plan, which it reads, and the state,
from which it can be resumed.

plan  = header of PLAN_HEADER words, level records, part records, filter records, probe records
and their arguments, output levels,
        channel records, key levels, expression code
state = header of STATE_HEADER words, part states, bindings (one per level), counts begun (one per
level, and one more), running intervals, expression stack

The plan's header says where each table begins; the first and last of a record are numbers of
records, the last one not included. Places of code count from CODE_TABLE. Some words of the headers
are not used.

A *part* is one column of one atom taking part at one level; the parts of a level lie side by side,
those whose range does not change with the level just above (invariant) first. A *probe* is a
negated atom. A *channel* is a part or a probe that the trace is logged of (`trace_kernels`); the
channels of a level have consecutive numbers, those of the levels before come first.
"""

from __future__ import annotations

# ── plan header ───────────────────────────────────────────────────────────────────────────────────
LEVELS = 0
EMIT_LEVEL = 1  # one output row per binding of the levels before this one
# 1: stop at the first proof from EMIT_LEVEL on; 0: count the proofs; 2: look at all of them, but
# count one
SHORT_CIRCUIT = 2
OUTPUTS = 3
LEVEL_TABLE = 4
PART_TABLE = 5
FILTER_TABLE = 6
PROBE_TABLE = 7
ARGUMENT_TABLE = 8
OUTPUT_TABLE = 9
CHANNEL_TABLE = 10
KEY_TABLE = 11  # levels whose bindings decide what is found below others
CODE_TABLE = 12
PARTS = 13
CHANNELS = 14
LOG_FROM = 15  # the first level that is logged; the number of levels when none is
# after an output row the search goes on before this level: EMIT_LEVEL, or one less for the first
# row of each group
GROUP_LEVEL = 16
# the levels from this one on are done at once: the last one, or the last columns of one atom
# (`last_level_kernels`)
TAIL = 17
# the level before the tail, or before the last two, when it is merged with them
# (`merge_join_kernels`), or −1
MERGED = 18
# the first level from which on proofs are counted once per key (`kept_count_kernels`), or two more
# than there are levels
COUNTED = 19
COUNT_WIDTH = 20  # words that a kept count takes
VALUED = 21  # parts among which are some that begin behind NULL, or 0
PLAN_HEADER = 22

# level record
LEVEL_FIRST = 0
LEVEL_LAST = 1
LEVEL_VALUE = 2  # start of the code that computes the level's value, or −1
LEVEL_FILTER_FIRST = 3
LEVEL_FILTER_LAST = 4
LEVEL_INVARIANT = 5  # number of invariant parts
LEVEL_FAST = (
    6  # 1: no filter, no value, no channel, and every part's column is the last of its key order
)
LEVEL_CHANNEL_FIRST = 7
LEVEL_CHANNEL_LAST = 8
# of a logged level: the part that the search starts with, one without a channel if there is one
LEVEL_LEADER = 9
# the levels that the code of its value reads, as a set of bits (`deferred_failure_kernels`)
LEVEL_READS = 10
LEVEL_CROSS = 11  # 1: the last level follows, and both are read out side by side (`cross_kernels`)
# in the key table, the levels that decide how many proofs there are from this one on; the first is
# −1 where counts are not kept
LEVEL_KEY_FIRST = 12
LEVEL_KEY_LAST = 13
# the part whose values are passed over while the counts below them are known, or −1
LEVEL_PASSING = 14
LEVEL_RECORD = 15

# part record
PART_ROOT = 0
PART_HEIGHT = 1
PART_COLUMN = 2
PART_CHILD = 3  # the part of the same atom's next column, or −1
PART_CHANNEL = 4  # what it is logged as, or −1
PART_VALUED = 5  # 1: the first column of a key order whose rows with NULL there are passed over
PART_RECORD = 6

# filter record
FILTER_CODE = 0  # start of the code of a comparison, or −1
FILTER_PROBE = 1  # the negated atom, when there is no code
FILTER_READS = 2  # the levels it reads, as a set of bits
# 1: where it fails, it fails for all later values of its level too; 2: if the last one has a value
# in it
FILTER_BOUNDS = 3
FILTER_LEAST = 4  # start of the code of the least value of its level for which it holds, or −1
FILTER_RECORD = 5

# probe record
PROBE_ROOT = 0
PROBE_HEIGHT = 1
# its arguments in the argument table, one per leading key column: a level, or −1 and a constant
PROBE_FIRST = 2
PROBE_LAST = 3
PROBE_CHANNEL = 4  # what it is logged as, or −1
PROBE_CONSTANT = 5  # 1: all its arguments are constants
PROBE_RECORD = 6
ARGUMENT_RECORD = 2

# channel record
CHANNEL_MODE = 0
CHANNEL_LEVEL = 1
CHANNEL_RECORD = 2

# modes
EXACT = 0  # every operation its interval, those that touch joined
HULL = 1  # one interval per context, from the first to the last value

# ── state header ──────────────────────────────────────────────────────────────────────────────────
DEPTH = 0
PHASE = 1
STEPS = 2
BUDGET = 3
PROOFS = 4  # proofs found for the present binding of the levels before EMIT_LEVEL
ROWS = 5  # rows in the output buffer
FAILURE = 6  # what went wrong in an expression
# 0: no bitmap yet; READY: it holds the invariant parts of the last level; REFUSED: they do not fit
CACHE_READY = 8
CACHE_WORK = 9  # steps spent at the last level under the present prefix
CACHE_LOW = 10
CACHE_HIGH = 11
CACHE_ROWS = 12
PART_STATES = 13
BINDINGS = 14
STACK = 15
CAPACITY = 16  # rows the output buffer has room for; column i of it begins at word i · CAPACITY
RUNNING = 17  # where the running intervals begin
LOG_ROWS = 18  # records in the log
LOG_CAPACITY = 19  # records the log has room for: at least LOG_RESERVE · (CHANNELS + 1)
DOUBT = 20  # 1 + the first level whose binding rests on arithmetic that failed, or 0
DOUBT_FAILURE = 21  # what went wrong there
UNKNOWN = 22  # the levels without a value, as a set of bits
FREE = 23  # the levels that go through all values because theirs could not be computed
# where the ranges of the (at most two) invariant parts of the last level are that the bitmap holds:
# START and LIMIT of each
CACHE_RANGES = 24
COUNTS_BEGUN = 28  # where the counts begin: of each level 1 + the proofs when it was begun, or 0
COUNT_SLOTS = 29  # slots for kept counts, a power of two, or 0
COUNTS_KEPT = 30  # counts kept since there are so many slots
STATE_HEADER = 31

# part state
START = 0  # the part's range: positions from START up to LIMIT
LIMIT = 1
POSITION = 2
RUN_END = 3  # the end of the run of rows that have the value at POSITION
PART_STATE = 4

# running interval, one per channel
INTERVAL_OPEN = 0  # 1 when there is one
INTERVAL_LOW = 1
INTERVAL_HIGH = 2
INTERVAL_STATE = 3

# log record: one column each, column i at word i · LOG_CAPACITY; then the bindings of the levels
# before the channel's
LOG_CHANNEL = 0
LOG_LOW = 1
LOG_HIGH = 2
LOG_CONTEXT = 3
LOG_RESERVE = 2

# phases
OPEN = 0  # begin a level
ADVANCE = 1  # go on to its next value
RESUME = 2  # go on inside a last level that is done all at once, or inside the last two
SEARCH = 3  # go on inside a leapfrog search

# what a run ends with
DONE = 0
FULL = 1
PAUSED = 2
FAILED = 3
LOG_FULL = 4

# what looking for the next binding of a level, or at its filters, ends with
MISSED = 0  # and nothing will be found
FOUND = 1
NO_ROOM = 2  # in the log
REFUSED = 3  # by a filter

LAST_BIT = 62  # the last level that sets of bits have room for

# failures
OVERFLOW = 1
DIVISION_BY_ZERO = 2
NOT_A_NUMBER = 3
