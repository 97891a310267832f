# SPDX-License-Identifier: Apache-2.0
"""Changes of a schema as users ask for them: the arguments of `alter`, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lftj.engine.transaction.schema_draft import refusal
from lftj.errors import OptionError
from lftj.program.normal_form import RelationSchema
from lftj.scantree.frozen import frozen

KEEP: Any = object()
"""The key stays as it is."""
_BY_COLUMN = {
    "add": ("columns and types", 'add={"email": "str?"}'),
    "default": ("columns and values", 'default={"land": "FR"}'),
    "compute": ("columns and expressions", 'compute={"gross": "price * 2"}'),
    "rename": ("columns and their new names", 'rename={"who": "name"}'),
    "retype": ("columns and types", 'retype={"price": float}'),
}
"""Arguments that are dicts, with what is in them, and how they are written."""


@frozen
class Request:
    """The arguments of `Transaction.alter`."""

    drop: Sequence[str]
    rename: Mapping[str, str]
    retype: Mapping[str, object]
    add: Mapping[str, object]
    default: Mapping[str, object]
    compute: Mapping[str, object]
    key: Any
    to: str | None

    def require_kinds(self) -> None:
        """Raise OptionError (E171) for arguments of another kind."""
        for name, (what, written) in _BY_COLUMN.items():
            if not isinstance(getattr(self, name), Mapping):
                raise _wrong(name, getattr(self, name), f"a dict of {what}", written)
        for name, given, written in (
            ("drop", self.drop, 'drop=["price"]'),
            ("key", () if self.key is KEEP or self.key is None else self.key, 'key=["id"]'),
        ):
            if not _are_names(given):
                raise _wrong(name, given, "a column or a list of columns", written)
        if self.to is not None and not isinstance(self.to, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise _wrong("to", self.to, "the relation's new name", 'to="product"')

    def require_words(self, schema: RelationSchema) -> None:
        """Raise DeclarationError (E172) for values of columns that are not there afterwards, or are
        computed, and neither new nor retyped.
        """
        news = {*self.add, *self.retype}
        types = {self.rename.get(name, name): type for name, type in schema.columns}
        for name in (*self.default, *self.compute):
            if name in news:
                continue
            if name not in types:
                raise refusal(
                    f"relation `{schema.name}` has no column `{name}`, and gains none",
                    f"its columns are {', '.join(types)}; a new one has a type: "
                    f"add={{{name!r}: int}}",
                )
            if name in self.compute:
                raise refusal(
                    f"column `{name}` of `{schema.name}` is there, and keeps its type, so nothing "
                    f"is computed",
                    f"say its type, which may be the same: retype={{{name!r}: "
                    f"{str(types[name])!r}}}",
                )
            if name in self.drop:
                raise refusal(
                    f"column `{name}` of `{schema.name}` goes, so it has no default",
                    "leave out one of the two",
                )


def _are_names(given: object) -> bool:
    if isinstance(given, Mapping):
        return False
    listed = [given] if isinstance(given, str) else given
    try:
        return all(isinstance(each, str) for each in listed)  # type: ignore[attr-defined]
    except TypeError:
        return False


def _wrong(name: str, given: object, expected: str, written: str) -> OptionError:
    return OptionError(
        f"{name} is {expected}, found {given!r} ({type(given).__name__})",
        code="E171",
        hint=f"write {written}",
    )
