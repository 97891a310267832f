# SPDX-License-Identifier: Apache-2.0
"""Declarations and type names of a program, wherever in the text they stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lftj.errors import DeclarationError, LftjError, TypeClashError, UnknownNameError
from lftj.errors.nearest import closest
from lftj.program.checks.facts import FactReader, is_fact
from lftj.program.checks.subtypes import as_defined, equal_kinds, kinds_of, types_above
from lftj.program.defaults import with_defaults
from lftj.program.normal_form import CHANGE_COLUMNS, RelationSchema
from lftj.program.schema import UNKNOWN, Catalog
from lftj.program.scope import term_names
from lftj.syntax import tree
from lftj.types import Type, parse_type

_OF_SOUFFLE = frozenset({"number", "symbol", "unsigned", "float"})
_FREE = frozenset({"bool", "date", "timestamp"})
"""Names of added types that a program may give another meaning."""


def declare_all(
    clauses: Sequence[tree.Clause], catalog: Catalog
) -> tuple[Catalog, list[LftjError]]:
    """The catalog with all `.type` and `.decl` of the clauses, and the problems found."""
    catalog, errors = _with_aliases(
        [clause for clause in clauses if isinstance(clause, tree.TypeAlias)], catalog
    )
    catalog = _with_kinds(clauses, catalog)
    relations = dict(catalog.relations)
    seen: dict[str, tree.Declaration] = {}
    for clause in clauses:
        if not isinstance(clause, tree.Declaration):
            continue
        schema, problems = _schema(clause, catalog)
        errors += problems
        if clause.name in seen:
            errors.append(_declared_twice(clause, seen[clause.name]))
            continue
        try:
            one = (
                replace(catalog, relations={clause.name: known})
                if (known := relations.get(clause.name))
                else Catalog()
            )
            relations |= (
                one.declare(schema, clause.span).relations
                if not problems or clause.name not in relations
                else {}
            )
            if clause.name in catalog.relations:
                errors += _other_kinds(clause, catalog)
        except DeclarationError as error:
            errors.append(error)
        seen.setdefault(clause.name, clause)
    return replace(catalog, relations=relations), errors


def _with_kinds(clauses: Sequence[tree.Clause], catalog: Catalog) -> Catalog:
    """The catalog with the subtypes of the clauses, and the types of columns by name."""
    types = {name: type for name, type in catalog.aliases.items() if type != UNKNOWN}
    defines = any(isinstance(clause, tree.TypeAlias) for clause in clauses)
    above = types_above(catalog.above, catalog.definitions, types) if defines else catalog.above
    kinds = {
        clause.name: kinds_of(clause, types)
        for clause in clauses
        if isinstance(clause, tree.Declaration) and not catalog.kinds.get(clause.name)
    }
    if not (kinds or defines):
        return catalog
    return replace(catalog, above=above, kinds={**catalog.kinds, **kinds})


def _other_kinds(declaration: tree.Declaration, catalog: Catalog) -> Iterator[LftjError]:
    """The error for a relation that is there already, with columns of other subtypes."""
    known = catalog.kinds[declaration.name]
    kinds = kinds_of(declaration, catalog.aliases)
    if len(known) != len(kinds) or equal_kinds(catalog.above, known, kinds):
        return
    columns = [
        f"`{column.name}` is of `{kind}`, and was of `{before}`"
        for column, kind, before in zip(declaration.columns, kinds, known, strict=True)
        if not equal_kinds(catalog.above, [kind], [before])
    ]
    message = f"relation `{declaration.name}` is declared twice, differently: column {columns[0]}"
    hint = "keep one of the two declarations"
    yield DeclarationError(message, span=declaration.span, hint=hint)


def require_same_types(known: Catalog, other: Catalog) -> None:
    """Raises DeclarationError (E160, E165) for a type that another catalog defines otherwise, or a
    relation whose columns are of other subtypes there.
    """
    for name, definition in other.definitions.items():
        if known.definitions.get(name, definition) != definition:
            message = (
                f"type `{name}` is defined twice, differently: {definition} and "
                f"{known.definitions[name]}"
            )
            raise DeclarationError(message, code="E165", hint="keep one of the two definitions")
    for name, kinds in other.kinds.items():
        before = known.kinds.get(name)
        if before and kinds and before != kinds and name in known.relations:
            message = (
                f"relation `{name}` is declared twice, differently: with columns of "
                f"{', '.join(kinds)} and of {', '.join(before)}"
            )
            raise DeclarationError(message, hint="keep one of the two declarations")


def _declared_twice(declaration: tree.Declaration, first: tree.Declaration) -> DeclarationError:
    """The error for a relation that one text declares again; texts that come one by one may each
    declare what they read.
    """
    how = (
        ""
        if (first.columns, first.functional, first.choice, first.key)
        == (declaration.columns, declaration.functional, declaration.choice, declaration.key)
        else ", differently"
    )
    hint = (
        f"keep one of the two declarations; the first is at {first.span}"
        if first.span
        else "keep one of the two declarations"
    )
    return DeclarationError(
        f"relation `{declaration.name}` is declared twice{how}", span=declaration.span, hint=hint
    )


def _schema(
    declaration: tree.Declaration, catalog: Catalog
) -> tuple[RelationSchema, list[LftjError]]:
    """The schema that is declared, with UNKNOWN for every type that is not known, so that the rest
    of the program can be checked.
    """
    errors: list[LftjError] = []
    columns: list[tuple[str, Type]] = []
    names = set[str]()
    of_changes = {name for name, _ in CHANGE_COLUMNS}
    for column in declaration.columns:
        span = column.span or declaration.span
        if column.name in names:
            message = f"relation `{declaration.name}` has two columns `{column.name}`"
            errors.append(
                DeclarationError(
                    message, code="E164", span=span, hint="give each column a name of its own"
                )
            )
        names.add(column.name)
        if column.name in of_changes:
            hint = "choose another name for the column"
            errors.append(
                DeclarationError(
                    f"`{column.name}` is a column of change sets", span=span, hint=hint
                )
            )
        try:
            columns.append((column.name, catalog.type(column.type, span)))
        except LftjError as error:
            errors.append(error)
            columns.append((column.name, UNKNOWN))
    choice, problems = _positions(declaration, declaration.choice, "to choose by")
    if declaration.key is None:
        key = tuple(range(len(columns) - 1)) if declaration.functional else None
    else:
        (key,), more = _positions(declaration, (declaration.key,), "for its key")
        problems += more
    schema = RelationSchema(declaration.name, tuple(columns), key, declaration.functional, choice)
    if all(column.default is None for column in declaration.columns):
        return schema, errors + problems
    defaults, more = _defaults(declaration, schema)
    return with_defaults(schema, defaults), errors + problems + more


def _defaults(
    declaration: tree.Declaration, schema: RelationSchema
) -> tuple[dict[str, object], list[LftjError]]:
    """The defaults of columns, each read as the constant of a fact is."""
    found: dict[str, object] = {}
    errors: list[LftjError] = []
    for column, (name, type) in zip(declaration.columns, schema.columns, strict=True):
        if (term := column.default) is None or type == UNKNOWN:
            continue
        span = term.span or column.span or declaration.span
        fact = tree.Rule((tree.Atom(schema.name, (term,)),), tree.Body(()))
        if not is_fact(fact) or term_names(term) or isinstance(term, tree.Wildcard):
            hint = f'a default is a value: {name}: {column.type} = 0, or "…" in quotes for a string'
            message = f"`{term}` is no constant, and the default of `{name}`"
            errors.append(DeclarationError(message, span=span, hint=hint))
            continue
        alone = RelationSchema(schema.name, ((name, type),))
        reader = FactReader(Catalog({schema.name: alone}))
        problems = reader.read(fact)
        for problem in problems:
            problem.span = span
            problem.message += f", as the default of `{name}`"
        errors += problems
        if not problems:
            ((found[name],),) = reader.rows[schema.name]
    return found, errors


def _positions(
    declaration: tree.Declaration, lists: Sequence[tuple[str, ...]], what: str
) -> tuple[tuple[tuple[int, ...], ...], list[LftjError]]:
    """The positions of each list of columns; their order says nothing."""
    names = [column.name for column in declaration.columns]
    places = {name: place for place, name in reversed(list(enumerate(names)))}
    errors: list[LftjError] = []
    for name in dict.fromkeys(name for each in lists for name in each if name not in places):
        near = closest(name, names)
        hint = (
            f"did you mean `{near}`?"
            if near
            else f"its columns are {', '.join(names)}"
            if names
            else "it has no columns"
        )
        message = f"relation `{declaration.name}` has no column `{name}` {what}"
        errors.append(UnknownNameError(message, code="E111", span=declaration.span, hint=hint))
    found = {tuple(sorted({places[name] for name in each if name in places})) for each in lists}
    return tuple(sorted(found)), errors


class _Meanings:
    """Meanings of type names, as far as they are known, with their definitions. `own`: names that
    the text defines.
    """

    def __init__(self, catalog: Catalog, own: set[str]):
        self.known, self.definitions = dict(catalog.aliases), dict(catalog.definitions)
        self.own = own

    def of(self, name: str) -> Type | None:
        """The program's own meaning of a name goes before the built-in one."""
        return self.known.get(name) or (None if name in self.own else parse_type(name))


