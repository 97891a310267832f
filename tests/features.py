"""Features that random tests meet: what their programs, commits, merges and questions are made of,
and what the engine did with them.

A generator that never makes something leaves it untested without a word. In the deep profile each
test of `tests/oracle` and `tests/differential` is watched, and the run ends with a table: for each
feature the number of times that each file met it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import pytest

import lftj.api.branching
import lftj.engine.live.engine
from lftj.engine.commit.commit import Outcome, Proposal
from lftj.engine.questions.question import Questions
from lftj.engine.transaction.draft import Draft
from lftj.engine.versions.state import State
from lftj.errors import LftjError, MergeConflictError
from lftj.maintenance.ladder import STRATA
from lftj.program.normal_form import Stratum
from lftj.program.stratification import Stratification
from lftj.scantree.rows import sort_rows
from lftj.syntax import tree
from lftj.types.sources import is_hidden
from lftj.views.ways import WAYS

AGGREGATES = (
    "count", "sum", "min", "max", "mean", "concat", "stddev", "any", "count_distinct", "arg_min",
    "arg_max", "first", "last", "median", "quantile", "quantile_disc", "mode",
)  # fmt: skip
TYPES = ("int", "float", "str", "bool", "date", "timestamp", "decimal")
ALWAYS = (
    *(f"aggregate in head: {each}" for each in AGGREGATES),
    *(f"aggregate in body: {each}" for each in AGGREGATES if each != "concat"),  # it is none there
    *(f"column: {each}" for each in TYPES),
    *(f"{verb}: row that is {there}" for verb in ("insert", "delete") for there in ("new", "old")),
    "atom: one relation twice",
    "choice: in a body",
    "choice: of a relation",
    "commit: refused",
    "commit: rows and rules at once",
    "disjunction",
    "function",
    "heads: several",
    "key",
    "merge",
    "merge: conflict of keys",
    "merge: conflict of rows",
    "negation: of an atom",
    "negation: of a body",
    "question: asked again of another program",
    "question: with parameters",
    "recursion: helpers",
    "recursion: by functors",
    "recursion: linear",
    "recursion: lattice",
    "recursion: mutual",
    "recursion: negation below",
    "recursion: several atoms",
    "rows: of a view",
    "rule: added to rows",
    "rule: removed",
    "upsert",
    *(f"strategy: {each.name}" for each in (*WAYS, *STRATA)),
)
"""Features that the table lists also where nothing met them."""

Met = Counter[str]
WATCHED = ("tests/oracle/", "tests/differential/")


# ── programs ──────────────────────────────────────────────────────────────────────────────────────
def of_clause(node: object) -> Iterator[str]:
    """The features of a clause."""
    for each in _nodes(node):
        match each:
            case tree.HeadAggregate():
                yield f"aggregate in head: {each.function}"
            case tree.Aggregate():
                yield f"aggregate in body: {each.function}"
            case tree.Negation():
                inner = [one for one in _nodes(each) if isinstance(one, tree.Atom)]
                yield f"negation: of {'an atom' if len(inner) == 1 else 'a body'}"
            case tree.Choice():
                yield "choice: in a body"
            case tree.Disjunction():
                yield "disjunction"
            case tree.Call():
                yield f"functor: {each.functor}"
            case tree.Comparison():
                yield f"comparison: {each.operator}"
            case tree.Rule(heads=(_, _, *_)):
                yield "heads: several"
            case tree.Body():
                names = [one.relation for one in each.literals if isinstance(one, tree.Atom)]
                if len(set(names)) < len(names):
                    yield "atom: one relation twice"
            case _:
                pass


def _nodes(node: object) -> Iterator[tree.Node]:
    if isinstance(node, tree.Node):
        yield node
        node = tuple(vars(node).values())
    if isinstance(node, tuple):
        for each in node:
            yield from _nodes(each)


def of_strata(order: Stratification) -> Iterator[str]:
    """The kinds of recursion in a program."""
    for stratum in order.strata:
        if stratum.recursive:
            yield from _of_cycle(stratum)


def _of_cycle(stratum: Stratum) -> Iterator[str]:
    inside = set(stratum.relations)
    if len(inside) > 1:
        yield "recursion: mutual"
    for rule in stratum.rules:
        own = [atom for atom in getattr(rule, "atoms", ()) if atom.relation in inside]
        if own:
            yield f"recursion: {'linear' if len(own) == 1 else 'several atoms'}"
            yield from (f"recursion: {what}" for what in _beside(rule))


def _beside(rule: Any) -> Iterator[str]:
    """Features of a recursive rule other than its atoms."""
    found = {
        "negation below": getattr(rule, "negated", ()),
        "helpers": [atom for atom in getattr(rule, "atoms", ()) if is_hidden(atom.relation)],
        "lattice": getattr(rule, "aggregates", ()),
        "by functors": getattr(rule, "assignments", ()),
    }
    yield from (name for name, there in found.items() if there)


# ── commits ───────────────────────────────────────────────────────────────────────────────────────
def of_proposal(proposal: Proposal, before: State) -> Iterator[str]:
    """The features of what a transaction asks for."""
    program = proposal.program
    if set(before.program.sources) - set(program.sources):
        yield "rule: removed"
    if proposal.changed_rules and any(each.count for _, each in before.database.items()):
        yield "rule: added to rows"
    if proposal.changed_rules and proposal.staged:
        yield "commit: rows and rules at once"
    if program is not before.program:
        yield from of_strata(program.order)
        for schema in program.catalog.relations.values():
            yield from _of_schema(schema)
    for name, staging in proposal.staged.items():
        if program.derives(name):
            yield "rows: of a view"
        for verb, rows in staging._waiting:
            yield verb
            if verb != "upsert":
                old = staging.committed.contains(sort_rows(rows))
                yield from (f"{verb}: row that is {'old' if each else 'new'}" for each in set(old))


def _of_schema(schema: Any) -> Iterator[str]:
    if schema.functional:
        yield "function"
    elif schema.key is not None:
        yield "key"
    if getattr(schema, "choice", ()):
        yield "choice: of a relation"
    for _, type_ in schema.columns:
        yield f"column: {type_.name.partition('(')[0]}"


def of_outcome(outcome: Outcome) -> Iterator[str]:
    """The strategies that followed a commit, and how these ended."""
    for work in outcome.works:
        yield f"strategy: {work.strategy}"
        yield f"outcome: {work.outcome}"


# ── watching ──────────────────────────────────────────────────────────────────────────────────────
@contextmanager
def noted(met: Met) -> Iterator[None]:
    """Within, features that anyone meets are counted."""
    with ExitStack() as stack:
        for owner, name, wrapper in (
            (Draft, "_add", _watch_rules),
            (lftj.engine.live.engine, "carry_out", _watch_commits),
            (lftj.api.branching, "merge_changes", _watch_merges),
            (Questions, "known", _watch_questions),
        ):
            stack.enter_context(patch.object(owner, name, wrapper(getattr(owner, name), met)))
        yield


Function = Callable[..., Any]


def _watch_rules(add: Function, met: Met) -> Function:
    def added(draft: Draft, parsed: tree.ParsedProgram, inputs: Any) -> Any:
        handles = add(draft, parsed, inputs)
        for clause in parsed.clauses:
            met.update(set(of_clause(clause)))
        return handles

    return added


def _watch_commits(carry_out: Function, met: Met) -> Function:
    def carried_out(before: State, proposal: Proposal, context: Any) -> Outcome:
        met.update(set(of_proposal(proposal, before)))
        try:
            outcome = carry_out(before, proposal, context)
        except LftjError:
            met["commit: refused"] += 1
            raise
        met.update(set(of_outcome(outcome)))
        return outcome

    return carried_out


def _watch_merges(merge: Function, met: Met) -> Function:
    def merged(draft: Draft, source: Any) -> None:
        met["merge"] += 1
        try:
            merge(draft, source)
        except MergeConflictError as error:
            for name in error.conflicts:
                keyed = draft.before.schema(name).key is not None
                met[f"merge: conflict of {'keys' if keyed else 'rows'}"] += 1
            raise

    return merged


def _watch_questions(known: Function, met: Met) -> Function:
    def looked_up(questions: Questions, program: Any, question: object) -> Any:
        there = questions._known.get(question) if isinstance(question, str) else None
        if there is not None and there[0] is not program:
            met["question: asked again of another program"] += 1
        found = known(questions, program, question)
        if found is not None and found.values is not None:
            met["question: with parameters"] += 1
        return found

    return looked_up


class Watching:
    """A plugin of pytest: tests of these folders are watched, in whatever process they run."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._met: dict[str, Met] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Watch a test."""
        file = item.nodeid.partition("::")[0]
        if not file.startswith(WATCHED):
            return (yield)
        with noted(self._met.setdefault(file.rpartition("/")[2].removesuffix(".py"), Met())):
            return (yield)

    def pytest_sessionfinish(self) -> None:
        """Tell the process that began this one."""
        if (told := getattr(self._config, "workeroutput", None)) is not None:
            told["features"] = {file: dict(found) for file, found in self._met.items()}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Add what another process met."""
        for file, found in getattr(node, "workeroutput", {}).get("features", {}).items():
            self._met.setdefault(file, Met()).update(found)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print the table."""
        terminalreporter.section("features that random tests met")
        for line in table(self._met):
            terminalreporter.line(line)


def table(met: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """The lines of the table, by feature, from what each file met. First those that none met."""
    features = sorted({*ALWAYS, *(name for each in met.values() for name in each)})
    files = {
        feature: {file: found[feature] for file, found in met.items() if found.get(feature)}
        for feature in features
    }
    for feature in sorted(features, key=lambda feature: (bool(files[feature]), feature)):
        by_file = sorted(files[feature].items(), key=lambda item: -item[1])
        shown = ", ".join(f"{file} {count}" for file, count in by_file[:4])
        more = f" and {len(by_file) - 4} more" if len(by_file) > 4 else ""
        yield f"{sum(files[feature].values()):8d}  {feature:44s} {shown}{more}"
