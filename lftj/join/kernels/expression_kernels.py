# SPDX-License-Identifier: Apache-2.0
"""Arithmetic and comparisons inside the join: a stack machine over the codes of
`operation_kernels`.
"""

from __future__ import annotations

from lftj.join.kernels.operation_kernels import (
    END_CODE,
    EQUAL,
    FLOAT_ADD,
    LESS,
    LIFTED,
    NEGATE,
    NULL,
    PUSH_BINDING,
    PUSH_CONSTANT,
    SKIP,
    SKIP_UNLESS,
    TEXT_LESS,
    compare,
    compare_text,
    float_operation,
    integer_operation,
    unary_operation,
)
from lftj.scantree.jit import (
    compiled,
    load,
    store,
)


@compiled
def compute(plan, state, code, bindings, stack, offsets, text):
    """Run the code at `code`; its value. A failure is left in the state's FAILURE word."""
    top = stack - 1
    while True:
        operation = load(plan, code)
        if operation == END_CODE:
            return load(state, top)
        if operation <= PUSH_BINDING:
            operand = load(plan, code + 1)
            top += 1
            store(
                state,
                top,
                operand if operation == PUSH_CONSTANT else load(state, bindings + operand),
            )
            code += 2
            continue
        if operation <= SKIP_UNLESS:
            skipped = operation == SKIP or load(state, top) == 0
            top -= operation - SKIP
            code += 2 + (load(plan, code + 1) if skipped else 0)
            continue
        code += 1
        value = load(state, top)
        lifted = operation >= LIFTED
        absent = lifted and value == NULL
        if lifted:
            operation -= LIFTED
        if operation >= NEGATE:
            store(state, top, NULL if absent else unary_operation(state, operation, value))
            continue
        top -= 1
        left = load(state, top)
        if absent or (lifted and left == NULL):
            store(state, top, NULL)
        elif operation < FLOAT_ADD:
            store(state, top, integer_operation(state, operation, left, value))
        elif operation < EQUAL:
            store(state, top, float_operation(state, operation, left, value))
        elif operation < TEXT_LESS:
            store(state, top, 1 if compare(operation, int(left > value) - int(left < value)) else 0)
        elif left == NULL or value == NULL:  # another test rejects it
            store(state, top, 0)
        else:
            order = compare_text(offsets, text, left, value)
            store(state, top, 1 if compare(operation - TEXT_LESS + LESS, order) else 0)
