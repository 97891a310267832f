# SPDX-License-Identifier: Apache-2.0
"""The program of an open transaction: declarations, rules and facts as users give them, whatever
backend the rows are in.
"""

from __future__ import annotations

import os
import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from lftj import frames
from lftj.engine.programs.handles import RuleHandle
from lftj.engine.programs.text_difference import heads_of, relations_of
from lftj.engine.transaction.transaction_life import Committed
from lftj.engine.versions.state import name_of
from lftj.errors import DeclarationError, ParseError, PathOutsideError, Span, TransactionError
from lftj.program.doubts import doubts
from lftj.program.named_program import program_of
from lftj.program.normal_form import NormalRule, RelationSchema
from lftj.program.program import Program
from lftj.syntax import tree
from lftj.syntax.builder import Predicate, to_tree
from lftj.syntax.parser import parse

RelationOrName = str | Predicate


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
                frames.check_all_inside(self.path)
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


class ProgramDraft(ABC):
    """Base of drafts. Errors leave a draft as it was, so the caller may catch them and go on."""

    def __init__(self, program: Program, views: frozenset[str]):
        self.program, self.views = program, views
        self.committed: Committed | None = None
        self.unlocked = False

    def schema(self, relation: RelationOrName) -> RelationSchema:
        """The schema of a relation, those declared in this transaction included."""
        return self.program.catalog.relation(name_of(relation))

    def writable(self, relation: RelationOrName, program: Program | None = None) -> RelationSchema:
        """The schema of a relation that takes rows of its own, in this program. Raises
        TransactionError (E321) for a view.
        """
        schema = (program or self.program).catalog.relation(name_of(relation))
        if schema.name in self.views:
            raise TransactionError(
                f"`{schema.name}` is a view: its rows come from its rules",
                code="E321",
                hint=self._instead_of(schema),
            )
        return schema

    def _instead_of(self, view: RelationSchema) -> str:
        """The change that gives a view rows, in words."""
        heads = {number: heads_of(each.rule) for number, each in self.program.sources.items()}
        rules = [self.program.rule(number) for number, names in heads.items() if view.name in names]
        read = sorted(set().union(*(relations_of(rule.body) for rule in rules)) - {view.name})
        own, columns = f"own_{view.name}", ", ".join(name for name, _ in view.columns)
        change = f"change what its rules read: {', '.join(read)}" if read else "give it a rule"
        return (
            f"{change}. Rows of another origin are loaded into a relation of their own, and a rule "
            f"brings them here: {view.name}({columns}) :- {own}({columns})."
        )

    def declare(self, schema: RelationSchema, *, view: bool) -> None:
        """Declare a relation; the same declaration again changes nothing. Raises DeclarationError
        (E160).
        """
        self.program = self.program.declare(schema)
        if view:
            self.views |= {schema.name}

    def add_rules(
        self,
        text: str | tree.ParsedProgram,
        file: str | None = None,
        facts: str | os.PathLike[str] | None = None,
        allow_paths: bool = False,
    ) -> list[RuleHandle]:
        """Add a program: one handle per rule in the order of the text, then one per relation with
        facts. `.input` is obeyed when `facts` names its folder.
        """
        if not isinstance(text, (str, tree.ParsedProgram)):
            hint = (
                "pass the text itself: Path(…).read_text(); for one Python expression use "
                "add_rule(…)"
            )
            raise ParseError(
                f"expected rule text, found {type(text).__name__}", code="E103", hint=hint
            )
        with self._reading(text), self._doubting():
            parsed = parse(text, file) if isinstance(text, str) else text
            return self._add(parsed, inputs_of(parsed, facts, allow_paths))

    def add_rule(self, rule: object) -> RuleHandle:
        """Add one rule or fact, as text, tree or Python expression."""
        with self._reading(rule), self._doubting():
            return self._add(one_rule(rule), iter(()))[0]

    def restore_programs(self, programs: Mapping[str, Any], rules: Sequence[RuleHandle]) -> None:
        """Have programs hold what a dump says, whose rules are these."""
        if programs:
            relations = self.program.catalog.relations
            numbers = [handle.source or 0 for handle in rules]
            found = {name: program_of(data, relations) for name, data in programs.items()}
            self.program = self.program.with_programs(
                {name: each.renumbered(numbers.__getitem__) for name, each in found.items()}
            )

    @contextmanager
    def _doubting(self) -> Iterator[None]:
        """Warn of rules that come and lose rows that count, or count others than many think."""
        before = self.program
        yield
        after = self.program
        new = range(before.next_source, after.next_source)
        come = [
            source.rule
            for number in new
            if (source := after.sources.get(number)) is not None
            if any(isinstance(each, NormalRule) and each.aggregates for each in source.normal.rules)
        ]
        all_rules = (each.rule for each in after.sources.values())
        for each in doubts(come, all_rules, after.catalog.relations, names=False):
            warnings.warn(str(each), RuntimeWarning, stacklevel=_outside())

    @contextmanager
    def _reading(self, text: object) -> Iterator[None]:
        """Read a program within the limits of this thread."""
        yield

    @abstractmethod
    def _add(self, parsed: tree.ParsedProgram, inputs: Iterator[Input]) -> list[RuleHandle]:
        """Add a program that was read."""


def _outside() -> int:
    """The number of frames from who calls this to the first one that is not ours."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    return level


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in ("lftj", "contextlib")


def inputs_of(
    parsed: tree.ParsedProgram, folder: str | os.PathLike[str] | None, allow_paths: bool
) -> Iterator[Input]:
    """Files named by the `.input` directives, below a folder, with `allow_paths` outside too; none
    without a folder.

    Raises FrameError (E231) for their parameters.
    """
    for clause in parsed.clauses if folder is not None else ():
        if isinstance(clause, tree.Directive) and clause.kind == "input":
            parameters = dict(clause.parameters)
            for problem, hint in frames.unknown_parameters(parameters).values():
                message = f".input {clause.relation}: {problem} is ignored; {hint}"
                warnings.warn(message, RuntimeWarning, stacklevel=2)
            parameters = frames.known_parameters(parameters)
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


def require_program(name: object, text: object) -> None:
    """Raise DeclarationError (E160) for what is no name of a program, ParseError (E103) for what is
    no text.
    """
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise DeclarationError(
            f"a program has a name, found {name!r}", hint='write ws.program(text, name="billing")'
        )
    if not isinstance(text, str):
        raise ParseError(
            f"expected the text of a program, found {type(text).__name__}",
            code="E103",
            hint="pass the text itself: Path(…).read_text()",
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
