"""Kernels that only borrow arrays count no references.

Numba counts what refers to an array wherever a function takes one: an atomic instruction on entry, and one on return. For a helper that is
called for each row these are most of its time. But who calls a kernel holds the arrays until it is back. So where all arrays of a function
are its arguments or views of them, and none is returned, nothing needs to be counted.
"""

from __future__ import annotations

from typing import Any

from numba.core import compiler_machinery, ir, lowering, typed_passes

_Assign: Any = ir.Assign
_Expression: Any = ir.Expr
_Lower: Any = lowering.Lower
_NativeLowering: Any = typed_passes.NativeLowering
_register: Any = compiler_machinery.register_pass

_VIEWS = ("getattr", "static_getitem", "getitem", "typed_getitem", "cast", "phi", "build_tuple", "exhaust_iter")
"""Operations whose result refers to what their operands refer to, and to nothing else."""


def only_borrows(state: Any) -> bool:
    """Whether no array of a typed function is made by it, got from a call or returned."""
    models = state.targetctx.data_model_manager

    def refers(kind: Any) -> bool:
        return models[kind].contains_nrt_meminfo()

    def a_view(expression: Any) -> bool:
        by_array = expression.op == "getitem" and refers(state.typemap[expression.index.name])  # which copies what it finds
        return expression.op in _VIEWS and not by_array

    return not refers(state.return_type) and all(
        a_view(statement.value) or not refers(state.typemap[statement.target.name])
        for block in state.func_ir.blocks.values()
        for statement in block.find_insts(_Assign)
        if isinstance(statement.value, _Expression)
    )


class _BorrowingLower(_Lower):
    """Numba's translation of a function to intermediate code, without counting."""

    def lower(self) -> None:
        """The function itself: the wrapper for calls from Python, which comes after it, counts."""
        self.context.enable_nrt = False
        try:
            super().lower()
        finally:
            self.context.enable_nrt = True


@_register(mutates_CFG=True, analysis_only=False)
class Lowering(_NativeLowering):
    """Numba's step from typed to intermediate code, which counts references only in functions that need it."""

    _name = "kernel_lowering"

    def run_pass(self, state: Any) -> bool:
        """As Numba's."""
        self._borrows = only_borrows(state)
        return super().run_pass(state)

    @property
    def lowering_class(self) -> Any:
        """What translates the function at hand."""
        return _BorrowingLower if self._borrows else _Lower
