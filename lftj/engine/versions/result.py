# SPDX-License-Identifier: Apache-2.0
"""Rows on their way out: what a relation, a query or a change set gives, in whatever form the
caller reads them.

A result is a frozen view of one version: it stays as it is while later commits go on, and reads its
rows only when asked to.
"""

from __future__ import annotations

import os
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, TextIO, TypeAlias

import numpy as np

from lftj import frames
from lftj.engine.calls.options import with_named_options
from lftj.engine.versions.shown_rows import ShownRows
from lftj.errors import DeclarationError, DistributedError, as_ours
from lftj.program.normal_form import CHANGE_COLUMNS, RelationSchema
from lftj.scantree.process.interrupts import interrupts_as_such
from lftj.storage.delta import Delta
from lftj.types import NULL_CODE, Type, encode_scalar
from lftj.types.dictionary import Dictionary
from lftj.types.texts import Texts

if TYPE_CHECKING:
    import pandas
    import polars
    import pyspark.sql

    from lftj.proofs.drawing import Drawing

Columns = list[np.ndarray]


class HeadRow(tuple[Any, ...]):
    """A row that is equal to a tuple, and knows the names of its columns as named tuples do."""

    _fields: tuple[str, ...]

    def __reduce__(self) -> tuple[object, ...]:
        return tuple, (tuple(self),)


ArrowTable: TypeAlias = Any
"""A `pyarrow.Table`; pyarrow comes without types."""


class Remote(Protocol):
    """Rows that lie with executors."""

    def frame(self) -> Any:
        """A Spark DataFrame of them."""
        ...


ANSWERS = "answers"
"""The name of results of queries."""


