# SPDX-License-Identifier: Apache-2.0
"""Object code of kernels: what a process of its own does for a library of kernels, with Numba.

It reads lines as `lftj.scantree.jit.ahead` does, has Numba translate these kernels and all they
call to LLVM's intermediate code, adds an entry point for each (`lftj.scantree.jit.entry_points`),
optimises all of it as one module, and writes one relocatable object. Which processor that is for,
the process is told by Numba's settings in its environment.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import config
from numba.core.registry import cpu_target

from lftj.scantree.jit import announcing, processes
from lftj.scantree.jit.entry_points import (
    EntryPoint,
    UnfitSignatureError,
    write_table_getter,
    write_text_getter,
)
from lftj.scantree.jit.kinds import kind, named
from lftj.scantree.jit.made_memory import RUNTIME
from lftj.scantree.jit.remembered_types import remember_types

_settings: Any = config


def write_object(lines: Iterable[str], number: int, path: Path) -> None:
    """Write the object code of the kernels of these lines; `number` tells several objects of one
    library apart.
    """
    context: Any = cpu_target.target_context
    module = ir.Module("entry points")
    libraries: dict[Any, None] = {}
    seen: dict[str, int] = {}
    with announcing.said_by(lambda text: None):
        found = [_found(line) for line in lines]  # what cannot be imported fails before all else
        for full_name, kernel, kinds in found:
            types = tuple(map(kind, kinds))
            kernel.callee.compile(types)
            made = kernel.callee.overloads[types]
            entry = f"{full_name}/{seen.get(full_name, 0)}"
            symbol = made.fndesc.llvm_func_name
            try:
                EntryPoint(context, module, entry, symbol, made.signature).write()
            except UnfitSignatureError as reason:
                raise UnfitSignatureError(f"{full_name}: {reason}") from None
            write_text_getter(context, module, f"{entry}/kinds", " ".join(kinds))
            seen[full_name] = seen.get(full_name, 0) + 1
            libraries[made.library] = None
            made.library.callees(libraries)
    write_table_getter(module, f"lftj_table/{number}")
    path.write_bytes(_object(context, module, libraries))


def _found(line: str) -> tuple[str, Any, list[str]]:
    """The name of the kernel in a line, the kernel, and the words of its types."""
    module_name, name, *kinds = line.split()
    return f"{module_name}.{name}", named(module_name, name), kinds


def _object(context: Any, entry_points: Any, libraries: Iterable[Any]) -> bytes:
    """The object code of entry points and what they call."""
    generator = context.codegen()
    whole = generator.create_library("library of kernels")
    entry_points.triple, entry_points.data_layout = (
        llvm.get_process_triple(),
        generator._data_layout,
    )
    module = whole._final_module
    module.link_in(llvm.parse_assembly(str(entry_points)))
    for library in libraries:
        module.link_in(library._get_module_for_linking(), preserve=True)
    module.link_in(llvm.parse_assembly(RUNTIME))
    exported = {each.name for each in module.functions if "/" in each.name}
    passes, builder = generator._module_pass_manager()
    passes.run(module, builder)
    for each in [*module.functions, *module.global_variables]:
        if not each.is_declaration and each.name not in exported:
            each.linkage = "internal"
    module.verify()
    return _machine().emit_object(module)


def _machine() -> Any:
    """LLVM's generator of code that may lie anywhere in memory."""
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=_settings.CPU_NAME, features=_settings.CPU_FEATURES or "", opt=3, reloc="pic",
        codemodel="default",
    )  # fmt: skip


def main(number: int, path: str) -> None:
    """Write an object of the lines on standard input, in a process that another one waits for."""
    processes.end_with_parent()
    gc.disable()  # the compiler makes millions of small objects that live till its end
    remember_types()
    write_object(sys.stdin.read().splitlines(), number, Path(path))
