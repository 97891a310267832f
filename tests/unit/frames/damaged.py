"""Arrays and files that say of themselves what cannot be. Each is read, which may end the process:
`python -m tests.unit.frames.damaged` is a process to lose.
"""

from __future__ import annotations

import datetime
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from bench.faults.flipping import flips, mutated
from lftj.distributed.files.row_files import read_entries, write_entry
from lftj.distributed.partitioning.cuts import ONE
from lftj.errors import DistributedError, LftjError
from lftj.frames import Columns, read
from lftj.program.normal_form import RelationSchema
from lftj.storage.delta import Delta
from lftj.types import BOOL, DATE, FLOAT, INT, STR, TIMESTAMP, Type, decimal
from lftj.types.dictionary import Dictionary
from tests.unit.frames.carriers import SparkLike


# ── arrays ────────────────────────────────────────────────────────────────────────────────────────
def _in_stream(good: pa.Array, told: bytes, instead: bytes) -> pa.Table:
    """The array as a stream gives it in which other bytes stand: nothing has looked at it."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, pa.schema([("x", good.type)])) as writer:
        writer.write_batch(pa.record_batch([good], names=["x"]))
    content = sink.getvalue().to_pybytes()
    assert content.count(told) == 1
    assert len(told) == len(instead)
    return pa.ipc.open_stream(pa.py_buffer(content.replace(told, instead))).read_all()


def _numbers(kind: type, *values: int) -> bytes:
    return np.array(values, kind).tobytes()


def _of_strings(type: pa.DataType, *offsets: int) -> pa.Table:
    kind = np.int64 if type == pa.large_string() else np.int32
    told = _numbers(kind, 0, 3, 5, 9)
    return _in_stream(pa.array(["abc", "de", "fghi"], type), told, _numbers(kind, *offsets))


def _indices(values: pa.Array, *places: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(places, pa.int32()), values, safe=False)


def _views(length: int, buffer: int, offset: int) -> pa.Table:
    """A view of one long text, with other words behind its length and first letters."""
    text = b"a text of more than twelve letters"
    view = _numbers(np.int32, length) + text[:4] + _numbers(np.int32, buffer, offset)
    good = pa.array([text.decode()]).cast(pa.string_view())
    return _in_stream(good, _numbers(np.int32, len(text)) + text[:4] + bytes(8), view)


def damaged_tables() -> Iterator[tuple[str, Type, pa.Table]]:
    """Tables of one array that cannot be, each with the column type that it would fit."""
    yield from _damaged_strings()
    for name, type, array in _damaged_arrays():
        yield name, type, pa.table({"x": array})


def _damaged_strings() -> Iterator[tuple[str, Type, pa.Table]]:
    for kind in (pa.string(), pa.large_string()):
        for offsets in (
            [0, 3, 5, 2**30],
            [5, 2, 4, 9],
            [0, 3, 5, 400],
            [-4, 3, 5, 9],
            [0, 9, 5, 9],
        ):
            far = _FAR if offsets[-1] > 9 else ""
            yield f"{kind} {offsets}{far}", STR, _of_strings(kind, *offsets)
    for view in ((34, 7, 0), (34, 0, 2**30), (34, 0, 30), (2**30, 0, 0), (34, -1, 0)):
        yield f"view {view}", STR, _views(*view)
    ends = _numbers(np.int32, 2, 3, 4)
    runs = pa.RunEndEncodedArray.from_arrays(
        pa.Array.from_buffers(pa.int32(), 3, [None, pa.py_buffer(ends)]), pa.array(["a", "b", "c"])
    )
    for others in ((2, 1, 4), (-2, 3, 4), (2, 3, 2)):
        wrong = _in_stream(runs, ends, _numbers(np.int32, *others))
        yield f"run ends {others}", STR, wrong


def _damaged_arrays() -> Iterator[tuple[str, Type, pa.Array]]:
    offsets = pa.py_buffer(_numbers(np.int32, 0, 3, 400, 9))
    buffers = [None, offsets, pa.py_buffer(b"abcdefghi")]
    yield "slice", STR, pa.Array.from_buffers(pa.string(), 2, buffers, offset=1)
    for places in ([0, 2], [-1, 0], [2**31 - 1, 0]):
        yield f"indices {places}", STR, _indices(pa.array(["a", "b"]), *places)
        yield f"indices of int {places}", INT, _indices(pa.array([1, 2]), *places)
    yield "values", STR, _indices(_of_strings(pa.string(), 0, 9, 5, 9)["x"].chunk(0), 0, 1, 2)
    numbers = [pa.py_buffer(b"\x05"), pa.py_buffer(np.arange(3))]
    yield "nulls", INT, pa.Array.from_buffers(pa.int64(), 3, numbers, null_count=2)


class Stream:
    """A table of another library, given by the Arrow PyCapsule interface."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, schema: object = None) -> object:
        return self._table.__arrow_c_stream__(schema)


def _as_pandas(table: pa.Table) -> object:
    import pandas

    array = pandas.arrays.ArrowExtensionArray(table.column("x"))
    return pandas.DataFrame({"x": pandas.Series(array)})


