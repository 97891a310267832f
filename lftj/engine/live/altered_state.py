# SPDX-License-Identifier: Apache-2.0
"""Rows of a version as they are after alterations: of a state that a commit begins with, and of a
past version that is read in the columns of a later one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lftj.engine.live.answers import Evaluating, evaluated, read
from lftj.engine.live.same_values import same_values
from lftj.engine.versions.state import State
from lftj.errors import DeclarationError, TypeClashError, UnknownNameError
from lftj.frames import to_tuples
from lftj.program.alteration import Alteration
from lftj.program.conversions import has_same, with_loss
from lftj.program.normal_form import RelationSchema
from lftj.program.program import Program
from lftj.scantree.process.interrupts import interrupts_as_such
from lftj.storage.database import Database, base_name
from lftj.storage.relation import RelationVersion
from lftj.storage.widened_relation import WidenedRelation
from lftj.syntax import functors, tree
from lftj.syntax.conditionals import without_conditionals
from lftj.syntax.depth import below
from lftj.syntax.parser import expression_of
from lftj.types import NULL_CODE, Type, code_of, decode_scalar, encode_scalar
from lftj.views.states import ViewStates, stratum_key


def altered_state(
    engine: Evaluating, state: State, alteration: Alteration, *, lossless: bool = False
) -> State:
    """The state with the rows of a relation, if it has the relation, as they are after an
    alteration, and without what views that read it are maintained with. The program stays. Rows
    that are to be computed have the default. `lossless`: as for `altered_relation`, of rows that
    rules do not derive. Raises what computing raises; the commit checks keys.
    """
    before, after = alteration.relation, alteration.name
    if before not in state.database:
        return state
    own = base_name(before) if base_name(before) in state.database else before
    updates = {
        new: altered_relation(
            engine, state.database[old], alteration, new, lossless=lossless and old == own
        )
        for old, new in ((before, after), (base_name(before), base_name(after)))
        if old in state.database
    }
    dropped = () if before == after else (before, base_name(before))
    database = state.database.replace(updates, drop=dropped)
    if alteration.kind == "default":
        return replace(state, database=database)
    return replace(state, database=database, view_states=_states_left(state, before))


def _states_left(state: State, name: str) -> ViewStates:
    """The states of views that do not read a relation."""
    order, names = state.program.stratified.order, (name, base_name(name))
    strata = order.strata_of({name}.union(*(order.readers.get(each, ()) for each in names)))
    keys = {stratum_key(each.relations) for each in strata}
    keys.update(each for stratum in strata for each in stratum.relations)
    return state.view_states.without(sorted(keys))


def altered_relation(
    engine: Evaluating,
    relation: RelationVersion,
    alteration: Alteration,
    name: str | None = None,
    *,
    lossless: bool = False,
) -> RelationVersion:
    """A relation after an alteration. O(1), but O(n log n) for a column that goes, or has another
    type. Raises what computing raises; DeclarationError (E172), with `lossless`, for values of a
    retyped column that are others when they are converted back. Rows may break a key.
    """
    before = relation.schema
    after = replace(alteration.schema(before), name=name or before.name)
    if alteration.kind == "add":
        assert alteration.type is not None
        code = encode_scalar(alteration.type, alteration.default, engine.dictionary)
        return WidenedRelation.widened(after, relation, engine.arena, code)
    if alteration.kind == "drop":
        place = [column for column, _ in before.columns].index(alteration.column)
        return _narrowed(engine, relation, after, place)
    if alteration.kind == "retype":
        place = [column for column, _ in before.columns].index(alteration.column)
        columns = relation.columns()
        columns[place] = retyped_values(engine, relation, alteration, lossless=lossless)
        return RelationVersion.build(after, engine.arena, columns)
    if alteration.kind == "order":
        columns, names = relation.columns(), [column for column, _ in before.columns]
        columns = [columns[names.index(name)] for name, _ in after.columns]
        return RelationVersion.build(after, engine.arena, columns)
    return relation.renamed(after)


def _narrowed(
    engine: Evaluating, relation: RelationVersion, after: RelationSchema, place: int
) -> RelationVersion:
    """A relation without the column at a place. Rows that differed in it alone are one."""
    if isinstance(relation, WidenedRelation) and place >= (width := relation.narrow.schema.arity):
        made, codes = relation.narrow, relation.codes
        del codes[place - width]
        for number, code in enumerate(codes, 1):
            schema = replace(after, columns=after.columns[: width + number], key=None, choice=())
            made = WidenedRelation.widened(schema, made, engine.arena, code)
        return made.renamed(after)
    columns = relation.columns()
    del columns[place]
    columns = columns or [np.zeros(min(1, relation.count), np.int64)]
    return RelationVersion.build(after, engine.arena, columns)


def in_later_columns(
    engine: Evaluating, relation: RelationVersion, alterations: Sequence[Alteration]
) -> RelationVersion:
    """A relation of an earlier version in the columns that alterations gave it since."""
    for each in alterations:
        relation = altered_relation(engine, relation, each, each.name)
    return relation


def in_order(
    engine: Evaluating, relation: RelationVersion, schema: RelationSchema
) -> RelationVersion:
    """A relation with its columns in the order that they have in a schema. O(n log n) where that is
    another one.
    """
    if relation.schema.columns == schema.columns:
        return relation
    return altered_relation(engine, relation, Alteration.of_order(schema), schema.name)


# ── computed columns ──────────────────────────────────────────────────────────────────────────────
def computed(engine: Evaluating, relation: RelationVersion, alteration: Alteration) -> np.ndarray:
    """Codes of the values that an alteration computes, in the order of the rows. Raises
    DeclarationError (E172) where some row has none, TypeClashError for values of another type, and
    what a rule with the expression would raise.
    """
    schema = replace(relation.schema, name=alteration.relation, key=None, choice=())
    schema = replace(schema, functional=False)
    if not relation.count:
        relation = RelationVersion.empty(schema, engine.arena)
    state = State(Program().declare(schema), Database({schema.name: relation.renamed(schema)}))
    optional = alteration.type is not None and alteration.type.optional
    question = _question(schema, alteration.expression, optional)
    with interrupts_as_such(), engine.dictionary.in_use():
        asked = read(engine, state, question)
        type = asked.schema.columns[-1][1]
        after = alteration.type or type
        if after.required != type.required and not is_number_for(after, type):
            raise TypeClashError(
                f"column `{alteration.column}` of `{schema.name}` is {alteration.type}, but "
                f"{alteration.expression} is {type}",
                hint=_CONVERT.get(after.required.name, "compute a value of that type"),
            )
        context = engine.context({})
        context.keep = False
        found = evaluated(engine, state, asked, context)[asked.schema.name]
    if found.count != relation.count:
        lacking = relation.count - found.count
        raise DeclarationError(
            f"{alteration.expression} has no value for {lacking:,} of {relation.count:,} rows of "
            f"`{schema.name}`",
            code="E172",
            hint="delete or change these rows first, or compute the column otherwise",
        )
    values = found.columns()[-1]
    return values if after.required == type.required else _as_decimals(engine, found, alteration)


_CONVERT = {
    "int": "convert it: to_number(…), floor(…), or to_unsigned(…) for an unsigned",
    "float": "convert it: to_float(…)",
    "str": "convert it: to_string(…)",
    "bool": "write a condition: if(x != 0, true, false)",
    "date": 'convert it: to_date(…) of a timestamp, or date("2024-01-01") + days(…)',
    "timestamp": 'compute it: timestamp("2024-01-01T00:00:00") + hours(…)',
    "decimal": "convert it: to_number(…) or to_float(…), which become decimals where they fit",
}


def is_number_for(after: Type, type: Type) -> bool:
    """Test for numbers that a column of decimals takes where they fit."""
    return after.name == "decimal" and type.name in ("int", "decimal", "float")


def _as_decimals(engine: Evaluating, found: RelationVersion, alteration: Alteration) -> np.ndarray:
    """Computed numbers as values of a column of decimals. Raises DeclarationError (E172) for those
    that do not fit.
    """
    same, place = replace(alteration, expression=alteration.column), found.schema.arity - 1
    return _same_values(engine, found, same, place, lossless=True)


def retyped_values(
    engine: Evaluating, relation: RelationVersion, alteration: Alteration, *, lossless: bool
) -> np.ndarray:
    """Codes of the values of a retyped column, in the order of the rows: the same values, where the
    expression is the column, else what it computes. Raises what computing raises, and
    DeclarationError (E172) for values that the new type does not have; with `lossless` also for
    those that are others when they are converted back, where the user has not said how.
    """
    columns = dict(relation.schema.columns)
    before, after = columns[alteration.column], alteration.type or columns[alteration.column]
    if alteration.expression == alteration.column and has_same(before, after):
        place = [*columns].index(alteration.column)
        return _same_values(engine, relation, alteration, place, lossless=lossless)
    if lossless and alteration.back and relation.count:
        return _lossless_values(engine, relation, alteration)
    return computed(engine, relation, alteration)


def _same_values(
    engine: Evaluating,
    relation: RelationVersion,
    alteration: Alteration,
    place: int,
    *,
    lossless: bool,
) -> np.ndarray:
    """Codes of the values of a column as they are in the altered one."""
    before, codes = relation.schema.columns[place][1], relation.columns()[place]
    after = alteration.type or before
    with engine.dictionary.in_use():
        found = same_values(before, after, codes, engine.dictionary)
    if before.optional and not after.optional and (codes == NULL_CODE).any():
        raise _null(alteration, int((codes == NULL_CODE).sum()))
    lost = found.lost if lossless else np.flatnonzero(found.none)
    if len(lost):
        if before.required == after.required:
            code_of(after, int(codes[lost[0]]))  # the integer that stands for NULL: E220
        row = _row(engine, relation, int(lost[0]))
        new = decode_scalar(after, int(found.codes[lost[0]]), engine.dictionary)
        would = [] if found.none[lost[0]] else [new]
        raise _loss(alteration, [row[place], *would], row, len(lost) - 1, before)
    return found.codes


def _row(engine: Evaluating, relation: RelationVersion, place: int) -> tuple[object, ...]:
    types = [type for _, type in relation.schema.columns]
    codes = [column[place : place + 1] for column in relation.columns()]
    return to_tuples(types, codes, engine.dictionary)[0]


def _null(alteration: Alteration, count: int) -> DeclarationError:
    """The error for rows in which a column that takes NULL no more is NULL."""
    return DeclarationError(
        f"column `{alteration.column}` of `{alteration.relation}` is NULL in {count:,} "
        f"row{'s' * (count != 1)}",
        code="E172",
        hint=f"say what stands there: compute={{{alteration.column!r}: "
        f'"coalesce({alteration.column}, …)"}}',
    )


def _lossless_values(
    engine: Evaluating, relation: RelationVersion, alteration: Alteration
) -> np.ndarray:
    """As `computed`. Raises DeclarationError (E172) for values that are others when they are
    converted back.
    """
    values = computed(engine, relation, alteration)
    before, columns = relation.schema, relation.columns()
    place = [column for column, _ in before.columns].index(alteration.column)
    old_type = before.columns[place][1]
    beside = "old_" + max((name for name, _ in before.columns), key=len)
    named = [*before.columns, (alteration.column, alteration.type or old_type)]
    named[place] = (beside, old_type)  # old values first, so rows stay in their order
    schema = replace(before, columns=tuple(named), key=None, choice=(), functional=False)
    both = RelationVersion.build(schema, engine.arena, [*columns, values])
    again = replace(alteration, type=old_type, expression=alteration.back, back="")
    lost = np.flatnonzero(computed(engine, both, again) != columns[place])
    if len(lost):
        types = [old_type, alteration.type or old_type]
        first = [column[lost[:1]] for column in (columns[place], values)]
        would = to_tuples(types, first, engine.dictionary)[0]
        row = _row(engine, relation, int(lost[0]))
        raise _loss(alteration, would, row, len(lost) - 1, old_type)
    return values


def _loss(
    alteration: Alteration,
    values: Sequence[object],
    row: Sequence[object],
    others: int,
    before: Type,
) -> DeclarationError:
    """The error for a value of a row that would become another one, or none, and for other rows
    like it.
    """
    more = f", and {others:,} more row{'s' * (others != 1)} would lose" if others else ""
    what = f"{values[0]!r} would be {values[1]!r}" if values[1:] else f"{values[0]!r} does not fit"
    where = f" in the row {tuple(row)!r}" if len(row) > 1 else ""
    hint, expression = "change such rows first", alteration.expression
    if expression == alteration.column:
        expression = with_loss(expression, before, alteration.type or before)
    if values[1:] and expression:
        hint += f', or say that it may be: compute={{{alteration.column!r}: "{expression}"}}'
    elif not values[1:]:
        hint += ", or take a type that has these values"
    return DeclarationError(
        f"column `{alteration.column}` of `{alteration.relation}` cannot be {alteration.type} "
        f"without loss{where}: {what}{more}",
        code="E172",
        hint=hint,
    )


def _question(schema: RelationSchema, expression: str, optional: bool) -> tree.Body:
    """The question for the rows and their computed value, which is NULL where the expression has
    none and the column is optional.
    """
    term = expression_of(expression)
    there = [name for name, _ in schema.columns]
    for each in below(term):
        if isinstance(each, tree.Variable) and each.name not in there:
            raise UnknownNameError(
                f"relation `{schema.name}` has no column `{each.name}`, which {expression} names",
                code="E111",
                hint=f"its columns are {', '.join(there)}",
            )
    names = [
        name if functors.NAME.fullmatch(name) else f"column_{place}_"
        for place, (name, _) in enumerate(schema.columns)
    ]
    atom = tree.Atom(schema.name, tuple(map(tree.Variable, names)))
    value = tree.Variable("computed_value_")
    given = _defined(value, term)
    if optional:
        none = tree.Negation(tree.Body(_defined(tree.Variable("any_value_"), term)))
        gap = tree.Comparison("is_null", value, value)
        given = (tree.Disjunction((tree.Body(given), tree.Body((none, gap)))),)
    return tree.Body((atom, *given))


def _defined(value: tree.Variable, term: tree.Term) -> tuple[tree.Literal, ...]:
    """The literals by which a variable has the value of an expression."""
    body = tree.Body((tree.Comparison("=", value, term),))
    return without_conditionals(tree.Rule((), body)).body.literals
