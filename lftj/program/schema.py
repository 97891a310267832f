# SPDX-License-Identifier: Apache-2.0
"""Catalog of the names in a program: relations, type names, aggregates and functions of users, and
which relations already have rules or facts.

A `Catalog` is a value. Extending it copies a few dictionaries (microseconds for thousands of
relations) and checks nothing that was checked before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import TypeVar

from lftj.errors import DeclarationError, Span, UnknownNameError
from lftj.errors.nearest import closest
from lftj.functions import FUNCTORS
from lftj.functions.aggregates import AGGREGATES
from lftj.program.alteration import Alteration, name_of_now
from lftj.program.defaults import default_term, filled
from lftj.program.named_program import NamedProgram
from lftj.program.normal_form import RelationSchema
from lftj.program.reshaping import calls_between
from lftj.scantree.frozen import frozen
from lftj.syntax import functors, tree
from lftj.syntax.user_function import UserFunction, same_code
from lftj.types import MAX_DECIMAL_PRECISION, Role, Source, Type, decimal, parse_type, without_mark

_Value = TypeVar("_Value")
_TYPE_NAMES = ("int", "float", "str", "bool", "date", "timestamp")
_OTHER_NAMES = {
    "text": "str",
    "varchar": "str",
    "char": "str",
    "integer": "int",
    "bigint": "int",
    "long": "int",
    "double": "float",
}
_OTHER_NAMES |= {
    "real": "float",
    "boolean": "bool",
    "datetime": "timestamp",
    "numeric": "decimal(18, 2)",
}
"""Types by their names elsewhere."""

UNKNOWN = Type("unknown")
"""The type of a column whose declaration names no type; only ever seen while problems are being
collected.
"""


MOST_COLUMNS = 230
"""Limit on a relation's columns: a page of some rows has room for 239, and views keep some numbers
beside their rows.
"""


@frozen(slots=True)
class UserAggregateSignature:
    """The types of a user-defined aggregate: what a head term `name(arguments)` takes and gives."""

    name: str
    argument_types: tuple[Type, ...]
    result_type: Type


@frozen
class FunctionSignature:
    """A user's function as a program knows it: the types, the import path ("" where there is none),
    what tells it from another function that has had its name, and the arrays that it takes ("" for
    single values).
    """

    name: str
    argument_types: tuple[Type, ...]
    result_type: Type
    path: str
    version: str
    columns: str = ""

    @cached_property
    def results(self) -> RelationSchema:
        """The hidden relation of its results, arguments first."""
        columns = [(f"x{place}", type) for place, type in enumerate(self.argument_types)]
        name = Source(self.name, Role.RESULTS, self.version)
        return RelationSchema(name, (*columns, ("result", self.result_type)))


def signature_of(function: UserFunction) -> FunctionSignature:
    """A function of the user's as a program knows it."""
    result = function.result_type
    assert result is not None, "a function has been made of it"
    return FunctionSignature(
        function.name,
        function.argument_types,
        result,
        function.path,
        function.version,
        function.columns or "",
    )


def bound_as(function: UserFunction, signature: FunctionSignature) -> bool:
    """Test for the function that a program knows by this signature."""
    found = replace(signature_of(function), version=signature.version)
    return found == signature and same_code(function.version, signature.version)


@frozen(slots=True)
class Derivation:
    """Rule heads that derive a relation: their number, whether they aggregate, and the column and
    function when it is one `min` or `max` in each, or those of one `sum`, `count` or aggregate of
    the user's in each that aggregates. `computed`: how many compute something of aggregates.
    """

    heads: int = 0
    aggregated: bool = False
    extreme: tuple[int, str] | None = None
    sums: tuple[int, str] | None = None
    computed: int = 0


def _nothing() -> Mapping[str, object]:
    return MappingProxyType({})