@with_named_options
class Result(ShownRows):
    """A set of rows with named, typed columns. Rows come in ascending order of their codes: numbers
    and times ascend, strings in order of first appearance; equal databases of different history may
    list strings differently.

    Attributes: `columns` (names), `types` (one `lftj.Type` each), `version` (of the database it was
    read from), `name`.

    Rows of a workspace in parts stay there until they are read; `to_spark()` and `write_parquet()`
    leave them with the executors. They stay readable as long as the result is held and the
    workspace is open.
    """

    kind = "rows"
    """`"schema"` for an entry among changes that tells of the schema; see `ws.changes`."""

    def __init__(
        self,
        columns: Sequence[tuple[str, Type]],
        read: Callable[[], Columns],
        count: int,
        texts: Texts,
        *,
        version: int,
        name: str = "result",
        remote: Remote | None = None,
    ):
        """For the engine: `read` gives one array of codes per column and is called once, when rows
        are first needed.

        `texts`: their strings; of a dictionary that may forget strings, its present ones. `remote`:
        the same rows where executors have them.
        """
        self.columns = tuple(column for column, _ in columns)
        self.types = tuple(type for _, type in columns)
        self.version = version
        self.name = name
        self._read = read
        self._count = count
        self._texts = texts
        self._codes: Columns | None = None
        self._remote = remote

    @property
    def _column_names(self) -> tuple[str, ...] | None:
        """See `CodedRows`."""
        return None if self.name == ANSWERS else self.columns

    @staticmethod
    def of_rows(
        columns: Sequence[tuple[str, Type]],
        rows: Sequence[Sequence[object]],
        *,
        version: int,
        name: str,
    ) -> Result:
        """A result of Python values with a dictionary of its own: for reports, not for data."""
        dictionary = Dictionary()
        coded = [
            [encode_scalar(type, row[i], dictionary) for row in rows]
            for i, (_, type) in enumerate(columns)
        ]
        arrays = [np.array(column, dtype=np.int64) for column in coded]
        return Result(columns, lambda: arrays, len(rows), dictionary, version=version, name=name)

    # ── whole tables ──────────────────────────────────────────────────────────────────────────────
    @interrupts_as_such()
    def arrow(self) -> ArrowTable:
        """A `pyarrow.Table`; an empty result keeps its types. O(n)."""
        return frames.to_arrow(
            self.columns, self.types, self._columns(), self._texts, rows=self._count
        )

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export for readers of Arrow's PyCapsules, which take a result as it is:
        `polars.DataFrame(result)`, `duckdb.sql("from result")`. As `arrow()`.
        """
        return self.arrow().__arrow_c_stream__(requested_schema)

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> object:
        """Export by the interchange protocol of dataframes, for libraries of charts: Altair and
        Plotly take a result as it is. The protocol has neither dates, which are given as
        timestamps, nor decimals, as floats. O(n).
        """
        return frames.for_interchange(self.arrow()).__dataframe__(nan_as_null, allow_copy)

    def __narwhals_dataframe__(self) -> Any:
        """Export for narwhals, by which Altair and Plotly look at frames. Without it Altair could
        read no more than the names of columns.
        """
        import narwhals  # pyright: ignore[reportMissingImports] -- imported by who calls this

        return narwhals.from_native(self.arrow(), eager_only=True)._compliant_frame

    @interrupts_as_such()
    def df(self) -> pandas.DataFrame:
        """A pandas DataFrame. int64 stays int64. O(n)."""
        return frames.to_pandas(
            self.columns, self.types, self._columns(), self._texts, rows=self._count
        )

    @interrupts_as_such()
    def pl(self) -> polars.DataFrame:
        """A Polars DataFrame. O(n)."""
        return frames.to_polars(
            self.columns, self.types, self._columns(), self._texts, rows=self._count
        )

    def to_spark(self, spark: pyspark.sql.SparkSession | None = None) -> pyspark.sql.DataFrame:
        """A Spark DataFrame in this session, or the active one, through Arrow. O(n), all rows pass
        through the driver. Raises DistributedError (E404) where none is active.

        Rows in parts are read by the executors, in the session of their workspace, one partition
        per part; DistributedError (E403) where their files are gone.
        """
        if self._remote is not None:
            return self._remote.frame()
        with as_ours():
            from lftj.partition.spark import (
                active_session,
                to_dataframe,
            )  # pyspark is imported by those who want it

        session = spark or active_session()
        if session is None:
            hint = "start one with lftj.local_spark(), or give yours: .to_spark(spark)"
            raise DistributedError("no Spark session is active", code="E404", hint=hint)
        return to_dataframe(self.arrow(), session)

    @interrupts_as_such()
    def write_csv(
        self,
        destination: str | os.PathLike[str] | TextIO | BinaryIO,
        *,
        null: str | None = None,
    ) -> None:
        """Write the rows as CSV with a header, ascending by value; `ws.load(relation, path)` reads
        them as they were. O(n log n).

        A path that ends in `.tsv` gets tabs, one that ends in `.gz` is compressed. `null`: the
        field that stands for NULL, for programs that know `NA` or an empty field, which
        `ws.load(relation, path, null=…)` reads; None: `\\N` among strings, else empty. Raises
        FrameError (E231) for another ending and for rows without columns, (E232) for a file that
        cannot be written, which then is as it was before, and for a value that is written as NULL.
        """
        columns = self._typed_columns()
        frames.write_delimited(destination, columns, self._columns(), self._texts, null)

    @interrupts_as_such()
    def write_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the rows as a Parquet file, ascending by value; `ws.load(relation, path)` reads
        them as they were. O(n log n). Raises as `write_csv`.

        Rows in parts are written by the executors, as a folder of Parquet files in place of what
        is there.
        """
        if self._remote is not None:
            self._remote.frame().write.mode("overwrite").parquet(os.fspath(path))
            return
        order = frames.value_order(self.types, self._columns(), self._texts)
        columns = [column[order] for column in self._columns()]
        frames.write_parquet(
            path, frames.to_arrow(self.columns, self.types, columns, self._texts, rows=self._count)
        )

    def _typed_columns(self) -> list[tuple[str, Type]]:
        return list(zip(self.columns, self.types, strict=True))

    @interrupts_as_such()
    def write_facts(
        self,
        destination: str | os.PathLike[str] | TextIO | BinaryIO,
        parameters: Mapping[str, str | int] | None = None,
        limit: int | None = None,
    ) -> None:
        """Write the rows as Soufflé's facts, ascending by value, to a path or an open file; O(n log
        n).

        `parameters`: as in `.output`, for instance `{"delimiter": ",", "headers": "true"}`; `limit`
        writes that many rows at most. `ws.load(relation, path, facts=parameters)` reads them as
        they were; a path that ends in `.facts` needs no parameters. One that ends in `.gz` is
        compressed. Raises FrameError (E231) for one that is named as a table, or without parameters
        as CSV, (E232) for strings that would not be read back, and for a file that cannot be
        written, which then is as it was before.
        """
        if parameters is None:
            frames.refuse_text_name(destination)
        columns = self._typed_columns()
        frames.write_facts(
            destination,
            columns,
            self._columns(),
            parameters or {},
            self._texts,
            rows=self._count,
            limit=limit,
        )

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the result with its rows, wherever they lie, and with only their strings."""
        columns = self._columns()
        texts = self._texts.only(
            codes[codes != NULL_CODE]
            for codes, type in zip(columns, self.types, strict=True)
            if type.name == "str"
        )
        return _restored, (
            tuple(self._typed_columns()),
            columns,
            self._count,
            texts,
            self.version,
            self.name,
        )

    def _coded(self) -> tuple[Columns, Texts]:
        """For the engine: one array of codes per column, and their strings."""
        return self._columns(), self._texts

    def to_dict(self) -> dict[str, Any]:
        """The name, version, columns with their types, and all rows, as plain data. O(n)."""
        return {
            "name": self.name,
            "version": self.version,
            "columns": {name: str(type) for name, type in self._typed_columns()},
            "rows": self.fetchall(),
        }

    def to_dot(self) -> str:
        """The rows as a graph for Graphviz, as `to_networkx` has it. O(n)."""
        return self._drawing().to_dot()

    def to_networkx(self) -> Any:
        """The rows as a `networkx.DiGraph`: each is an edge from its first value to its second,
        with the others as attributes; rows of one column are nodes. O(n). Needs networkx.

        Raises DeclarationError (E160) for rows without columns.
        """
        return self._drawing().to_networkx()

    def _drawing(self) -> Drawing:
        from lftj.proofs.drawing import Drawing

        if not self.columns:
            raise DeclarationError(
                f"the rows of `{self.name}` have no columns to draw",
                hint="draw a relation of one column or more",
            )
        rows = self.fetchall()
        nodes = {value: {"label": value} for row in rows for value in row[:2]}
        rest = self.columns[2:]
        edges = [
            (row[0], row[1], dict(zip(rest, row[2:], strict=True))) for row in rows if len(row) > 1
        ]
        return Drawing("rows", nodes, edges)

    # ── parts of it ───────────────────────────────────────────────────────────────────────────────
    def head(self, rows: int = 10) -> Result:
        """The first rows, as a result: after `sort` the least. O(n). Raises DeclarationError (E160)
        for what is no number of rows.
        """
        if isinstance(rows, bool) or not isinstance(rows, int) or rows < 0:
            raise DeclarationError(
                f"head takes a number of rows, found {rows!r}", hint="write result.head(10)"
            )
        return self._taking(lambda: [each[:rows] for each in self._columns()], rows)

    @interrupts_as_such()
    def sort(self, *columns: str, descending: bool | Sequence[bool] = False) -> Result:
        """The same rows ordered by the values of these columns, then by the values of the others,
        as a result; without arguments by all columns in their order. Strings are ordered by code
        point. O(n log n).

        `descending`: the greatest first, of all columns or of each that is named. NULL comes last
        in either direction. Raises DeclarationError (E160) for a column that is not there, and for
        as many directions as there are no columns.
        """
        for column in columns:
            if column not in self.columns:
                raise DeclarationError(
                    f"{self.name} has no column {column!r}",
                    hint=f"it has {', '.join(self.columns) or 'none'}",
                )
        chosen = list(map(self.columns.index, columns))
        every = isinstance(descending, bool)
        falling = [descending] * len(self.columns) if every else [*descending]
        if not every and len(falling) != len(chosen):
            raise DeclarationError(
                f"{len(falling)} directions for columns: {', '.join(columns) or 'none'}",
                hint='name the columns, one direction for each: sort("x", "y", descending=[True, '
                "False])",
            )
        falling += [False] * (len(self.columns) - len(falling))
        chosen += [place for place in range(len(self.columns)) if place not in chosen]

        def read() -> Columns:
            codes = self._columns()
            order = frames.value_order(
                [self.types[place] for place in chosen],
                [codes[place] for place in chosen],
                self._texts,
                descending=falling,
            )
            return [each[order] for each in codes]

        return self._taking(read, self._count)

    def _taking(self, read: Callable[[], Columns], rows: int) -> Result:
        """A result with these columns and other rows, at most so many."""
        return Result(
            self._typed_columns(),
            read,
            min(rows, self._count),
            self._texts,
            version=self.version,
            name=self.name,
        )

    # ── rows ──────────────────────────────────────────────────────────────────────────────────────
    def to_dicts(self) -> list[dict[str, Any]]:
        """All rows as dictionaries by column name. O(n)."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.fetchall()]

    def named(self) -> list[Any]:
        """All rows as named tuples: `row.x` is the value in column `x`. A column whose name is no
        word for Python, or begins with `_`, is accessed by its position: `row[0]`. O(n).
        """
        row = namedtuple("Row", self.columns, rename=True)
        return list(map(row._make, self.fetchall()))

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows as tuples of Python values. O(n)."""
        return self._tuples(self._columns(), self._count)

    def fetchone(self) -> tuple[Any, ...] | None:
        """The first row, or None when there is none."""
        rows = self._first(1)
        return rows[0] if rows else None

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """The rows as tuples. The first one knows the names of the columns, which pandas asks it
        for: `pandas.DataFrame(result)` has them, where there is a row.
        """
        rows = self.fetchall()
        if rows and self.columns:
            rows[0] = HeadRow(rows[0])
            rows[0]._fields = self.columns
        return iter(rows)

    def __len__(self) -> int:
        return self._count

    def __bool__(self) -> bool:
        return self._count > 0

    def _first(self, rows: int) -> list[tuple[Any, ...]]:
        return self._tuples([column[:rows] for column in self._columns()], min(rows, self._count))

    @interrupts_as_such()
    def _tuples(self, columns: Columns, count: int) -> list[tuple[Any, ...]]:
        if not self.columns:
            return [()] * count
        return frames.to_tuples(self.types, columns, self._texts)

    def _columns(self) -> Columns:
        if self._codes is None:
            with interrupts_as_such():
                self._codes = self._read()[
                    : len(self.columns)
                ]  # a nullary relation is stored with one column, which is no one's
            self._read = list  # what it held is not needed any more
        return self._codes


def _restored(
    columns: Sequence[tuple[str, Type]],
    codes: Columns,
    count: int,
    texts: Texts,
    version: int,
    name: str,
) -> Result:
    """A result that was pickled or copied."""
    return Result(columns, lambda: codes, count, texts, version=version, name=name)


def change_result(
    schema: RelationSchema,
    delta: Delta,
    version: int,
    texts: Texts,
    read: Callable[[Callable[[], Columns]], Callable[[], Columns]] = lambda read: read,
) -> Result:
    """A net change as rows with `__diff__` and `__version__`: the rows lost first, then the
    rows won. `read` may wrap the reading of the rows.
    """

    def rows() -> Columns:
        columns, signs = delta.signed()
        return [*columns[: schema.arity], signs, np.full(len(delta), version, np.int64)]

    columns = (*schema.columns, *CHANGE_COLUMNS)
    name = f"changes of {schema.name}"
    return Result(columns, read(rows), len(delta), texts, version=version, name=name)
