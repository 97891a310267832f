"""Folders of golden programs: how their files are read and how results look as files."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from lftj.proofs.functors import to_text
from lftj.proofs.kinds import Value
from lftj.syntax import tree
from lftj.syntax.parser import parse
from tests.reference import evaluate

PROGRAMS = Path(__file__).parent / "programs"

Row = tuple[Value, ...]

READ: dict[str, Callable[[str], Value]] = {
    "number": int,
    "unsigned": int,
    "symbol": str,
    "float": float,
    "bool": lambda text: text == "true",
    "date": datetime.date.fromisoformat,
    "timestamp": datetime.datetime.fromisoformat,
    "decimal": decimal.Decimal,
}


@dataclass(frozen=True)
class Case:
    """One folder: program.dl, its files of facts, and expected/ with one file for each output
    relation.
    """

    folder: Path

    @property
    def program(self) -> tree.ParsedProgram:
        """The parsed program."""
        path = self.folder / "program.dl"
        return parse(path.read_text(encoding="utf-8"), str(path))

    def expected(self) -> dict[str, str]:
        """File names and contents of expected/."""
        return {
            path.name: path.read_text(encoding="utf-8")
            for path in sorted((self.folder / "expected").iterdir())
        }

    def facts(self) -> dict[str, set[Row]]:
        """The rows of all `.input` relations."""
        types = column_types(self.program)
        return {
            each.relation: set(
                read_rows(
                    self.folder / _parameter(each, "filename", f"{each.relation}.facts"),
                    types[each.relation],
                    each,
                )
            )
            for each in _directives(self.program, "input")
        }

    def by_reference(self) -> dict[str, str]:
        """Rows of the reference, as the files that `.output` asks for."""
        relations = evaluate(self.program, self.facts())
        return {
            _parameter(each, "filename", f"{each.relation}.csv"): as_text(
                relations[each.relation], _parameter(each, "delimiter", "\t")
            )
            for each in _directives(self.program, "output")
        }


def cases() -> list[Case]:
    """All folders, by name."""
    return [Case(path) for path in sorted(PROGRAMS.iterdir()) if path.is_dir()]


def column_types(program: tree.ParsedProgram) -> dict[str, list[str]]:
    """The base type of each column of each declared relation."""
    base = {
        clause.name: clause.base for clause in program.clauses if isinstance(clause, tree.TypeAlias)
    }

    def resolved(name: str) -> str:
        return resolved(base[name]) if name in base else name.partition("(")[0]

    return {
        each.name: [resolved(column.type) for column in each.columns]
        for each in program.clauses
        if isinstance(each, tree.Declaration)
    }


def read_rows(path: Path, types: list[str], directive: tree.Directive) -> Iterable[Row]:
    """The rows of a delimited file without a header."""
    delimiter = _parameter(directive, "delimiter", "\t")
    for line in path.read_text(encoding="utf-8").splitlines():
        yield tuple(
            READ[type_](field) for type_, field in zip(types, line.split(delimiter), strict=True)
        )


def as_text(rows: Iterable[Row], delimiter: str) -> str:
    """Rows as a file, in ascending order of their values; a row without columns is `()`."""
    return "".join(
        (delimiter.join(map(_shown, row)) if row else "()") + "\n" for row in sorted(rows)
    )  # type: ignore[type-var]


def _shown(value: Value) -> str:
    return str(to_text(value))


def _directives(program: tree.ParsedProgram, kind: str) -> list[tree.Directive]:
    return [
        clause
        for clause in program.clauses
        if isinstance(clause, tree.Directive) and clause.kind == kind
    ]


def _parameter(directive: tree.Directive, name: str, default: str) -> str:
    return str(dict(directive.parameters).get(name, default))