@frozen
class Catalog:
    """The names known so far. `relations` holds users' relations only, never hidden ones."""

    relations: Mapping[str, RelationSchema] = field(default_factory=_nothing)  # type: ignore[assignment]
    aliases: Mapping[str, Type] = field(default_factory=_nothing)  # type: ignore[assignment]
    aggregates: Mapping[str, UserAggregateSignature] = field(default_factory=_nothing)  # type: ignore[assignment]
    functions: Mapping[str, FunctionSignature] = field(default_factory=_nothing)  # type: ignore[assignment]
    derivations: Mapping[str, Derivation] = field(default_factory=_nothing)  # type: ignore[assignment]
    fact_relations: frozenset[str] = frozenset()
    """Relations with facts in the program text."""
    definitions: Mapping[str, tree.TypeAlias] = field(default_factory=_nothing)  # type: ignore[assignment]
    """The program's own types as they are written."""
    above: Mapping[str, frozenset[str]] = field(default_factory=_nothing)  # type: ignore[assignment]
    """The types that each type is a subtype of, itself among them."""
    kinds: Mapping[str, tuple[str, ...]] = field(default_factory=_nothing)  # type: ignore[assignment]
    """The columns' types by name, of relations that are declared in program text."""
    programs: Mapping[str, NamedProgram] = field(default_factory=_nothing)  # type: ignore[assignment]
    """Programs that users gave a name."""
    dropped: Mapping[str, int] = field(default_factory=_nothing)  # type: ignore[assignment]
    """The version from which on the relation of a name is not the one that had it before."""
    alterations: tuple[Alteration, ...] = ()
    """All changes of schemas that led here, the first ones first."""

    def relation(self, name: str, span: Span | None = None) -> RelationSchema:
        """The schema of `name`. Raises UnknownNameError (E110) with the nearest known name as a
        hint.
        """
        schema = self.relations.get(name)
        if schema is None:
            near = closest(name, self.relations) or closest(name, functors.PREDICATES)
            hint = (
                f"version {renamed[0]} renamed it: write `{renamed[1]}`"
                if (renamed := name_of_now(self.alterations, name)) and renamed[1] in self.relations
                else f"did you mean `{near}`?"
                if near
                else f"declare it first: .decl {name}(…), or ws.relation({name!r}, …) in Python"
            )
            if name.casefold() in functors.WORDS_OF_PATTERNS:
                hint += f"; of texts, {functors.LIKE}"
            raise UnknownNameError(f"unknown relation `{name}`", span=span, hint=hint)
        return schema

    def rows_refused(self, name: str) -> DeclarationError:
        """The error (E163) for rows of its own of a relation that an aggregate derives: a group
        with two values would be the result.
        """
        message = f"relation `{name}` has an aggregate rule and cannot hold rows of its own as well"
        return DeclarationError(message, code="E163", hint=self.rows_beside(name))

    def rows_beside(self, name: str) -> str:
        """The remedy for rows of its own of a relation that an aggregate derives: one more rule
        that gives them where it may have several, else a relation that reads both.
        """
        schema, known = self.relations[name], self.derivations[name]
        columns = [column for column, _ in schema.columns]
        given, function = known.extreme or (0, "")
        adds = known.sums is not None and known.sums[1] in ("sum", "count")
        if not (function or adds):
            return (
                "give the aggregate a relation of its own and read both: "
                f"all(x, n) :- {name}(x, n) ; own(x, n)."
            )
        head = [
            f"{function}({column})" if function and place == given else column
            for place, column in enumerate(columns)
        ]
        *keys, value = head
        left = f"[{', '.join(keys)}] = {value}" if schema.functional else f"({', '.join(head)})"
        so = "" if function else ", so that they add up with the others"
        return (
            f"put them into a relation of their own, which one more rule reads{so}: "
            f"{name}{left} :- own({', '.join(columns)})."
        )

    def type(self, text: str, span: Span | None = None) -> Type:
        """The type that a declaration calls `text`. Raises UnknownNameError (E113)."""
        known = self.aliases.get(text) or parse_type(text)
        if known is None and (base := without_mark(text)):
            return self.type(base, span).or_null
        if known is None:
            near = _OTHER_NAMES.get(text.casefold()) or closest(
                text, [*self.aliases, *_TYPE_NAMES, "number", "symbol"]
            )
            hint = (
                f"did you mean `{near}`?"
                if near
                else f"types are {', '.join(_TYPE_NAMES)}, decimal(p,s) and what .type defines"
            )
            raise UnknownNameError(f"unknown type `{text}`", code="E113", span=span, hint=hint)
        return known

    def aggregated(self, name: str) -> bool:
        """True when the one rule of `name` aggregates, so that it can have no facts and no second
        rule.
        """
        return name in self.derivations and self.derivations[name].aggregated

    def adds_up(self, heads: Iterable[tree.Atom]) -> bool:
        """Test for heads of which one is of a relation that its rules add up."""
        found = (self.derivations.get(head.relation) for head in heads)
        return any(each is not None and each.sums is not None for each in found)

    def relations_of(self, version: int) -> Mapping[str, RelationSchema]:
        """The relations that a version could have had rows of, with the columns of now."""
        if not self.dropped and not self.alterations:
            return self.relations
        altered = {
            name
            for each in self.alterations
            if each.version > version
            for name in (each.relation, each.name)
        }
        return {
            name: schema
            for name, schema in self.relations.items()
            if version >= self.dropped.get(name, 0) and name not in altered
        }

    def since(self, earlier: Catalog) -> Iterator[str]:
        """The relations that an earlier version of this has not declared: the last ones, unless
        some were dropped meanwhile.
        """
        if self.dropped is earlier.dropped or self.dropped == earlier.dropped:
            return islice(self.relations, len(earlier.relations), None)
        return (name for name in self.relations if name not in earlier.relations)

    def altered(self, alteration: Alteration) -> Catalog:
        """The catalog after an alteration of a relation that no rule mentions. Raises
        DeclarationError (E168).
        """
        before, after = alteration.relation, alteration.name
        schema = alteration.schema(self.relations[before])
        _require_width(schema, None)
        relations = {
            after if name == before else name: schema if name == before else each
            for name, each in self.relations.items()
        }
        facts = {after if name == before else name for name in self.fact_relations}
        kinds = dict(self.kinds)
        if (known := kinds.pop(before, ())) or before in self.kinds:
            kinds[after] = _kinds_after(alteration, self.relations[before], known)
        alterations = (*self.alterations, alteration)
        return replace(
            self,
            relations=relations,
            kinds=kinds,
            fact_relations=frozenset(facts),
            alterations=alterations,
        )

    def undeclare(self, relations: Collection[str], types: Collection[str]) -> Catalog:
        """Remove relations, which nothing reads or derives, and types."""
        if not relations and not types:
            return self
        aliases = _left(self.aliases, types)
        definitions = _left(self.definitions, types)
        return replace(
            self,
            relations=_left(self.relations, relations),
            kinds=_left(self.kinds, relations),
            fact_relations=self.fact_relations.difference(relations),
            aliases=aliases,
            definitions=definitions,
            above={
                name: above.difference(types) for name, above in _left(self.above, types).items()
            },
        )

    def declare(self, schema: RelationSchema, span: Span | None = None) -> Catalog:
        """Add a relation; the same declaration again changes nothing. Raises DeclarationError
        (E160, E168).
        """
        _require_width(schema, span)
        require_values(schema, span)
        if schema.name in self.functions:
            raise DeclarationError(
                f"`{schema.name}` is a function of yours already",
                span=span,
                hint="give the relation another name",
            )
        if (known := self.relations.get(schema.name)) is not None:
            if known != (schema := filled(known, schema)):
                hint = f"keep one of the two declarations; the first is {describe(known)}"
                if known.key is None and schema.key is not None and not schema.functional:
                    hint += " without a key"
                if calls := calls_between(known, schema):
                    hint += f"; {calls}"
                raise DeclarationError(
                    f"relation `{schema.name}` is declared twice, differently", span=span, hint=hint
                )
            return self
        return replace(self, relations={**self.relations, schema.name: schema})

    @property
    def kept(self) -> Mapping[str, RelationSchema]:
        """The relations whose rows are not derived alone: users' relations, and results of their
        functions.
        """
        if not self.functions:
            return self.relations
        results = (each.results for each in self.functions.values())
        return {**self.relations, **{each.name: each for each in results}}

    def with_function(self, signature: FunctionSignature) -> Catalog:
        """Add a user's function, or have it in the place of one of its name and types. Raises
        DeclarationError (E160).
        """
        name, known = signature.name, self.functions.get(signature.name)
        self._require_free(name, "a function")
        if name in FUNCTORS:  # `least`, which `min` of texts is in rules as they are evaluated
            raise DeclarationError(
                f"`{name}` is a name of the engine's own", hint="give the function another name"
            )
        if name in self.relations:
            raise DeclarationError(
                f"`{name}` is a relation already", hint="give the function another name"
            )
        types = signature.argument_types, signature.result_type
        if known is not None and (known.argument_types, known.result_type) != types:
            given = ", ".join(map(str, known.argument_types))
            raise DeclarationError(
                f"function `{name}` takes ({given}) and gives {known.result_type} already",
                hint="give the function of other types another name",
            )
        return replace(self, functions={**self.functions, name: signature})

    def _require_free(self, name: str, what: str) -> None:
        """Raise DeclarationError (E160) for a name that no aggregate and no function may have."""
        if name in AGGREGATES:
            raise DeclarationError(f"`{name}` is a built-in aggregate", hint="choose another name")
        if not _can_name_aggregate(name):
            hint = "names are letters, digits and _, and none of the functions and words of rules"
            raise DeclarationError(f"{name!r} cannot name {what}", hint=hint)
        others, kind = (
            (self.functions, "a function")
            if what != "a function"
            else (self.aggregates, "an aggregate")
        )
        if name in others:
            raise DeclarationError(
                f"`{name}` is {kind} of yours already", hint="choose another name"
            )

    def with_aggregate(self, signature: UserAggregateSignature) -> Catalog:
        """Add a user-defined aggregate. Raises DeclarationError (E160) for a built-in name or
        another signature.
        """
        self._require_free(signature.name, "an aggregate")
        if self.aggregates.get(signature.name, signature) != signature:
            raise DeclarationError(
                f"aggregate `{signature.name}` is defined twice, differently",
                hint="choose another name",
            )
        return replace(self, aggregates={**self.aggregates, signature.name: signature})


