"""Random histories in which schemas change, branches and reopenings among them, beside the
reference engine: rows, views, all past versions, and a copy that is kept by the stream of changes.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import lftj
from lftj.errors import SchemaInUseError
from lftj.syntax.parser import parse
from tests.reference import evaluate

STEPS = 16
TYPES = {"int": "number", "str": "symbol", "float": "float"}
ADD = re.compile(r"\w+: \+ (\w+): (\w+) = (.+)")
DROP = re.compile(r"\w+: - (\w+)")
RETYPE = re.compile(r"\w+: (\w+): float = to_float")
Row = tuple[Any, ...]


class Table:
    """A relation of the model. Columns have numbers that stay, by which rules name them."""

    def __init__(self, name: str, columns: dict[int, tuple[str, str]]):
        self.name, self.columns = name, columns
        self.rows = set[Row]()
        self.defaults: dict[int, Any] = {}

    def declaration(self) -> str:
        columns = ", ".join(f"{name}: {TYPES[type]}" for name, type in self.columns.values())
        return f".decl {self.name}({columns})\n"


class Model:
    """Relations, and rules as heads over atoms: (table, {column: variable})."""

    def __init__(self) -> None:
        self.tables = {
            number: Table(name, {0: ("k", "int"), 1: ("v", "int"), 2: ("s", "str")})
            for number, name in enumerate(("a", "b"))
        }
        self.rules: list[tuple[str, list[tuple[int, dict[int, str]]]]] = []
        self.fresh = 3

    def text(self, rule: tuple[str, list[tuple[int, dict[int, str]]]]) -> str:
        """A rule by position, as the columns are now."""
        head, atoms = rule
        body = []
        for number, bound in atoms:
            terms = [bound.get(each, "_") for each in self.tables[number].columns]
            body.append(f"{self.tables[number].name}({', '.join(terms)})")
        return f"{head} :- {', '.join(body)}."

    def views(self) -> dict[str, set[Row]]:
        """All relations, by the reference engine."""
        text = "".join(table.declaration() for table in self.tables.values()) + VIEWS
        text += "\n".join(map(self.text, self.rules))
        base = {table.name: set(table.rows) for table in self.tables.values()}
        return evaluate(parse(text).clauses, base)

    def used(self, number: int) -> set[int]:
        """The columns of a table that rules name."""
        atoms = [atom for _, atoms in self.rules for atom in atoms if atom[0] == number]
        return {each for _, bound in atoms for each in bound}


VIEWS = (
    ".decl p(x: number)\n.decl q(x: number, y: number)\n.decl n(x: number, c: number)\n"
    ".decl t(x: number, y: number)\nt(x, y) :- q(x, y).\nt(x, z) :- t(x, y), q(y, z).\n"
)
HEADS = ("p(x)", "q(x, y)", "n(x, count())")


class History:
    """A workspace and its model, step by step."""

    def __init__(self, seed: int, path: Path | None):
        self.chance, self.path = random.Random(seed), path
        self.model, self.versions = Model(), dict[int, dict[str, set[Row]]]()
        self.ws = self.open()
        for table in self.model.tables.values():
            self.ws.relation(table.name, dict(table.columns.values()))
        self.ws.add_rules(VIEWS)
        self.copied = self.chance.choice([0, 1])
        self.copy, self.copied_at = set[Row](), self.ws.version
        for _ in range(2):
            self.insert(self.ws, self.model)

    def open(self) -> Any:
        return lftj.connect(self.path, keep="all") if self.path else lftj.connect(keep="all")

    # ── steps ─────────────────────────────────────────────────────────────────────────────────────
    def step(self) -> None:
        """One random step, after which all is compared."""
        steps = [self.insert, self.delete, self.add_rule, self.remove_rule, self.add, self.drop]
        steps += [self.rename, self.rename_table, self.retype, self.merge, self.reopen, self.insert]
        steps += [self.default, self.insert]
        self.chance.choice(steps)(self.ws, self.model)
        self.check()

    def row(self, table: Table) -> Row:
        make = {
            "int": lambda: self.chance.randrange(5),
            "float": lambda: self.chance.randrange(5) / 2,
            "str": lambda: self.chance.choice("uvw"),
        }
        return tuple(make[kind]() for _, kind in table.columns.values())

    def insert(self, ws: Any, model: Model) -> None:
        with ws.transaction() as tx:
            for table in model.tables.values():
                rows = [self.row(table) for _ in range(3)]
                if table.defaults and self.chance.random() < 0.5:
                    rows = self.by_name(tx, table, rows)
                else:
                    tx.insert(table.name, rows)
                table.rows |= set(rows)

    def by_name(self, tx: Any, table: Table, rows: list[Row]) -> list[Row]:
        """Insert rows that leave out columns with defaults; the rows that come of it."""
        places = dict(zip(table.columns, range(len(table.columns)), strict=True))
        given = [
            {name: value for (name, _), value in zip(table.columns.values(), row, strict=True)}
            for row in rows
        ]
        some = self.chance.random() < 0.5  # of the rows, or all
        made = [list(row) for row in rows]
        for number, value in table.defaults.items():
            for row, named in zip(made, given, strict=True):
                if not some or self.chance.random() < 0.5:
                    del named[table.columns[number][0]]
                    row[places[number]] = value
        tx.insert(table.name, given if some else pa.Table.from_pylist(given))
        return list(map(tuple, made))

    def default(self, ws: Any, model: Model) -> None:
        """A column that is there gets a default, another one, or none."""
        table = self.chance.choice(list(model.tables.values()))
        number = self.chance.choice(list(table.columns))
        name, kind = table.columns[number]
        value = self.chance.choice([None, {"int": 2, "str": "w", "float": 1.5}[kind]])
        ws.alter(table.name, default={name: value})
        table.defaults = {each: v for each, v in table.defaults.items() if each != number}
        if value is not None:
            table.defaults[number] = value

    def delete(self, ws: Any, model: Model) -> None:
        table = self.chance.choice(list(model.tables.values()))
        gone = self.chance.sample(sorted(table.rows), min(2, len(table.rows)))
        with ws.transaction() as tx:
            tx.delete(table.name, gone, missing="error")
        table.rows -= set(gone)

    def add_rule(self, ws: Any, model: Model) -> None:
        head = self.chance.choice(HEADS)
        atoms: list[tuple[int, dict[int, str]]] = []
        for variable in "xy" if head.startswith("q") else "x":
            number = self.chance.choice(list(model.tables))
            columns = model.tables[number].columns
            numbers = [each for each, (_, kind) in columns.items() if kind == "int"]
            if not numbers:
                return
            bound = {self.chance.choice(numbers): variable}
            strings = [each for each, (_, kind) in columns.items() if kind == "str"]
            if strings and self.chance.random() < 0.3:
                bound[self.chance.choice(strings)] = '"u"'
            atoms.append((number, bound))
        if head.startswith("n") and any(each.startswith("n") for each, _ in model.rules):
            return
        rule = (head, atoms)
        ws.add_rules(model.text(rule))
        model.rules.append(rule)

    def remove_rule(self, ws: Any, model: Model) -> None:
        if model.rules:
            place = self.chance.randrange(len(model.rules))
            ws.remove_rule([each for each in ws.rules if str(each)[0] != "t"][place])
            del model.rules[place]

    def add(self, ws: Any, model: Model) -> None:
        table = self.chance.choice(list(model.tables.values()))
        number, name = model.fresh, f"c{model.fresh}"
        model.fresh += 1
        sources = [i for i, (_, kind) in enumerate(table.columns.values()) if kind == "int"]
        if sources and self.chance.random() < 0.4:
            place = self.chance.choice(sources)
            source = [name for name, _ in table.columns.values()][place]
            ws.alter(table.name, add={name: int}, compute={name: f"{source} * 2"})
            kind, rows = "int", {(*row, row[place] * 2) for row in table.rows}
        else:
            kind, value = self.chance.choice([("int", 3), ("str", "u"), ("float", 0.5)])
            with ws.transaction() as tx:
                tx.alter(table.name, add={name: kind}, default={name: value})
                if self.chance.random() < 0.5:
                    more = {(*self.row(table), value)}
                    tx.insert(table.name, list(more))
                else:
                    more = set[Row]()
            rows = {(*row, value) for row in table.rows} | more
            table.defaults[number] = value
        table.columns[number], table.rows = (name, kind), rows

    def drop(self, ws: Any, model: Model) -> None:
        key = self.chance.choice(list(model.tables))
        table = model.tables[key]
        number = self.chance.choice(list(table.columns))
        place = list(table.columns).index(number)
        if number in model.used(key):
            with pytest.raises(SchemaInUseError):
                ws.alter(table.name, drop=table.columns[number][0])
        elif len(table.columns) > 1:
            ws.alter(table.name, drop=table.columns[number][0])
            table.rows = {(*row[:place], *row[place + 1 :]) for row in table.rows}
            del table.columns[number]
            table.defaults.pop(number, None)

    def rename(self, ws: Any, model: Model) -> None:
        table = self.chance.choice(list(model.tables.values()))
        number = self.chance.choice(list(table.columns))
        name, kind = table.columns[number]
        ws.alter(table.name, rename={name: f"{name}_"})
        table.columns[number] = f"{name}_", kind

    def rename_table(self, ws: Any, model: Model) -> None:
        table = self.chance.choice(list(model.tables.values()))
        ws.alter(table.name, to=f"{table.name}x")
        table.name += "x"

    def retype(self, ws: Any, model: Model) -> None:
        key = self.chance.choice(list(model.tables))
        table, used = model.tables[key], model.used(key)
        for place, (number, (name, kind)) in enumerate(list(table.columns.items())):
            if kind == "int" and number not in used:
                ws.alter(table.name, retype={name: float})
                if number in table.defaults:
                    table.defaults[number] = float(table.defaults[number])
                table.columns[number] = name, "float"
                table.rows = {
                    (*row[:place], float(row[place]), *row[place + 1 :]) for row in table.rows
                }
                return

    def merge(self, ws: Any, model: Model) -> None:
        """A branch inserts rows, main changes schemas, and the branch is merged; or the reverse."""
        branch, other = ws.branch("other"), deepcopy(model)
        altering, writing = ((ws, model), (branch, other))[:: self.chance.choice([1, -1])]
        own = {number: set(table.rows) for number, table in model.tables.items()}
        before = {number: list(table.columns) for number, table in model.tables.items()}
        self.insert(*writing)
        defaults = self.defaults(*altering)
        ws.merge("other")
        for number, table in altering[1].tables.items():
            news = writing[1].tables[number].rows - own[number]
            table.rows |= {
                tuple(
                    row[before[number].index(each)] if each in before[number] else defaults[each]
                    for each in table.columns
                )
                for row in news
            }
        model.tables, model.fresh = altering[1].tables, altering[1].fresh
        branch.drop()

    def defaults(self, ws: Any, model: Model) -> dict[int, Any]:
        """Changes of schemas; the defaults of the columns that came."""
        table = self.chance.choice(list(model.tables.values()))
        number, name = model.fresh, f"c{model.fresh}"
        model.fresh += 1
        ws.alter(table.name, add={name: int}, default={name: 4})
        table.columns[number] = name, "int"
        table.defaults[number] = 4
        table.rows = {(*row, 4) for row in table.rows}
        self.rename(ws, model)
        self.rename_table(ws, model)
        return {number: 4}

    def reopen(self, ws: Any, model: Model) -> None:
        if self.path is not None:
            ws.close()
            self.ws = self.open()

    # ── what must be ──────────────────────────────────────────────────────────────────────────────
    def check(self) -> None:
        """All rows of this version."""
        found = {name: set(self.ws[name]) for name in self.ws.relations}
        assert found == self.model.views()
        self.versions[self.ws.version] = found
        for table in self.model.tables.values():
            defaults = {table.columns[each][0]: value for each, value in table.defaults.items()}
            assert self.ws.relations[table.name].default == defaults
        self.follow()

    def follow(self) -> None:
        """Bring the copy up to date by what the stream says."""
        name = self.model.tables[self.copied].name
        columns: list[str] = []
        for change in self.ws.changes(name, since=self.copied_at, timeout=0):
            if change.kind == "schema":
                columns = list(change.before)
                for step in change.steps:
                    columns = self.take(step, columns)
            else:
                rows = [(tuple(row[:-2]), row[-2]) for row in change]
                self.copy -= {row for row, sign in rows if sign < 0}
                self.copy |= {row for row, sign in rows if sign > 0}
        self.copied_at = self.ws.version
        assert self.copy == self.model.tables[self.copied].rows

    def take(self, step: str, columns: list[str]) -> list[str]:
        """Do to the copy what a step says; the columns after it."""
        if found := ADD.fullmatch(step):
            computed = not re.fullmatch(r"'.*'|[\d.]+", found[3])
            value = 0 if computed else ast.literal_eval(found[3])
            self.copy = {(*row, value) for row in self.copy}
            return [*columns, found[1]]
        if found := DROP.fullmatch(step):
            place = columns.index(found[1])
            self.copy = {(*row[:place], *row[place + 1 :]) for row in self.copy}
            return [*columns[:place], *columns[place + 1 :]]
        if found := RETYPE.match(step):
            place = columns.index(found[1])
            self.copy = {(*r[:place], float(r[place]), *r[place + 1 :]) for r in self.copy}
            return columns
        if " → " in step and ": " in step:
            was, now = step.partition(": ")[2].split(" → ")
            return [now if each == was else each for each in columns]
        return columns

    def check_past(self) -> None:
        """All versions, from files where there are some, and views by a fresh evaluation."""
        for version, relations in self.versions.items():
            past = self.ws.at(version)
            found = {name: set(past[name]) for name in past.relations}
            assert {name: rows for name, rows in found.items() if name in relations} == relations
        assert self.ws.verify() == []


def histories(path: Path | None) -> Iterator[int]:
    return iter(range(14) if path is None else range(100, 110))


@pytest.mark.parametrize("where", ["memory", "path"])
def test_schemas_change_in_random_histories(where: str, tmp_path: Path) -> None:
    root = None if where == "memory" else tmp_path
    for seed in histories(root):
        history = History(seed, root and root / f"{seed}.lftj")
        history.check()
        for _ in range(STEPS):
            history.step()
        history.reopen(history.ws, history.model)
        history.check()
        history.check_past()
        history.ws.close()
