# SPDX-License-Identifier: Apache-2.0
"""Entry points of kernels: what Python calls, in machine code, without Numba.

An entry point is a C function of Python's `METH_FASTCALL` convention. It takes the arguments of one
signature apart (numbers, arrays, named tuples of them), gives the interpreter's lock back, calls
the kernel, and makes Python objects of its results. Arguments that do not fit the signature go to
`self`, another callable: the entry point of the next signature, or Python.

Memory of arrays that kernels make and return is that of `lftj.scantree.jit.made_memory`; a capsule
gives it back when the array is gone. Objects are read where CPython (with the global lock) and
NumPy lay them out since their versions 3 and 1.7; functions are those of Python's stable interface,
and two of NumPy's, by `lftj.scantree.jit.table`.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.np.arrayobj import populate_array

from lftj.scantree.jit.table import TABLE

_WORD, _NUMBER, _BYTE = ir.IntType(64), ir.IntType(32), ir.IntType(8)
_POINTER = _BYTE.as_pointer()
_TYPE_OF, _TUPLE_CLASS, _NAME_OF_TYPE = 8, 1 << 26, 24
_DATA, _DIMENSIONS, _SHAPE, _STRIDES, _ELEMENT, _FLAGS = 16, 24, 32, 40, 56, 64
_BYTE_ORDER, _KIND = 26, 28  # in the description of an array's elements
_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x001, 0x100, 0x400
_NUMPY_KINDS: Any = {
    types.boolean: (0,), types.int8: (1,), types.uint8: (2,), types.int32: (5,),
    types.uint32: (6,), types.int64: (7, 9), types.uint64: (8, 10), types.float64: (12,),
}  # fmt: skip
"""Numbers of NumPy's types of elements."""


class UnfitSignatureError(Exception):
    """A kernel takes or returns what entry points cannot pass; the message says what."""


