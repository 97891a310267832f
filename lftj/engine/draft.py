"""What an open transaction has gathered: a program that may differ from the committed one, and
pending operations per relation.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lftj import frames
from lftj.engine.ahead import compile_for
from lftj.engine.commit import Proposal
from lftj.engine.handles import RuleHandle, number_of, without
from lftj.engine.staging import Staging, codes_of, require_key
from lftj.engine.state import name_of
from lftj.errors import (
    ArityError,
    DeclarationError,
    FrameError,
    ParseError,
    PathOutsideError,
    Span,
    TransactionError,
)
from lftj.heads.user import UserAggregate
from lftj.maintenance.inputs.rule_work import RuleWork
from lftj.program.normal_form import RelationSchema
from lftj.program.program import Program
from lftj.program.schema import UserAggregateSignature
from lftj.storage.delta import Columns, no_rows
from lftj.storage.relation import RelationVersion
from lftj.syntax import tree
from lftj.syntax.attention import attending
from lftj.syntax.builder import Predicate, to_tree
from lftj.syntax.parser import parse

if TYPE_CHECKING:
    from lftj.engine.engine import Engine


class Input(NamedTuple):
    """A relation, the file with rows for it, and how to read that; `folder`: the only one from
    which files are read, or None for any.
    """

    relation: str
    path: Path
    options: dict[str, Any]
    folder: Path | None
    span: Span | None

    @contextmanager
    def reading(self) -> Iterator[None]:
        """While the file is read. Raises PathOutsideError (E233) with the directive's place."""
        try:
            with frames.confined(self.folder):
                frames.check_inside(self.path)
                yield
        except PathOutsideError as error:
            raise outside(
                error,
                ".input",
                self.relation,
                self.span,
                "say allow_paths=True if the program is trusted",
            ) from None


def outside(
    error: PathOutsideError, directive: str, relation: str, span: Span | None, remedy: str
) -> PathOutsideError:
    """The error of a directive."""
    return PathOutsideError(
        f"{directive} {relation}: {error.message}", span=span, hint=f"{error.hint}, or {remedy}"
    )


