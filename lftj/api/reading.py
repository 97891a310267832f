# SPDX-License-Identifier: Apache-2.0
"""Reading a version, which workspaces and snapshots do alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, overload

from lftj.api.backend import Version
from lftj.engine.calls.options import with_named_options
from lftj.engine.questions.question import Question
from lftj.engine.versions.result import Result
from lftj.program.named_program import texts_of
from lftj.syntax.builder import Predicate

if TYPE_CHECKING:
    from lftj.explain.plans.analysis import PlanAnalysis
    from lftj.proofs.missing import WhyNot
    from lftj.proofs.proof import Proof


class PreparedQuery:
    """A question with parameters, made by `prepare_query`. Call it with their values."""

    def __init__(self, read: Callable[[], Version], question: Question):
        """For `prepare_query`. `read`: the version to ask."""
        self._read, self._question = read, question

    @property
    def parameters(self) -> int:
        """Number of values that it takes."""
        return len(self._question.parametrised.parameters)

    def __call__(self, *values: object) -> Result:
        """The answers for these values, as `query` gives them. Raises what `query` raises."""
        return self._read().query(self._question, values)

    def __repr__(self) -> str:
        return f"<PreparedQuery {self._question.shown}>"


@with_named_options
class Reading(ABC):
    """Access to the rows of one version at a time."""

    @abstractmethod
    def _read(self) -> Version:
        """The version to read now."""

    def __contains__(self, relation: object) -> bool:
        name = relation.name if isinstance(relation, Predicate) else relation
        return name in self._read().program.catalog.relations

    __iter__ = None
    """Iteration is off, since names index relations, not positions; `relations` lists the names."""

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._read().program.catalog.relations)

    @property
    def programs(self) -> Mapping[str, str]:
        """The texts of the programs by name; see `Workspace.program`."""
        return texts_of(self._read().program.catalog.programs)

    def prepare_query(self, question: object) -> PreparedQuery:
        """Prepare a question with parameters, `?` in a text, `lftj.parameter` in an expression:
        `q = ws.prepare_query("reach(?, y)")`, then `q(1)` is `ws.query("reach(?, y)", 1)`.

        It is read here, once, and checked and planned at once and anew where rules or sizes have
        changed much. Of a workspace it asks the last version of each moment, of a snapshot that of
        the snapshot. Any number of threads may ask. Raises what `query` raises, and TypeClashError
        (E130) for a parameter of which nothing tells the type.
        """
        read = Question(question)
        self._read().check(read)
        return PreparedQuery(self._read, read)

    @overload
    def explain(
        self, what: object, row: object = None, *, rows: int = 3, proofs: None = None
    ) -> Proof: ...

    @overload
    def explain(
        self, what: object, row: object = None, *, rows: int = 3, proofs: int
    ) -> Iterator[Proof]: ...

    def explain(
        self, what: object, row: object = None, *, rows: int = 3, proofs: int | None = None
    ) -> Proof | Iterator[Proof]:
        """Explain why a row is there: `ws.explain("may", ("ann", "x"))`, or with an atom
        `ws.explain('may("ann", "x")')`, or `ws.explain(ws["may"], 0)` for a row of a result.

        A proof of smallest height, from the row down to base facts, in the rules as written. Of an
        aggregate `rows` assignments are shown: the ones that attain a minimum or maximum, the
        largest contributors of a sum. With `proofs` the result is an iterator over so many proofs
        that begin with different rules or bindings, each found when the iterator reaches it.

        Costs in proportion to the proof and to what else derives the rows in it. Each proof is
        checked, up to 1,000 steps, before it is shown. Raises ExplanationError for a row that is
        not there (E361), for what is not one row (E362) and for a row that rests on itself (E363);
        ProofError for a proof that does not hold, by a defect of lftj (E364); UnknownNameError,
        ArityError, ValueTypeError.
        """
        return self._read().explain(what, row, rows, proofs)

    def why_not(
        self, what: object, row: object = None, *, rows: int = 3, changes: int = 2
    ) -> WhyNot:
        """Explain why a row is not there: `ws.why_not("may", ("bob", "x"))`, or with an atom.

        For each rule how far its body can be satisfied, the first literal that fails, and up to
        `rows` assignments and rows near to what it looks for; and the smallest sets of base facts,
        of at most `changes` (0 to 4), that bring the row when added or removed; to replace a row by
        another one of its key is one change. Each is tried out by a dry run, which costs what a
        commit of it would and waits for open transactions.
        `searched` is True where no smaller set does; else `given_up` says what was not tried.

        Raises ExplanationError for a row that is there (E361) and for what is not one row (E362);
        UnknownNameError, ArityError, ValueTypeError, TransactionError (E323).
        """
        return self._read().why_not(what, row, rows, changes)

    def explain_plan(self, what: object, analyze: bool = False) -> PlanAnalysis:
        """Explain how a rule, by its handle or text, or a query is evaluated, level by level, with
        estimated bindings; with `analyze` it is run, and each level has its actual bindings, seeks,
        seconds, and the memory of the key orders it reads.

        A rule is run over the present rows, a recursive one too: as if in one iteration. Costs one
        evaluation for each level, of which nothing is kept. Raises UnknownNameError (E114) for a
        rule that is not here, LimitError, and what a query raises.
        """
        return self._read().explain_plan(what, analyze)

    # ── showing ───────────────────────────────────────────────────────────────────────────────────
    def to_dict(self) -> dict[str, Any]:
        """The relations with their columns, rows and strata, and the rules, as plain data."""
        return self._read().overview().to_dict()

    def to_dot(self) -> str:
        """The relations as a graph for Graphviz, from what is read to what is derived."""
        return self._read().overview().drawing().to_dot()

    def to_networkx(self) -> Any:
        """The relations as a `networkx.DiGraph`, from what is read to what is derived, with their
        `rows`. Needs networkx.
        """
        return self._read().overview().drawing().to_networkx()

    def _repr_html_(self) -> str:
        return self._read().overview().html()