def _with_aliases(
    aliases: list[tree.TypeAlias], catalog: Catalog
) -> tuple[Catalog, list[LftjError]]:
    """Type names may stand for one another in any order; what is left in the end is unknown or a
    circle.
    """
    meanings = _Meanings(catalog, {alias.name for alias in aliases})
    errors: list[LftjError] = list(_defined_twice(aliases))
    waiting, left = list(aliases), len(aliases) + 1
    while len(waiting) < left:
        left = len(waiting)
        for alias in list(waiting):
            base = meanings.of(alias.base)
            if base is not None and all(meanings.of(other) is not None for other in alias.others):
                waiting.remove(alias)
                errors += (
                    *_union_errors(alias, base, meanings.known),
                    *_defined(alias, base, meanings),
                )
    errors += _undefined(waiting, replace(catalog, aliases=dict(meanings.known)), meanings.own)
    unknown = dict.fromkeys((alias.name for alias in waiting), UNKNOWN)
    found = replace(catalog, aliases=meanings.known | unknown, definitions=meanings.definitions)
    return found, errors


def _defined_twice(aliases: Sequence[tree.TypeAlias]) -> Iterator[LftjError]:
    """Errors for names that one text defines again in the same way; `_defined` has the others."""
    first: dict[str, tree.TypeAlias] = {}
    for alias in aliases:
        if first.setdefault(alias.name, alias) is not alias and first[alias.name] == alias:
            message = f"type `{alias.name}` is defined twice"
            hint = "keep one of the two definitions"
            yield DeclarationError(message, code="E165", span=alias.span, hint=hint)


