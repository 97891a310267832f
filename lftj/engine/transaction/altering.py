# SPDX-License-Identifier: Apache-2.0
"""Alterations of a draft: what a user asks for, checked, as single steps; and what each does to the
program, and to the rows that the commit begins with.

The rows before are brought to the new schema first. So all that a commit does with old and new rows
is of one schema, and rows that only gained a default are no changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from lftj import frames
from lftj.engine.commit.staging import Staging
from lftj.engine.live.altered_state import (
    altered_relation,
    altered_state,
    computed,
    retyped_values,
)
from lftj.engine.programs.declared import checked_columns, checked_default, checked_key
from lftj.engine.transaction.requests import KEEP, Request
from lftj.engine.transaction.schema_draft import SchemaDraft, refusal
from lftj.errors import DeclarationError, LftjError, SchemaInUseError, UnknownNameError
from lftj.program.alteration import Alteration
from lftj.program.altered_rules import altered_programs, altered_rules, earlier_readings, rules_of
from lftj.program.conversions import conversion, making
from lftj.program.named_program import NamedProgram, Row, without
from lftj.program.normal_form import RelationSchema
from lftj.program.program import Program
from lftj.program.schema import describe, require_values
from lftj.storage.delta import Delta, Rewritten
from lftj.storage.relation import RelationVersion
from lftj.syntax.builder import to_tree
from lftj.syntax.parser import expression_of
from lftj.types import Type, decode_scalar, encode_scalar, type_of_python
from lftj.types.sources import is_hidden


def alter(draft: SchemaDraft, name: str, request: Request) -> RelationSchema:
    """Alter a relation of a draft, step by step; the schema afterwards. Raises DeclarationError
    (E160, E161, E164, E172), UnknownNameError (E111), SchemaInUseError (E328), KeyViolationError
    and what computing raises; then the draft is as it was.
    """
    before = draft.mark()
    try:
        _require_possible(draft.schema(name), request)
        for steps in (_dropped, _renamed, _retyped, _added, _defaulted, _keyed, _named):
            schema = draft.schema(name)
            for alteration in steps(draft, schema, request):
                take(draft, alteration)
                name = alteration.name
        require_values(draft.schema(name))
    except BaseException:
        draft.reset(before)
        raise
    return draft.schema(name)


# ── what is asked for ─────────────────────────────────────────────────────────────────────────────
def _require_possible(schema: RelationSchema, request: Request) -> None:
    """Raise OptionError (E171) or DeclarationError (E172) for what this relation does not take."""
    request.require_kinds()
    request.require_words(schema)
    reshaped = request.add or request.drop or request.default or request.key is not KEEP
    if schema.functional and reshaped:
        raise refusal(
            f"`{schema.name}` is a function, whose arguments are its key and whose value is last",
            "declare another one, and fill it by a rule; its columns may be renamed and retyped",
        )
    if schema.choice and (request.add or request.drop or request.retype or request.key is not KEEP):
        raise refusal(
            f"`{schema.name}` chooses among its rows, whose columns stay as they are",
            "declare another relation, and fill it by a rule; this one may be renamed",
        )


def _place(schema: RelationSchema, column: object) -> int:
    names = [name for name, _ in schema.columns]
    if column not in names:
        raise UnknownNameError(
            f"relation `{schema.name}` has no column `{column}`",
            code="E111",
            hint=f"its columns are {', '.join(names)}",
        )
    return names.index(column)  # type: ignore[arg-type]


def _alteration(draft: SchemaDraft, schema: RelationSchema, kind: Any, **rest: Any) -> Alteration:
    return Alteration(draft.before.version + 1, schema.name, kind, **rest)


def _dropped(draft: SchemaDraft, schema: RelationSchema, request: Request) -> Iterator[Alteration]:
    given = [request.drop] if isinstance(request.drop, str) else request.drop
    key = [schema.columns[place][0] for place in schema.key or ()]
    for column in given:
        _place(schema, column)
        if column in key and request.key is KEEP:
            rest = [each for each in key if each not in given]
            raise refusal(
                f"column `{column}` of `{schema.name}` is in its key ({', '.join(key)})",
                f"say which key there is without the column: key={rest or None}"
                + (", or key=None for none" if rest else ""),
            )
        yield _alteration(draft, schema, "drop", column=column)


def _renamed(draft: SchemaDraft, schema: RelationSchema, request: Request) -> Iterator[Alteration]:
    left = {column: to for column, to in request.rename.items() if to != column}
    for column in request.rename:
        _place(schema, column)
    while left:
        names = dict(draft.schema(schema.name).columns)
        free = (each for each, to in left.items() if to not in names)
        taken = (each for each, to in left.items() if to not in left)
        column = next(free, None) or next(taken, None) or next(iter(left))
        to, wanted = left[column], left.pop(column)
        if to in left:  # names are exchanged: one of the columns steps aside
            to = "aside_" + max(names, key=len)
            left[to] = wanted
        _require_new(draft.schema(schema.name), to)
        yield _alteration(draft, schema, "rename", column=column, to=to)


def _require_new(schema: RelationSchema, column: str) -> None:
    checked_columns({column: int})
    if column in dict(schema.columns):
        raise DeclarationError(
            f"relation `{schema.name}` has a column `{column}` already",
            code="E164",
            hint="give each column a name of its own",
        )


def _retyped(draft: SchemaDraft, schema: RelationSchema, request: Request) -> Iterator[Alteration]:
    for column, wanted in request.retype.items():
        before, after = schema.columns[_place(schema, column)][1], type_of_python(wanted)
        if column in request.compute:
            expression, back = _text(request.compute[column]), ""
        elif before != after:
            expression, back = _conversion(schema, column, before, after)
        else:
            continue
        said = {"type": after, "expression": expression, "back": back}
        made = _alteration(draft, schema, "retype", column=column, **said)
        yield replace(made, default=_retyped_default(draft, schema, made, request))


def _retyped_default(
    draft: SchemaDraft, schema: RelationSchema, alteration: Alteration, request: Request
) -> object:
    """The default of a column whose type changes, converted as its values are; None where there is
    none, or another one is given. Raises DeclarationError (E172) where it cannot be.
    """
    column, type = alteration.column, alteration.type
    value = dict(schema.defaults).get(column)
    before = dict(schema.columns)[column]
    if value is None or column in request.default or type is None:
        return None
    alone = RelationSchema(schema.name, ((column, before),))
    code = encode_scalar(before, value, draft.engine.dictionary)
    rows = RelationVersion.build(alone, draft.engine.arena, [np.array([code])])
    try:
        (found,) = retyped_values(draft.engine, rows, alteration, lossless=True)
    except LftjError as error:
        raise refusal(
            f"the default of `{column}`, {value!r}, is none of the new column: {error.message}",
            f"say which there is: default={{{column!r}: …}}, or None for none",
        ) from error
    return decode_scalar(type, found, draft.texts())


def _conversion(schema: RelationSchema, column: str, before: Type, after: Type) -> tuple[str, str]:
    """The expression that converts a column, and the one that converts it back. Raises
    DeclarationError (E172) for types that share no values.
    """
    if (found := conversion(column, before, after)) is not None:
        return found
    way = making(column, before, after)
    say = f"say how: compute={{{column!r}: {way!r}}}; or " if way else ""
    raise refusal(
        f"column `{column}` of `{schema.name}` is {before}, and no conversion makes it {after} "
        f"without loss",
        f"{say}add a column, bring its values, and drop this one",
    )


def _text(expression: object) -> str:
    text = expression if isinstance(expression, str) else str(to_tree(expression))
    expression_of(text)
    return text


def _added(draft: SchemaDraft, schema: RelationSchema, request: Request) -> Iterator[Alteration]:
    for column, wanted in request.add.items():
        _require_new(draft.schema(schema.name), column)
        ((_, type),) = checked_columns({column: wanted})
        if column in request.compute:
            expression, default = _text(request.compute[column]), zero(type)
        elif column in request.default and (request.default[column] is not None or type.optional):
            expression, default = "", checked_default(column, type, request.default[column])
        elif type.optional:
            expression, default = "", None
        else:
            raise refusal(
                f"column `{column}` of `{schema.name}` has no value for rows that are there",
                f"say which: default={{{column!r}: …}}, or by an expression of the other columns, "
                f'compute={{{column!r}: "…"}}; or have the column be NULL there: '
                f"add={{{column!r}: '{type}?'}}",
            )
        yield _alteration(
            draft, schema, "add", column=column, type=type, default=default, expression=expression
        )


def _defaulted(
    draft: SchemaDraft, schema: RelationSchema, request: Request
) -> Iterator[Alteration]:
    """The other defaults of columns that are there."""
    for column, value in request.default.items():
        type = schema.columns[_place(schema, column)][1]
        value = None if value is None else checked_default(column, type, value)
        if value != dict(schema.defaults).get(column):
            yield _alteration(draft, schema, "default", column=column, type=type, default=value)


def zero(type: Type) -> object:
    """The value that rows are taken to have had in a column that is computed."""
    return "" if type.name == "str" else decode_scalar(type, 0, _NOTHING)


class _NoTexts:
    def decode_one(self, code: int) -> str:
        raise LookupError(code)


_NOTHING = _NoTexts()


def _keyed(draft: SchemaDraft, schema: RelationSchema, request: Request) -> Iterator[Alteration]:
    if request.key is KEEP:
        return
    columns = dict(schema.columns)
    key = checked_key(schema.name, columns, request.key)
    if key != schema.key:
        names = None if key is None else tuple(schema.columns[place][0] for place in key)
        yield _alteration(draft, schema, "key", key=names)


def _named(draft: SchemaDraft, schema: RelationSchema, request: Request) -> Iterator[Alteration]:
    if request.to is None or request.to == schema.name:
        return
    to = request.to
    Program().declare(replace(schema, name=to))  # checks the name
    draft.require_name(to)
    if (known := draft.program.catalog.relations.get(to)) is not None:
        raise refusal(
            f"relation `{schema.name}` cannot be renamed to `{to}`: there is {describe(known)}",
            "drop that one in a transaction before, or choose another name",
        )
    yield _alteration(draft, schema, "name", to=to)


# ── one step ──────────────────────────────────────────────────────────────────────────────────────
def take(draft: SchemaDraft, alteration: Alteration) -> None:
    """Make one alteration of a draft. Raises what `alter` raises."""
    name, program = alteration.relation, draft.program
    draft.require_untouched(name)
    schema = draft.schema(name)
    rules = altered_rules(program, alteration, schema)
    after = program.altered(alteration, rules, draft.sizes)
    if programs := program.catalog.programs:
        facts = partial(converted, draft, alteration, schema)
        earlier = earlier_readings(program, rules)
        after = after.with_programs(altered_programs(programs, alteration, schema, facts, earlier))
    base, there = draft.base, name in draft.base.database and draft.kept(name)
    fell = False
    if there:
        base = altered_state(draft.engine, base, alteration, lossless=True)
        fell = base.base(alteration.name).count < draft.base.base(name).count
    anew = alteration.kind == "retype" or bool(schema.choice) or fell
    changed = heads_to_derive(program, after, rules, anew=anew)
    pending = draft.take_pending(name)
    was = draft.base
    draft.take_schema(after, base, changed, alteration)
    if there and (pending is not None or (alteration.expression and alteration.kind == "add")):
        before, now = was.base(name), base.base(alteration.name)
        rows = before if pending is None else pending
        draft.put(alteration.name, _altered_rows(draft, rows, before, now, alteration))


def _altered_rows(
    draft: SchemaDraft,
    rows: RelationVersion,
    before: RelationVersion,
    base: RelationVersion,
    alteration: Alteration,
) -> Staging:
    """The staging of a relation that begins as `base`, and has these rows, which are to be altered:
    some value of them was computed, or is to be. `before`: what it began as before the alteration.
    """
    engine, keyed = draft.engine, draft.obeys_key(alteration.name)
    if alteration.kind != "add" or not alteration.expression:
        made = altered_relation(engine, rows, alteration, alteration.name, lossless=True)
        return Staging(base, (made.difference(base), made), keyed=keyed)
    columns, values = rows.columns()[: rows.schema.arity], computed(engine, rows, alteration)
    schema = replace(alteration.schema(rows.schema), name=alteration.name)
    made = RelationVersion.build(schema, engine.arena, [*columns, values])
    if rows is not before:
        return Staging(base, (made.difference(base), made), keyed=keyed)
    others = values != base.columns([base.schema.arity - 1])[0]

    def change() -> Delta:
        old, new = base.columns(), made.columns()
        return Delta([each[others] for each in new], [each[others] for each in old])

    return Staging(base, (Rewritten(int(others.sum()), change), made), keyed=keyed)


def heads_to_derive(
    before: Program, after: Program, rules: Collection[int], *, anew: bool
) -> set[str]:
    """The relations of altered rules whose rows are to be derived `anew`, or anyway: in a cycle, or
    by way of hidden relations. The others have the rows that they had.
    """
    found = set[str]()
    for number in rules:
        forms = (before.sources[number].normal, after.sources[number].normal)
        heads = {rule.relation for form in forms for rule in form.rules}
        strata = after.stratified.order.strata_of(rule.relation for rule in forms[1].rules)
        if anew or any(map(is_hidden, heads)) or any(each.recursive for each in strata):
            found |= heads
    return found


def converted(
    draft: SchemaDraft, alteration: Alteration, schema: RelationSchema, rows: Collection[Row]
) -> dict[Row, Row]:
    """Facts of programs as they are with a computed value."""
    if not rows:
        return {}
    listed = list(rows)
    columns = draft.coded(schema, listed, {})
    relation = RelationVersion.build(schema, draft.engine.arena, columns)
    if alteration.kind == "retype":
        values = retyped_values(draft.engine, relation, alteration, lossless=False)
    else:
        values = computed(draft.engine, relation, alteration)
    types = [type for _, type in schema.columns]
    old = frames.to_tuples(types, relation.columns(), draft.engine.dictionary)
    assert alteration.type is not None
    new = [
        value for (value,) in frames.to_tuples([alteration.type], [values], draft.engine.dictionary)
    ]
    if alteration.kind == "add":
        return {row: (*row, value) for row, value in zip(old, new, strict=True)}
    place = [name for name, _ in schema.columns].index(alteration.column)
    return {
        row: (*row[:place], value, *row[place + 1 :]) for row, value in zip(old, new, strict=True)
    }


# ── relations that go ─────────────────────────────────────────────────────────────────────────────
def drop(draft: SchemaDraft, name: str) -> None:
    """Drop a relation of a draft. Raises SchemaInUseError (E328) with the rules that mention it,
    DeclarationError (E172) for one that the draft has altered.
    """
    program = draft.program
    if rules := rules_of(program, name):
        raise SchemaInUseError.of(f"{name} is dropped", list(map(str, rules.values())))
    own = program.catalog.alterations[len(draft.before.program.catalog.alterations) :]
    if any(each.name == name for each in own):
        raise refusal(
            f"relation `{name}` was altered in this transaction, and is to be dropped",
            "drop it without altering it, or in a transaction of its own",
        )
    programs = program.catalog.programs
    left = {each: _without_relation(its, name) for each, its in programs.items()}
    after = program.undeclare([name], ())
    draft.take_dropped(after.with_programs(left) if programs else after, name)


def _without_relation(program: NamedProgram, name: str) -> NamedProgram:
    if name not in program.relations and name not in program.facts:
        return program
    facts = program.facts.get(name, frozenset())
    return replace(
        program,
        relations=program.relations - {name},
        facts=without(program.facts, name, facts),
        lent_facts=without(program.lent_facts, name, facts),
        whole=False,
    )
