# SPDX-License-Identifier: Apache-2.0
"""Compilation of a kernel to machine code, together with all it calls, once.

By itself Numba optimises every function it meets to the end, gives it machine code and a wrapper
for calls from Python, and then links its optimised code into each caller, where all of that happens
again: a helper six calls deep is optimised six times. Here what is called from compiled code (a
`Callee`) is lowered to LLVM's intermediate code and left so; what is called from Python (an
`Entry`) collects its callees, and theirs, and the whole is optimised once. A kernel called both
ways is both.
"""

from __future__ import annotations

from typing import Any

from numba.core import (
    codegen,
    compiler,
    compiler_machinery,
    ir,
    lowering,
    typed_passes,
    untyped_passes,
)
from numba.core.environment import lookup_environment

from lftj.scantree.jit import announcing

# Kernels that only borrow arrays count no references.
#
# Numba counts what refers to an array wherever a function takes one: an atomic instruction on
# entry, and one on return. For a helper that is called for each row these are most of its time. But
# who calls a kernel holds the arrays until it is back. So where all arrays of a function are its
# arguments or views of them, and none is returned, nothing needs to be counted.

_Assign: Any = ir.Assign
_Expression: Any = ir.Expr
_Lower: Any = lowering.Lower
_NativeLowering: Any = typed_passes.NativeLowering
_register: Any = compiler_machinery.register_pass

_VIEWS = (
    "getattr",
    "static_getitem",
    "getitem",
    "typed_getitem",
    "cast",
    "phi",
    "build_tuple",
    "exhaust_iter",
)
"""Operations whose result refers to what their operands refer to, and to nothing else."""


def only_borrows(state: Any) -> bool:
    """Check that a typed function makes no array, gets none from a call and returns none."""
    models = state.targetctx.data_model_manager

    def refers(kind: Any) -> bool:
        return models[kind].contains_nrt_meminfo()

    def a_view(expression: Any) -> bool:
        by_array = expression.op == "getitem" and refers(
            state.typemap[expression.index.name]
        )  # which copies what it finds
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
    """Numba's step from typed to intermediate code, which counts references only in functions that
    need it.
    """

    _name = "kernel_lowering"

    def run_pass(self, state: Any) -> bool:
        """As Numba's."""
        self._borrows = only_borrows(state)
        return super().run_pass(state)

    @property
    def lowering_class(self) -> Any:
        """The class that translates the current function to LLVM's intermediate code."""
        return _BorrowingLower if self._borrows else _Lower


_JITCodeLibrary: Any = codegen.JITCodeLibrary
_CompilerBase: Any = compiler.CompilerBase

_STEPS: Any = (
    untyped_passes.TranslateByteCode,
    untyped_passes.FixupArgs,
    untyped_passes.IRProcessing,
    untyped_passes.RewriteSemanticConstants,
    untyped_passes.DeadBranchPrune,
    untyped_passes.GenericRewrites,
    untyped_passes.ReconstructSSA,
    typed_passes.NopythonTypeInference,
    typed_passes.PreLowerStripPhis,
    typed_passes.InlineOverloads,
    typed_passes.IRLegalization,
    typed_passes.AnnotateTypes,
    Lowering,
    typed_passes.NoPythonBackend,
)


class _Library(_JITCodeLibrary):
    def __init__(self, generator: Any, name: str) -> None:
        super().__init__(generator, name)
        self.enable_object_caching()

    def callees(self, found: dict[Any, None]) -> dict[Any, None]:
        """`found` and what this library and those it calls link to, each once."""
        for library in self._linking_libraries:
            if library not in found:
                found[library] = None
                if isinstance(library, _Library):
                    library.callees(found)
        return found

    def _optimize_functions(self, ll_module: Any) -> None:
        """As Numba's, without setting passes up for functions that are declared only."""
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager()
                passes.run(function, builder)


class _Entry(_Library):
    """The code of a kernel that Python calls."""

    def finalize(self) -> None:
        """Link, optimise, and compile."""
        self._linking_libraries = list(self.callees({}))
        super().finalize()
        for variable in self._final_module.global_variables:
            environment = lookup_environment(variable.name)
            if environment is not None:
                self._codegen.set_env(variable.name, environment)


class _Callee(_Library):
    """The intermediate code of a kernel that kernels call."""

    @property
    def codegen(self) -> Any:
        """Numba's generator of code, for Numba to ask."""
        return _WithoutEnvironment(self._codegen)

    def finalize(self) -> None:
        """Leave all to the callers."""
        self._finalized = True

    def _optimize_functions(self, ll_module: Any) -> None:
        """Leave that too."""
        ll_module.data_layout = self._codegen._data_layout

    def get_pointer_to_function(self, name: str) -> int:
        """None: nothing here can be run."""
        return 0


class _WithoutEnvironment:
    """Numba's generator of code for a function that has no machine code, so none that needs to know
    where its constants are.
    """

    def __init__(self, generator: Any) -> None:
        self._generator = generator

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Ignore the environment: the `_Entry` that this is linked into sets it."""


class _Settings(compiler.Flags):
    """Numba's settings of a compilation, compared quickly: it looks every operation up by them, and
    compares all of them each time.
    """

    __slots__ = ()

    __hash__ = compiler.Flags.__hash__

    def __eq__(self, other: object) -> bool:
        return (isinstance(other, _Settings) and self._values == other._values) or super().__eq__(
            other
        )


class EntryCompiler(_CompilerBase):
    """Numba's compiler, for kernels that Python calls.

    Without the steps that find nothing in a kernel: it has no closures, comprehensions, `with`,
    `raise`, nor expressions over whole arrays.
    """

    library: type[_Library] = _Entry

    def compile_extra(self, func: Any) -> Any:
        """As Numba's, into a library of our kind."""
        if self.library is _Entry:
            announcing.begin(func.__name__)
        self.state.library = self.library(self.state.targetctx.codegen(), func.__qualname__)
        self.state.flags = _Settings(self.state.flags)
        return super().compile_extra(func)

    def define_pipelines(self) -> list[Any]:
        """The steps from Python's bytecode to machine code."""
        manager = compiler_machinery.PassManager("kernel")
        for step in _STEPS:
            manager.add_pass(step, step._name)
        manager.finalize()
        return [manager]


class CalleeCompiler(EntryCompiler):
    """Numba's compiler, for kernels that kernels call."""

    library = _Callee