WAYS: dict[str, Callable[[pa.Table], object]] = {
    "table": lambda table: table,
    "batch": lambda table: table.to_batches()[0],
    "reader": lambda table: table.to_reader(),
    "stream": Stream,
    "structs": lambda table: table.to_struct_array(),
    "spark": SparkLike,
    "pandas": _as_pandas,
}


def _outcome(source: object, columns: Columns, **options: Any) -> str:
    """The code of the error, or nothing."""
    try:
        read(source, columns, dictionary=Dictionary(), **options)
    except LftjError as error:
        return error.code
    return ""


_FAR = ", too long"
"""Mark of strings that end behind their buffer: by the interface of streams an array has no sizes
of buffers, and Arrow takes the last offset for it.
"""


def read_arrays() -> None:
    """Show which damaged arrays were taken, by each way."""
    for name, type, table in damaged_tables():
        for way, made in WAYS.items():
            if way == "stream" and name.endswith(_FAR):
                continue
            for late in (None, 1):
                found = _outcome(made(table), [("x", type)], late_from=late)
                if found not in ("E231", "E232"):  # which Arrow itself refuses as it is imported
                    print(f"{name} as {way}: {found or 'taken'}", flush=True)


# ── files ─────────────────────────────────────────────────────────────────────────────────────────
_ROWS = 30
COLUMNS: Columns = [
    ("i", INT),
    ("f", FLOAT),
    ("s", STR),
    ("l", STR),
    ("v", STR),
    ("k", STR),
    ("b", BOOL),
    ("d", DATE),
    ("t", TIMESTAMP),
    ("m", decimal(9, 2)),
]


def _table() -> pa.Table:
    def some(values: list[Any], type: pa.DataType) -> pa.Array:
        return pa.array([None if n % 7 == 3 else v for n, v in enumerate(values)], type)

    rows = range(_ROWS)
    long = [f"a text with the number {n}" for n in rows]
    columns = [
        pa.array(rows, pa.int64()),
        pa.array([n / 3 for n in rows]),
        some([f"näme{n % 9}" for n in rows], pa.string()),
        pa.array([f"L{n}" for n in rows], pa.large_string()),
        pa.array(long).cast(pa.string_view()),
        some([f"k{n % 3}" for n in rows], pa.string()).dictionary_encode(),
        some([n % 2 == 0 for n in rows], pa.bool_()),
        pa.array([datetime.date(2013, 1, 1 + n % 28) for n in rows]),
        pa.array([datetime.datetime(2013, 1, 1, n % 24) for n in rows], pa.timestamp("us")),
        some([Decimal(n) / 4 for n in rows], pa.decimal128(9, 2)),
    ]
    return pa.table(columns, names=[name for name, _ in COLUMNS])


def _write(path: Path) -> None:
    table = _table()
    if path.suffix == ".parquet":
        plain = table.set_column(4, "v", table.column("v").cast(pa.string()))
        pyarrow.parquet.write_table(plain, path, compression="none")
    elif path.suffix == ".ipc":
        with pa.ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table)
    elif path.suffix == ".arrow":
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    else:
        between, rows = {".csv": ",", ".facts": "\t"}[path.suffix], table.to_pylist()
        lines = [between.join(str(value or 0) for value in row.values()) for row in rows]
        header = [between.join(table.column_names)] if path.suffix == ".csv" else []
        path.write_text("\n".join([*header, *lines, ""]))


def read_files(name: str, rounds: int) -> None:
    """Read mutated files of a format; show how many were taken, and how many refused."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        _write(path)
        content, counts = path.read_bytes(), Counter[bool]()
        for number in range(rounds):
            path.write_bytes(mutated(content, random.Random(number)))
            for late in (None, 1):
                found = _outcome(path, COLUMNS, nulls="drop", late_from=late)
                counts[bool(found)] += 1
    print(name, counts[False], counts[True], flush=True)


def read_rows_of_parts(rounds: int) -> None:
    """Read mutated files of rows, as parts keep them; show how many were taken, and refused."""
    schema = RelationSchema("r", tuple(COLUMNS))
    dictionary, counts = Dictionary(), Counter[bool]()
    rows = read(_table(), COLUMNS, dictionary=dictionary, nulls="drop").columns
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        entry = write_entry(folder, "r", 1, schema, Delta.insertion(rows), (ONE,), 1, dictionary)
        path = folder / entry.pieces[0].file
        content = path.read_bytes()
        for number in range(rounds):
            path.write_bytes(mutated(content, random.Random(number)))
            try:
                found = read_entries(folder, [entry], schema, ONE, 0, 1, Dictionary())
                assert found.inserted == len(rows[0])
                counts[False] += 1
            except DistributedError:
                counts[True] += 1
    print("rows", counts[False], counts[True], flush=True)


def read_workspaces(rounds: int) -> None:
    """Open mutated workspaces on a path; show how many were taken, and how many refused."""
    with tempfile.TemporaryDirectory() as folder:
        found = [*flips(Path(folder), 9, rounds, random.Random(53), mutated)]
    print("workspace", found.count(None), len(found) - found.count(None))


if __name__ == "__main__":
    read_arrays()
    for each in ("x.ipc", "x.arrow", "x.parquet", "x.csv", "x.facts"):
        read_files(each, 100)
    read_rows_of_parts(100)
    read_workspaces(60)
