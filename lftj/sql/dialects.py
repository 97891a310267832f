# SPDX-License-Identifier: Apache-2.0
"""Differences between the SQL of DuckDB and of Spark: names, types, constants and functions."""

from __future__ import annotations

import datetime
import decimal
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from lftj.errors import OptionError, Span, SqlError
from lftj.types import Type

_PLAIN = re.compile(r"[a-z][a-z0-9_]*")
_RESERVED = (
    " all analyse analyze and anti any array as asc asymmetric at between both by case cast "
    "check collate column constraint create cross current_date current_time current_timestamp "
    "current_user default deferrable delete desc describe distinct do drop else end escape "
    "except exists explain false fetch filter for foreign from full glob grant group having "
    "ilike in initially inner insert intersect interval into is isnull join key lambda "
    "lateral leading left like limit map minus natural not notnull null of offset on only or "
    "order outer overlaps pivot placing positional primary qualify range references returning "
    "right row rows select semi session_user set show similar some struct summarize symmetric "
    "table tablesample then time timestamp to trailing true try_cast union unique unpivot "
    "update user using value values variadic verbose view when where window with without "
)
"""Words that stand for no column or table without quotation marks in one of the dialects."""

_INT_MIN = -(2**63)


class Dialect(ABC):
    """One language of queries."""

    name: ClassVar[str]
    quote: ClassVar[str]
    types: ClassVar[Mapping[str, str]]
    lateral: ClassVar[str]
    """Words before a query in FROM that reads the tables before it."""
    functions: ClassVar[Mapping[str, str]]
    """Functors, with places for their arguments."""
    levels: ClassVar[int | None] = None
    """Number of levels that a query inside others sees further out; None: all."""

    counts_alone: ClassVar[bool] = False
    """True where EXISTS may fail for a query that reads nothing outside and holds another: DuckDB
    2.0.0 makes a join of it and finds too little.
    """

    def identifier(self, name: str) -> str:
        """A name, quoted where it has to be."""
        if _PLAIN.fullmatch(name) and f" {name} " not in _RESERVED:
            return name
        return self.quote + name.replace(self.quote, self.quote * 2) + self.quote

    def type(self, type: Type) -> str:
        """The name of a column type; unsigned numbers are checked, not typed."""
        if type.name == "decimal":
            return f"DECIMAL({type.precision}, {type.scale})"
        return self.types[type.name]

    def constant(self, value: object, type: Type) -> str:
        """A value as the dialect writes it, with a type wide enough for what is done with it."""
        match value:
            case None:
                return f"CAST(NULL AS {self.type(type)})"
            case bool():
                return "TRUE" if value else "FALSE"
            case int() if type.name == "int":
                return self.integer(value)
            case str():
                return self.text(value)
            case datetime.datetime():
                return f"{self.types['timestamp']} '{value}'"
            case datetime.date():
                return f"DATE '{value}'"
            case decimal.Decimal() | int() if type.name == "decimal":
                return f"CAST('{value}' AS {self.type(type)})"
            case float() | int():
                text = repr(float(value))
                return text if "e" in text else f"{text}e0"
        raise cannot_say(f"the constant {value!r} of type {type}", self.name)

    @abstractmethod
    def integer(self, value: int) -> str:
        """An integer of 64 bits."""

    @abstractmethod
    def text(self, value: str) -> str:
        """A string."""

    @abstractmethod
    def error(self, message: str) -> str:
        """An expression that fails with this message when it is evaluated."""

    @abstractmethod
    def numbers(self, start: str, end: str, step: str | None) -> str:
        """An item of FROM: a table with one column, `number`, of the numbers of a range."""