class Draft:
    """The inside of a transaction. Errors leave it as it was, so the caller may catch them and go
    on.
    """

    def __init__(self, engine: Engine):
        self._engine = engine
        self._before = engine.state
        self._program = engine.state.program
        self._views = engine.state.views
        self._aggregates = dict(engine.state.aggregates)
        self._changed_rules: set[str] = set()
        self._staged: dict[str, Staging] = {}
        self._compile_seconds = 0.0

    def proposal(self) -> Proposal:
        """All of it, for the commit."""
        return Proposal(
            self._program,
            self._views,
            self._aggregates,
            frozenset(self._changed_rules),
            self._staged,
        )

    def compilations(self) -> list[RuleWork]:
        """What compiling took that the program needs, for the profile of the commit; mostly
        nothing.
        """
        return (
            [RuleWork("", "", "compiled", compile_seconds=self._compile_seconds)]
            if self._compile_seconds
            else []
        )

    def schema(self, relation: str | Predicate) -> RelationSchema:
        """The schema of a relation, those declared in this transaction included."""
        return self._program.catalog.relation(name_of(relation))

    def staging(self, name: str) -> Staging:
        """The pending operations on a relation."""
        if (staging := self._staged.get(name)) is None:
            known = name in self._before.database
            committed = (
                self._before.base(name)
                if known
                else RelationVersion.empty(self.schema(name), self._engine.arena)
            )
            self._staged[name] = staging = Staging(committed)
        return staging

    # ── rows ──────────────────────────────────────────────────────────────────────────────────────
    def insert(
        self, relation: str | Predicate, data: object, strict: bool, options: dict[str, Any]
    ) -> None:
        """See `Transaction.insert`; `strict`: a row that is there is an error."""
        schema, rows = self._read(relation, data, options)
        if strict:
            rows = self.staging(schema.name).refuse(rows, True, self._engine.dictionary)
        self.staging(schema.name).add("insert", rows)

    def delete(
        self, relation: str | Predicate, data: object, strict: bool, options: dict[str, Any]
    ) -> None:
        """See `Transaction.delete`; `strict`: a row that is not there is an error."""
        try:
            schema, rows = self._read(relation, data, options)
        except (ArityError, FrameError) as error:
            if error.code in ("E120", "E230"):
                error.hint = (
                    f"{error.hint}; by some columns rows are deleted with tx.delete_where(…)"
                )
            raise
        if strict:
            rows = self.staging(schema.name).refuse(rows, False, self._engine.dictionary)
        self.staging(schema.name).add("delete", rows)

    def upsert(self, relation: str | Predicate, data: object, options: dict[str, Any]) -> None:
        """See `Transaction.upsert`."""
        schema, rows = self._read(relation, data, options)
        require_key(schema)
        self.staging(schema.name).add("upsert", rows)

    def delete_where(self, relation: str | Predicate, values: dict[str, object]) -> int:
        """See `Transaction.delete_where`."""
        schema = self.writable(relation)
        codes = codes_of(schema, values, self._engine.dictionary)
        staging = self.staging(schema.name)
        rows = no_rows(schema.arity) if codes is None else staging.where(codes)
        staging.add("delete", rows)
        return len(rows[0])

    def _read(
        self, relation: str | Predicate, data: object, options: dict[str, Any]
    ) -> tuple[RelationSchema, Columns]:
        schema = self.writable(relation)
        return schema, self.coded(schema, data, options)

    def writable(self, relation: str | Predicate, program: Program | None = None) -> RelationSchema:
        """The schema of a relation that takes rows of its own, in this program. Raises
        TransactionError (E321) for a view.
        """
        schema = (program or self._program).catalog.relation(name_of(relation))
        if schema.name in self._views:
            hint = (
                "change what its rules read, or declare it with ws.relation(…) to give it rows "
                "of its own"
            )
            raise TransactionError(
                f"`{schema.name}` is a view: its rows come from its rules", code="E321", hint=hint
            )
        return schema

    def coded(self, schema: RelationSchema, data: object, options: dict[str, Any]) -> Columns:
        """The data as code columns, as stored; `options`: of `frames.read`."""
        frame = frames.read(data, schema.columns, dictionary=self._engine.dictionary, **options)
        return frame.columns if schema.arity else [np.zeros(frame.rows, dtype=np.int64)]

    # ── the program ───────────────────────────────────────────────────────────────────────────────
    def declare(self, schema: RelationSchema, *, view: bool) -> RelationSchema:
        """Declare a relation; the same declaration again changes nothing. Raises DeclarationError
        (E160).
        """
        self._program = self._program.declare(schema)
        if view:
            self._views |= {schema.name}
        self._compile_seconds += compile_for([schema], ())
        return self._program.catalog.relation(schema.name)

    def add_aggregate(self, aggregate: UserAggregate) -> None:
        """See `Workspace.add_aggregate`."""
        if aggregate.result_type is None:
            raise DeclarationError(
                f"aggregate `{aggregate.name}` has no result_type",
                hint="say result_type=lftj.INT or another type",
            )
        if self._aggregates.get(aggregate.name, aggregate) is not aggregate:
            raise DeclarationError(
                f"aggregate `{aggregate.name}` is defined already", hint="choose another name"
            )
        signature = UserAggregateSignature(
            aggregate.name, aggregate.argument_types, aggregate.result_type
        )
        self._program = self._program.with_aggregate(signature)
        self._aggregates[aggregate.name] = aggregate

    def add_rules(
        self,
        text: str | tree.ParsedProgram,
        file: str | None,
        facts: str | os.PathLike[str] | None,
        allow_paths: bool = False,
    ) -> list[RuleHandle]:
        """Add a program; one handle per rule in the order of the text, then one per relation with
        facts.
        """
        if not isinstance(text, (str, tree.ParsedProgram)):
            hint = (
                "pass the text itself: Path(…).read_text(); for one Python expression use "
                "add_rule(…)"
            )
            raise ParseError(
                f"expected rule text, found {type(text).__name__}", code="E103", hint=hint
            )
        with self._reading(text):
            parsed = parse(text, file) if isinstance(text, str) else text
            return self._add(parsed, inputs_of(parsed, facts, allow_paths))

    def add_rule(self, rule: object) -> RuleHandle:
        """Add one rule or fact, as text, tree or Python expression."""
        with self._reading(rule):
            return self._add(one_rule(rule))[0]

    @contextmanager
    def _reading(self, text: object) -> Iterator[None]:
        """Within, a program is read under the limits of this thread."""
        context = self._engine.context({})
        context.check_memory(2 * len(text) if isinstance(text, str) else 0)
        with attending(context.read_on):
            yield

    def _add(self, parsed: tree.ParsedProgram, inputs: Iterable[Input] = ()) -> list[RuleHandle]:
        program, added = self._program.add(
            parsed, partial(self._engine.statistics.repeats, self._before.database)
        )
        rules = [rule.relation for source in added for rule in program.sources[source].normal.rules]
        schemas = [program.stratified.relations[name] for name in rules]
        self._compile_seconds += compile_for(schemas, program.order.strata_of(rules))
        handles = [RuleHandle(source, program.rule(source)) for source in added]
        facts = []
        for name, rows in program.facts.items():
            columns = self.coded(program.catalog.relation(name), rows, {})
            facts.append((name, columns))
            handles.append(RuleHandle(None, None, (name, tuple(rows))))
        for given in inputs:
            with given.reading():
                facts.append(
                    (
                        given.relation,
                        self.coded(
                            self.writable(given.relation, program), given.path, given.options
                        ),
                    )
                )
        self._changed_rules |= _heads(self._program, program.revised) | _heads(
            program, [*added, *program.revised]
        )
        self._program = program
        for name, columns in facts:
            self.staging(name).add("insert", columns)
        return handles

    def remove_rules(self, handles: list[RuleHandle]) -> None:
        """Remove rules, and the facts of fact handles. Raises UnknownNameError (E114) for a rule
        that is not there.
        """
        program, changed = self._program, set[str]()
        for handle in handles:
            if handle.facts is None:
                changed |= _heads(program, [number_of(handle, program)])
            program = without(program, handle)
        # codes may have been given to other strings since, so facts are kept as values
        facts = [
            (handle.facts[0], self.coded(self.schema(handle.facts[0]), handle.facts[1], {}))
            for handle in handles
            if handle.facts
        ]
        self._program = program
        self._changed_rules |= changed
        for name, columns in facts:
            self.staging(name).add("delete", columns)