class EntryPoint:
    """Writes the entry point of one signature of a kernel into a module of its own."""

    def __init__(self, context: Any, module: Any, name: str, kernel: Any, signature: Any) -> None:
        self.context, self.module, self.signature = context, module, signature
        function = ir.Function(
            module, ir.FunctionType(_POINTER, [_POINTER, _POINTER.as_pointer(), _WORD]), name
        )
        self.python, self.arguments, self.count = function.args
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.misfit = function.append_basic_block("misfit")
        self.table = module.globals.get("lftj_table") or _table(module)
        self.kernel = kernel

    def write(self) -> None:
        """Write it. Raises UnfitSignatureError."""
        kinds = self.signature.args
        self._require(self.builder.icmp_unsigned("==", self.count, _WORD(len(kinds))))
        values = [
            self._taken(kind, self.builder.load(self.builder.gep(self.arguments, [_WORD(number)])))
            for number, kind in enumerate(kinds)
        ]
        state = self._call("PyEval_SaveThread", _POINTER)
        convention = self.context.call_conv
        result = self.signature.return_type
        function = ir.Function(
            self.module, convention.get_function_type(result, kinds), self.kernel
        )
        status, value = convention.call_function(
            self.builder, function, result, kinds, values, attrs=("noinline",)
        )
        self._call("PyEval_RestoreThread", ir.VoidType(), state)
        with self.builder.if_then(status.is_error, likely=False):
            self._raise(status.excinfoptr)
        self.builder.ret(self._object(result, value))
        self.builder.position_at_end(self.misfit)
        self._call("PyErr_Clear", ir.VoidType())
        null = ir.Constant(_POINTER, None)
        self.builder.ret(
            self._call(
                "PyObject_Vectorcall", _POINTER, self.python, self.arguments, self.count, null
            )
        )

    # ── small pieces ──────────────────────────────────────────────────────────────────────────────
    def _call(self, name: str, result: Any, *arguments: Any) -> Any:
        """A call of a C function, declared where it is not yet."""
        function = self.module.globals.get(name)
        if function is None:
            kind = ir.FunctionType(result, [each.type for each in arguments])
            function = ir.Function(self.module, kind, name)
        return self.builder.call(function, arguments)

    def _require(self, condition: Any) -> None:
        """Go on where a condition holds, else let somebody else be called."""
        onward = self.builder.append_basic_block()
        branch = self.builder.cbranch(condition, onward, self.misfit)
        branch.set_weights([99, 1])
        self.builder.position_at_end(onward)

    def _known(self, name: str) -> Any:
        """The pointer of this name in the table that the loader fills."""
        place = self.builder.gep(self.table, [_WORD(0), _NUMBER(TABLE.index(name))])
        return self.builder.load(place)

    def _at(self, start: Any, offset: int, kind: Any) -> Any:
        """The value at an offset from a pointer."""
        place = self.builder.gep(start, [_WORD(offset)])
        return self.builder.load(self.builder.bitcast(place, kind.as_pointer()))

    def _is(self, one: Any, other: Any) -> Any:
        return self.builder.icmp_unsigned("==", one, other)

    # ── arguments ─────────────────────────────────────────────────────────────────────────────────
    def _taken(self, kind: Any, given: Any) -> Any:
        """The value of an argument, as kernels take it."""
        if isinstance(kind, types.Array):
            return self._array(kind, given)
        if isinstance(kind, types.BaseTuple):
            return self._from_tuple(kind, given)
        if kind == types.int64:
            return self._integer(given)
        if kind == types.boolean:
            true = self._either(given, "True", "numpy.True_")
            false = self._either(given, "False", "numpy.False_")
            self._require(self.builder.or_(true, false))
            return true
        if kind == types.float64:
            return self._float(given)
        raise UnfitSignatureError(f"an argument of type {kind}")

    def _either(self, given: Any, one: str, other: str) -> Any:
        return self.builder.or_(
            self._is(given, self._known(one)), self._is(given, self._known(other))
        )

    def _integer(self, given: Any) -> Any:
        value = self._call("PyLong_AsLongLong", _WORD, given)
        null = ir.Constant(_POINTER, None)
        odd = self._is(value, _WORD(-1))
        before = self.builder.block
        with self.builder.if_then(odd, likely=False):
            failed = self._call("PyErr_Occurred", _POINTER)
            fine, then = self._is(failed, null), self.builder.block
        known = self.builder.phi(ir.IntType(1))
        known.add_incoming(ir.IntType(1)(1), before)
        known.add_incoming(fine, then)
        self._require(known)
        return value

    def _float(self, given: Any) -> Any:
        self._require(self._instance(given, "float"))
        return self._call("PyFloat_AsDouble", ir.DoubleType(), given)

    def _instance(self, given: Any, name: str) -> Any:
        """Check that an object is of a class, or of one made from it."""
        found, wanted = self._at(given, _TYPE_OF, _POINTER), self._known(name)
        below = self._call("PyType_IsSubtype", _NUMBER, found, wanted)
        return self.builder.icmp_signed("!=", below, _NUMBER(0))

    def _from_tuple(self, kind: Any, given: Any) -> Any:
        found = self._at(given, _TYPE_OF, _POINTER)
        flags = self._call("PyType_GetFlags", _WORD, found)
        self._require(
            self.builder.icmp_unsigned(
                "!=", self.builder.and_(flags, _WORD(_TUPLE_CLASS)), _WORD(0)
            )
        )
        wanted = getattr(kind, "instance_class", tuple).__name__
        name = self.context.insert_const_string(self.module, wanted)
        differs = self._call("strcmp", _NUMBER, self._at(found, _NAME_OF_TYPE, _POINTER), name)
        self._require(self._is(differs, _NUMBER(0)))
        size = self._call("PyTuple_Size", _WORD, given)
        self._require(self._is(size, _WORD(len(kind))))
        fields = [
            self._taken(each, self._call("PyTuple_GetItem", _POINTER, given, _WORD(at)))
            for at, each in enumerate(kind)
        ]
        return self.context.make_tuple(self.builder, kind, fields)

    def _array(self, kind: Any, given: Any) -> Any:
        if kind.layout not in "CA" or kind.dtype not in _NUMPY_KINDS:
            raise UnfitSignatureError(f"an argument of type {kind}")
        self._require(self._instance(given, "numpy.ndarray"))
        self._require(self._is(self._at(given, _DIMENSIONS, _NUMBER), _NUMBER(kind.ndim)))
        needed = _ALIGNED | (_CONTIGUOUS if kind.layout == "C" else 0)
        seen = needed | _WRITEABLE
        needed |= _WRITEABLE if kind.mutable else 0
        flags = self.builder.and_(self._at(given, _FLAGS, _NUMBER), _NUMBER(seen))
        self._require(self._is(flags, _NUMBER(needed)))
        element = self._at(given, _ELEMENT, _POINTER)
        found = self._at(element, _KIND, _NUMBER)
        fits = ir.IntType(1)(0)
        for number in _NUMPY_KINDS[kind.dtype]:
            fits = self.builder.or_(fits, self._is(found, _NUMBER(number)))
        swapped = self._is(self._at(element, _BYTE_ORDER, _BYTE), _BYTE(ord(">")))
        self._require(self.builder.and_(fits, self.builder.not_(swapped)))
        made = self.context.make_array(kind)(self.context, self.builder)
        shape, strides = (
            [self._at(self._at(given, field, _POINTER), 8 * at, _WORD) for at in range(kind.ndim)]
            for field in (_SHAPE, _STRIDES)
        )
        data = self.builder.bitcast(self._at(given, _DATA, _POINTER), made.data.type)
        size = self.context.get_abi_sizeof(self.context.get_data_type(kind.dtype))
        populate_array(made, data, shape, strides, size, None)
        return made._getvalue()

    # ── results ───────────────────────────────────────────────────────────────────────────────────
    def _object(self, kind: Any, value: Any) -> Any:
        """A Python object for a result."""
        if kind == types.none:
            none = self._known("None")
            self._call("Py_IncRef", ir.VoidType(), none)
            return none
        if isinstance(kind, types.Literal):
            plain = types.unliteral(kind)
            return self._object(plain, self.context.cast(self.builder, value, kind, plain))
        if kind == types.boolean:
            number = self.builder.zext(value, _WORD) if value.type != _WORD else value
            return self._call("PyBool_FromLong", _POINTER, number)
        if kind == types.float64:
            return self._call("PyFloat_FromDouble", _POINTER, value)
        if isinstance(kind, types.Integer):
            wide = self.context.cast(self.builder, value, kind, types.int64)
            return self._call("PyLong_FromLongLong", _POINTER, wide)
        if isinstance(kind, types.BaseTuple) and not isinstance(kind, types.BaseNamedTuple):
            return self._tuple(kind, value)
        if isinstance(kind, types.Array) and kind.layout == "C":
            return self._new_array(kind, value)
        raise UnfitSignatureError(f"a result of type {kind}")

    def _tuple(self, kind: Any, value: Any) -> Any:
        made = self._call("PyTuple_New", _POINTER, _WORD(len(kind)))
        for at, each in enumerate(kind):
            part = self._object(each, self.builder.extract_value(value, at))
            self._call("PyTuple_SetItem", _NUMBER, made, _WORD(at), part)
        return made

    def _new_array(self, kind: Any, value: Any) -> Any:
        """An array around memory that the kernel made; a copy of memory that was an argument's."""
        array = self.context.make_array(kind)(self.context, self.builder, value)
        shape = cgutils.alloca_once_value(self.builder, array.shape)
        new = ir.FunctionType(
            _POINTER,
            [_POINTER, _NUMBER, _POINTER, _NUMBER, _POINTER, _POINTER, _NUMBER, _NUMBER, _POINTER],
        )
        null = ir.Constant(_POINTER, None)
        made = self.builder.call(
            self.builder.bitcast(self._known("PyArray_New"), new.as_pointer()),
            [
                self._known("numpy.ndarray"), _NUMBER(kind.ndim),
                self.builder.bitcast(shape, _POINTER), _NUMBER(_NUMPY_KINDS[kind.dtype][0]),
                null, self.builder.bitcast(array.data, _POINTER), _NUMBER(0),
                _NUMBER(_CONTIGUOUS | _ALIGNED | _WRITEABLE), null,
            ],
        )  # fmt: skip
        result = cgutils.alloca_once_value(self.builder, made)
        with self.builder.if_else(self._is(array.meminfo, null)) as (borrowed, own):
            with borrowed:
                copy = self._call("PyObject_CallOneArg", _POINTER, self._known("copy"), made)
                self._call("Py_DecRef", ir.VoidType(), made)
                self.builder.store(copy, result)
            with own:
                self._keep(made, array.meminfo)
        return self.builder.load(result)

    def _keep(self, made: Any, memory: Any) -> None:
        """Have an array give its memory back at its end."""
        null = ir.Constant(_POINTER, None)
        giver = self.module.globals.get("lftj_give_back") or ir.Function(
            self.module, ir.FunctionType(ir.VoidType(), [_POINTER]), "lftj_give_back"
        )
        capsule = self._call(
            "PyCapsule_New", _POINTER, memory, null, self.builder.bitcast(giver, _POINTER)
        )
        based = ir.FunctionType(_NUMBER, [_POINTER, _POINTER])
        self.builder.call(
            self.builder.bitcast(self._known("PyArray_SetBaseObject"), based.as_pointer()),
            [made, capsule],
        )

    def _raise(self, failure: Any) -> None:
        """Have Python raise what the kernel says: a description of the error that Numba made."""
        start = self.builder.bitcast(failure, _POINTER)
        text, size = self._at(start, 0, _POINTER), self._at(start, 8, _NUMBER)
        made = self._call(
            "PyBytes_FromStringAndSize", _POINTER, text, self.builder.zext(size, _WORD)
        )
        self.builder.ret(self._call("PyObject_CallOneArg", _POINTER, self._known("raise"), made))


def _table(module: Any) -> Any:
    """The table that the loader fills, and a function that tells where it is."""
    table: Any = ir.GlobalVariable(module, ir.ArrayType(_POINTER, len(TABLE)), "lftj_table")
    table.linkage = "internal"
    table.initializer = ir.Constant(table.value_type, None)
    return table


def write_table_getter(module: Any, name: str) -> None:
    """Export a function of this name that tells where the table of this module is."""
    table = module.globals.get("lftj_table") or _table(module)
    function = ir.Function(module, ir.FunctionType(_POINTER, []), name)
    builder = ir.IRBuilder(function.append_basic_block())
    builder.ret(builder.bitcast(table, _POINTER))


def write_text_getter(context: Any, module: Any, name: str, text: str) -> None:
    """Export a function of this name that gives a text."""
    function = ir.Function(module, ir.FunctionType(_POINTER, []), name)
    builder = ir.IRBuilder(function.append_basic_block())
    builder.ret(context.insert_const_string(module, text))
