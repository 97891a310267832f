# SPDX-License-Identifier: Apache-2.0
"""Errors about declarations that a text has not any more, or otherwise, while others need them: how
each differs, and what leads to what the text says.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from lftj.engine.programs.text_difference import Difference
from lftj.errors import StillNeededError
from lftj.program.normal_form import RelationSchema
from lftj.program.reshaping import differences, in_order, likely_renames, names_of, reshaping
from lftj.program.schema import Catalog
from lftj.syntax import tree


def still_needed(
    catalog: Catalog,
    found: Difference,
    needed: Mapping[str, Sequence[str]],
    with_rows: Collection[str],
    *,
    alter: bool,
    drop: bool,
) -> StillNeededError:
    """The error about relations with the reasons, for a user who has said what is said."""
    those = _Declared(catalog, found, with_rows, alter, drop)
    otherwise = {name: those.differences(name) for name in needed if name in found.declared}
    lossless = [name for name in otherwise if not alter and those.lossless(name)]
    ways = [way for name in needed if name not in lossless for way in those.ways(name)]
    if lossless:
        calls = ", ".join(filter(None, map(those.call, lossless)))
        does = f", which does {calls} before" if calls else ""
        ways.insert(0, f"say alter=True{does}: then rows stay")
    if not alter:
        ways.insert(0, "keep the declaration, or say drop=True: then all of these go with it")
    elif gone := [name for name in needed if name not in otherwise]:
        kept = ", ".join(f"`{name}`" for name in gone)
        ways.insert(0, f"declare {kept}, or say drop=True: then what needs it goes with it")
    return StillNeededError.of(needed, otherwise, ways)


class _Declared:
    """Declarations of a text beside the relations that are there."""

    def __init__(
        self,
        catalog: Catalog,
        found: Difference,
        with_rows: Collection[str],
        alter: bool,
        drop: bool,
    ):
        self._catalog, self._found, self._with_rows = catalog, found, with_rows
        self._alter, self._drop = alter, drop

    def _schemas(self, name: str) -> tuple[RelationSchema, RelationSchema]:
        return self._catalog.relations[name], self._found.schemas[name]

    def differences(self, name: str) -> str:
        """The differences of a declaration, in words."""
        before, after = self._schemas(name)
        kinds = self._catalog.kinds.get(name, ()), self._found.kinds.get(name, ())
        words = differences(before, after)
        if not words:
            columns = zip((column for column, _ in after.columns), *kinds, strict=False)
            words = [f"{column}: {was} → {now}" for column, was, now in columns if was != now]
        return ", ".join(words)

    def lossless(self, name: str) -> bool:
        """Test for a relation that alter=True alters."""
        way = reshaping(*self._schemas(name))
        return way is not None and way.complete and not (way.drop and name in self._with_rows)

    def call(self, name: str) -> str:
        """The call that alters a relation; empty where types by name alone differ."""
        way = reshaping(*self._schemas(name))
        return way.call(name) if way else ""

    def ways(self, name: str) -> list[str]:
        """Ways to the declaration, where alter=True does not lead there, or to the name."""
        if name not in self._found.declared:
            return self._renamed_relation(name)
        before, after = self._schemas(name)
        found, way = list[str](), reshaping(before, after)
        renames = likely_renames(before, after)
        if renames and (renamed := reshaping(before, after, renames)):
            found.append(f"if {names_of(renames)} renamed, say so before: {renamed.call(name)}")
        if way is None:
            return [*found, *self._in_order(name)]
        if way.drop:
            gone, flags = names_of(way.drop).rpartition(" ")[0], "alter=True, drop=True"
            does = f"say {'drop=True too' if self._alter else flags}, which does {way.call(name)}"
            if self._drop or not way.complete:
                does = f"go on with {way.call(name)}"
            found.append(f"if the values of {gone} may go, {does}")
            return [*found, f"if they are to stay, declare  {self._declaration(name, all=True)}"]
        declare = ["declare defaults of new columns"] if ... in way.default.values() else []
        return [*found, f"go on with {way.call(name)} before: then rows stay", *declare]

    def _in_order(self, name: str) -> list[str]:
        before, after = self._schemas(name)
        columns = self._declaration(name, all=False)
        if reshaping(before, _ordered(after, in_order(before, after, all=False))):
            return [f"columns keep their order, and new ones come last: declare  {columns}"]
        if before == _ordered(after, in_order(before, after, all=False)):
            return [f"columns keep their order: declare  {columns}"]
        what = "function" if before.functional or after.functional else "choice-domain"
        return [f"no alteration changes a {what}: declare `{name}` anew under another name"]

    def _declaration(self, name: str, *, all: bool) -> str:
        """The declaration of a text, in an order that the relation can be altered to."""
        clauses = self._found.clauses
        said = next(
            each for each in clauses if isinstance(each, tree.Declaration) and each.name == name
        )
        before, after = self._schemas(name)
        columns = {each.name: each for each in said.columns}
        defaults = dict(before.defaults)
        for column, type in before.columns:
            default = tree.Constant(defaults[column]) if column in defaults else None  # type: ignore[arg-type]
            columns.setdefault(column, tree.Column(column, str(type), default))
        listed = tuple(columns[each] for each in in_order(before, after, all=all))
        return str(replace(said, columns=listed))

    def _renamed_relation(self, name: str) -> list[str]:
        """The call that gives a relation the name of one that comes with the same columns."""
        before = self._catalog.relations[name]
        same = [
            each
            for each, schema in self._found.schemas.items()
            if each not in self._catalog.relations and replace(schema, name=name) == before
        ]
        return [
            f"if `{name}` was renamed, say so before: ws.alter({name!r}, to={each!r})"
            for each in same
        ]


def _ordered(schema: RelationSchema, names: Sequence[str]) -> RelationSchema:
    """A schema with its columns in this order."""
    types = dict(schema.columns)
    key = schema.key and tuple(
        sorted(names.index(schema.columns[place][0]) for place in schema.key)
    )
    return replace(schema, columns=tuple((each, types[each]) for each in names), key=key)