def with_functions(catalog: Catalog, functions: Iterable[UserFunction]) -> Catalog:
    """The catalog with functions of users. Raises DeclarationError (E160)."""
    for each in functions:
        catalog = catalog.with_function(signature_of(each))
    return catalog


def dropped_since(earlier: Catalog, later: Catalog) -> frozenset[str]:
    """The relations of an earlier catalog that were dropped by a later one."""
    if later.dropped is earlier.dropped:
        return frozenset()
    return frozenset(
        name
        for name, version in later.dropped.items()
        if earlier.dropped.get(name) != version and name in earlier.relations
    )


def _require_width(schema: RelationSchema, span: Span | None) -> None:
    """Raise DeclarationError (E168) for too many columns."""
    if len(schema.columns) > MOST_COLUMNS:
        message = (
            f"relation `{schema.name}` has {len(schema.columns)} columns; {MOST_COLUMNS} "
            f"is the most there may be"
        )
        hint = "keep what few rules read in relations of their own, with the same key"
        raise DeclarationError(message, code="E168", span=span, hint=hint)


def require_values(schema: RelationSchema, span: Span | None = None) -> None:
    """Raise DeclarationError (E160) for a key or a choice domain with a column that may be NULL:
    rows that are to be told apart by it have a value there.
    """
    for what, columns in (
        ("key", schema.key or ()),
        *(("choice domain", c) for c in schema.choice),
    ):
        for name, type in map(schema.columns.__getitem__, columns):
            if type.optional:
                message = f"column `{name}` of `{schema.name}` is optional, and is in its {what}"
                hint = f"declare it {type.required}, or leave it out of the {what}"
                raise DeclarationError(message, span=span, hint=hint)