class DuckDB(Dialect):
    """DuckDB, whose integers and decimals fail when they overflow."""

    name = "duckdb"
    counts_alone = True
    quote = '"'
    lateral = "LATERAL "
    types: ClassVar[Mapping[str, str]] = {
        "int": "BIGINT",
        "float": "DOUBLE",
        "str": "VARCHAR",
        "bool": "BOOLEAN",
        "date": "DATE",
        "timestamp": "TIMESTAMP",
    }
    functions: ClassVar[Mapping[str, str]] = {
        "microseconds": "(epoch_us({0}) - epoch_us({1}))",
        "later": "({0} + to_microseconds({1}))",
        "days": "CAST(({0} - {1}) AS BIGINT)",
        "//": "({0} // {1})",
        "float text": "regexp_replace(CAST({0} AS VARCHAR), '\\.0$', '')",
        "timestamp text": "CASE WHEN epoch_us({0}) % 1000000 = 0 THEN "
        "strftime({0}, '%Y-%m-%d %H:%M:%S') ELSE strftime({0}, '%Y-%m-%d %H:%M:%S.%f') END",
        "number text": "regexp_full_match({0}, '\\s*[+-]?[0-9]+\\s*')",
        "other day": "CAST(({0} {1} CAST({2} AS INTEGER)) AS DATE)",
        "concat": "string_agg({0}, {1} ORDER BY {order})",
        "concat of equals": "string_agg({0}, {1})",
        "first": "first({0} ORDER BY {order})",
        "last": "last({0} ORDER BY {order})",
    }

    def integer(self, value: int) -> str:
        # The least integer is no literal: what stands behind its sign is one too great.
        if value == _INT_MIN:
            return f"({value + 1} - 1)"
        return str(value) if abs(value) >= 2**31 or value >= 0 else f"({value})"

    def text(self, value: str) -> str:
        quoted = value.replace("'", "''")
        if "\0" in value:
            raise cannot_say("a string with a zero character", self.name)
        return f"'{quoted}'"

    def error(self, message: str) -> str:
        return f"error({self.text(message)})"

    def numbers(self, start: str, end: str, step: str | None) -> str:
        if step is None:
            listed = f"range({start}, {end}, CASE WHEN {start} <= {end} THEN 1 ELSE -1 END)"
        else:
            one = f"CASE WHEN {start} <> {end} THEN [{start}] ELSE [] END"
            listed = f"CASE WHEN {step} = 0 THEN {one} ELSE range({start}, {end}, {step}) END"
        return f"(SELECT unnest({listed}) AS number)"


class Spark(Dialect):
    """Spark SQL with `spark.sql.ansi.enabled`, whose integers fail when they overflow."""

    name = "spark"
    quote = "`"
    levels = 1
    lateral = "LATERAL "
    types: ClassVar[Mapping[str, str]] = {
        "int": "BIGINT",
        "float": "DOUBLE",
        "str": "STRING",
        "bool": "BOOLEAN",
        "date": "DATE",
        "timestamp": "TIMESTAMP_NTZ",
    }
    functions: ClassVar[Mapping[str, str]] = {
        "microseconds": "timestampdiff(MICROSECOND, {1}, {0})",
        "later": "timestampadd(MICROSECOND, {1}, {0})",
        "days": "CAST(datediff({0}, {1}) AS BIGINT)",
        "//": "({0} div {1})",
        "float text": "regexp_replace(CAST({0} AS STRING), '\\\\.0$', '')",
        "timestamp text": "CAST({0} AS STRING)",
        "number text": "({0} RLIKE '^\\\\s*[+-]?[0-9]+\\\\s*$')",
        "other day": "date_add({0}, CAST({1}({2}) AS INT))",
        "concat": "listagg({0}, {1}) WITHIN GROUP (ORDER BY {order})",
        "concat of equals": "listagg({0}, {1})",
        "first": "min_by({0}, struct({order}))",
        "last": "max_by({0}, struct({order}))",
    }

    def integer(self, value: int) -> str:
        return "(-9223372036854775807L - 1L)" if value == _INT_MIN else f"{value}L"

    def text(self, value: str) -> str:
        quoted = value.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{quoted}'"

    def error(self, message: str) -> str:
        return f"raise_error({self.text(message)})"

    def numbers(self, start: str, end: str, step: str | None) -> str:
        by = step or f"CASE WHEN {start} <= {end} THEN 1L ELSE -1L END"
        one = f"CASE WHEN {start} <> {end} THEN array({start}) ELSE array() END"
        last = f"{end} - sign({by})"
        listed = (
            f"CASE WHEN {by} = 0L THEN {one} WHEN ({end} - {start}) * sign({by}) <= 0 THEN array() "
            f"ELSE sequence({start}, CAST({last} AS BIGINT), {by}) END"
        )
        return f"(SELECT explode({listed}) AS number)"


DIALECTS: Mapping[str, Callable[[], Dialect]] = {each.name: each for each in (DuckDB, Spark)}


def dialect_of(name: str) -> Dialect:
    """The dialect of this name. Raises OptionError (E171)."""
    if name not in DIALECTS:
        known = " or ".join(repr(each) for each in DIALECTS)
        raise OptionError(
            f"dialect={name!r} is none that rules are written in", hint=f"use {known}"
        )
    return DIALECTS[name]()


def cannot_say(what: str, dialect: str, span: Span | None = None) -> SqlError:
    """The error (E370) for something that has no SQL in a dialect."""
    hint = "evaluate the program with lftj itself, or leave this out of what becomes SQL"
    return SqlError(f"{what} cannot be said in SQL for {dialect}", span=span, hint=hint)


def conjunction(tests: Sequence[str]) -> str:
    """All of these, or TRUE."""
    return " AND ".join(tests) or "TRUE"