def inputs_of(
    parsed: tree.ParsedProgram, folder: str | os.PathLike[str] | None, allow_paths: bool
) -> Iterator[Input]:
    """What its `.input` directives name in a folder, with `allow_paths` outside too; without a
    folder they are not obeyed.

    Raises FrameError (E231) for their parameters.
    """
    for clause in parsed.clauses if folder is not None else ():
        if isinstance(clause, tree.Directive) and clause.kind == "input":
            parameters = dict(clause.parameters)
            path = frames.FactsLayout.of(parameters).path(
                clause.relation, folder or "", output=False
            )
            yield Input(
                clause.relation,
                path,
                {"facts": parameters},
                None if allow_paths else Path(folder or ""),
                clause.span,
            )


def one_rule(rule: object) -> tree.ParsedProgram:
    """A rule or fact, from text, tree or Python expression, as a program. Raises ParseError (E103)
    for anything else, and for several.
    """
    if isinstance(rule, str):
        parsed = parse(rule)
        if len(parsed.clauses) != 1 or not isinstance(parsed.clauses[0], tree.Rule):
            raise ParseError(
                "expected one rule",
                code="E103",
                hint="for declarations and several rules use add_rules(text)",
            )
        return parsed
    if not isinstance(node := to_tree(rule), tree.Rule):
        hint = "write head <= body, with & and not `and` in the body; a fact is lftj.rule(head)"
        raise ParseError(f"`{rule!r}` is no rule", code="E103", hint=hint)
    return tree.ParsedProgram((node,))


def _heads(program: Program, sources: Iterable[int]) -> set[str]:
    """The relations that these rules derive, hidden ones included. Raises
    UnknownNameError (E114).
    """
    for source in sources:
        program.rule(source)
    return {rule.relation for source in sources for rule in program.sources[source].normal.rules}