def _defined(alias: tree.TypeAlias, base: Type, meanings: _Meanings) -> Iterator[LftjError]:
    """Let a name stand for a type that is known."""
    if _is_taken(alias.name, base):
        meanings.own.discard(alias.name)  # what else names it means the built-in one
        message = f"`{alias.name}` is a built-in type"
        yield DeclarationError(message, code="E165", span=alias.span, hint="choose another name")
        return
    definition = as_defined(alias, meanings.known)
    known = meanings.definitions.setdefault(alias.name, definition)
    if meanings.known.setdefault(alias.name, base) != base or known != definition:
        message = f"type `{alias.name}` is defined twice, differently"
        yield DeclarationError(message, code="E165", span=alias.span, hint="choose another name")


def _undefined(
    waiting: list[tree.TypeAlias], catalog: Catalog, own: set[str]
) -> Iterator[LftjError]:
    """Errors for names that stand for no type in the catalog. Of a circle and the names that lead
    into it, only the circle is reported.
    """
    bases = {alias.name: (alias.base, *alias.others) for alias in waiting}
    circular = [name for name in bases if _refers_to(name, name, bases)]
    for alias in waiting:
        if alias.name in circular:
            message = f"type `{alias.name}` refers to itself"
            hint = (
                "say in the end which of int, float, str, bool, date, timestamp, decimal(p,s) it is"
            )
            yield DeclarationError(message, code="E165", span=alias.span, hint=hint)
        if any(_refers_to(alias.name, name, bases) for name in circular):
            continue
        for name in (alias.base, *alias.others):
            if name in own and parse_type(name) is not None and name not in catalog.aliases:
                message = f"type `{alias.name}` stands for `{name}`, which stands for nothing else"
                yield DeclarationError(
                    message,
                    code="E165",
                    span=alias.span,
                    hint="name a type that is there without it",
                )
                break
            try:
                catalog.type(name, alias.span)
            except LftjError as error:
                yield error
                break


def _is_taken(name: str, base: Type) -> bool:
    """True for the name of a built-in type that a program may not define: Soufflé's own, and those
    that would mean something else then.

    What Soufflé does not know is free for its programs, which have `.type string <: symbol` or
    `.type date <: symbol`.
    """
    built_in = parse_type(name)
    return built_in is not None and (
        name in _OF_SOUFFLE or (built_in != base and name not in _FREE)
    )


def _refers_to(name: str, wanted: str, bases: Mapping[str, tuple[str, ...]]) -> bool:
    """Test for a type name that leads to another one."""
    seen, ahead = set[str](), [name]
    while ahead:
        for base in bases.get(ahead.pop(), ()):
            if base == wanted:
                return True
            if base not in seen:
                seen.add(base)
                ahead.append(base)
    return False


def _union_errors(alias: tree.TypeAlias, base: Type, known: Mapping[str, Type]) -> list[LftjError]:
    """Types only name columns' values here, so a union is one more name; what its members stand for
    has to be one type.
    """
    types = {name: known.get(name) or parse_type(name) for name in alias.others}
    different = next(
        (
            f"`{name}` is {type}"
            for name, type in types.items()
            if type != base and UNKNOWN not in (type, base)
        ),
        None,
    )
    if different is None:
        return []
    message = f"type `{alias.name}` joins different types: `{alias.base}` is {base}, {different}"
    return [
        TypeClashError(message, code="E133", span=alias.span, hint="use one relation for each type")
    ]