def _kinds_after(
    alteration: Alteration, before: RelationSchema, kinds: tuple[str, ...]
) -> tuple[str, ...]:
    """The types of columns by name, of a relation that is declared in program text."""
    if len(kinds) != before.arity:
        return kinds
    schema = alteration.schema(before)
    known = dict(zip((name for name, _ in before.columns), kinds, strict=True))
    if alteration.kind == "rename":
        known[alteration.to] = known.pop(alteration.column)
    elif alteration.kind == "retype":
        known.pop(alteration.column)
    return tuple(known.get(name) or kind_name(type) for name, type in schema.columns)


def kind_name(type: Type) -> str:
    """The name of a built-in type that all its columns share: an optional one is of the type that
    its values have, and decimals are of one type when their scale is one.
    """
    if type.name == "decimal":
        return str(decimal(MAX_DECIMAL_PRECISION, type.scale or 0))
    return str(type.required)


def _left(names: Mapping[str, _Value], gone: Collection[str]) -> dict[str, _Value]:
    return {name: value for name, value in names.items() if name not in gone}


def _can_name_aggregate(name: object) -> bool:
    """Test for a name that, as `name(x)` in the head of a rule, can only be an aggregate."""
    if not isinstance(name, str) or not functors.NAME.fullmatch(name):
        return False
    return not functors.is_functor(name) and name not in functors.RESERVED_RELATIONS


def describe(schema: RelationSchema) -> str:
    """The schema as a declaration reads: `a(x: int, y: str)` or `F[x: int]: float`."""
    columns = [
        f"{name}: {type}" + (f" = {default}" if (default := default_term(schema, name)) else "")
        for name, type in schema.columns
    ]
    names = [[schema.columns[i][0] for i in domain] for domain in schema.choice]
    choice = ", ".join(each[0] if len(each) == 1 else f"({', '.join(each)})" for each in names)
    choice = f" choice-domain {choice}" if choice else ""
    if schema.functional:
        return f"{schema.name}[{', '.join(columns[:-1])}]: {schema.columns[-1][1]}{choice}"
    names = key_names(schema)
    key = "" if names is None else f" key({', '.join(names)})"
    return f"{schema.name}({', '.join(columns)}){key}{choice}"


def key_names(schema: RelationSchema) -> tuple[str, ...] | None:
    """The columns of a key that is declared; None where there is none, or that of a function."""
    if schema.key is None or schema.functional:
        return None
    return tuple(schema.columns[place][0] for place in schema.key)
