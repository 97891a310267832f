# SPDX-License-Identifier: Apache-2.0
"""Explaining a row: `ws.explain(…)`."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, overload

from lftj.engine.calls import short_of_memory
from lftj.engine.versions import State
from lftj.errors import ExplanationError, LftjError
from lftj.explain.derivations.derivations import Goal, Rules
from lftj.explain.derivations.version import Version
from lftj.explain.present.asked_row import asked_row, check_count
from lftj.explain.present.checking import check_before_showing
from lftj.explain.present.narrate import Narrator
from lftj.explain.present.proof_search import UNKNOWN, Heights, Node, below
from lftj.explain.present.rivals import Rivals
from lftj.program import describe
from lftj.proofs import Origin, Proof, Step, atom_text
from lftj.scantree import collector_paused, interrupts_as_such
from lftj.syntax import tree

if TYPE_CHECKING:
    from lftj.engine.live import Engine


@overload
def explain(
    engine: Engine, state: State, what: object, row: object, rows: int, proofs: None = None
) -> Proof: ...


@overload
def explain(
    engine: Engine, state: State, what: object, row: object, rows: int, proofs: int
) -> Iterator[Proof]: ...


def explain(
    engine: Engine, state: State, what: object, row: object, rows: int, proofs: int | None = None
) -> Proof | Iterator[Proof]:
    """The smallest proof of a row, or so many proofs; see `Workspace.explain`."""
    check_count("rows", rows)
    relation, values = asked_row(state, what, row)
    found = _proofs(engine, state, relation, values, rows)
    with collector_paused():
        first = next(found)
        if proofs is None:
            found.close()  # its graph goes before anybody looks for garbage
            return first
    check_count("proofs", proofs)
    return islice(chain((first,), found), proofs)


class _Explanation:
    """One row of one version, with the graph below it."""

    def __init__(
        self, engine: Engine, state: State, relation: str, values: Sequence[object], rows: int
    ):
        self.version = Version(engine, state)
        self.goal = self._present(relation, values)
        self.rules = Rules(self.version, rows)
        self.heights = Heights(self.version, self.rules)
        self._rows = rows

    def _present(self, relation: str, values: Sequence[object]) -> Goal:
        goal = self.version.goal(relation, values)
        if not self.version.has(relation, [goal.row])[0]:
            row = tuple(values)
            message = f"{atom_text(relation, row)} is not a row of version "
            raise ExplanationError(
                f"{message}{self.version.state.version}",
                hint=f"ask why it is not: ws.why_not({relation!r}, {row!r})",
            )
        return goal

    def proven(self) -> Node:
        """The row with its best proof. Raises ExplanationError (E363) for a row that has none but
        in a circle: it is there by way of values that are no rows any more.
        """
        root = self.heights.prove(self.goal)
        if root.height == UNKNOWN:
            circular = self.heights.circular(root)
            asked, itself = self._text(self.goal), self._text(circular)
            rests = "rests on itself" if circular == self.goal else f"rests on {itself}, which "
            rests += "" if circular == self.goal else "rests on itself"
            raise ExplanationError(
                f"{asked} {rests}: its values grew out of ones that are no rows any more, and "
                "every derivation from the rows that are left goes in a circle",
                code="E363",
                hint="a step of its cycle gives the value that it takes, as min(v + 1, 5) does of "
                "5; ask about a row that the cycle begins with",
            )
        return root

    def _text(self, goal: Goal) -> str:
        return atom_text(goal.relation, self.version.values(*goal))

    def steps_of(self, heights: Heights, node: Node) -> tuple[Step, ...]:
        """The steps of a row's best proof, which was checked. Raises ProofError (E364)."""
        narrator = Narrator(self.version, Rivals(self.version, self.rules, self._rows))
        steps: list[Step] = []
        for each in below(node, heights.nodes):
            steps.append(narrator.step(each))
            narrator.numbers[each.goal] = len(steps) - 1
        check_before_showing(self.version, steps)
        return tuple(steps)

    def others(self, first: Node) -> Iterator[tuple[Step, ...]]:
        """The steps of proofs that begin with other derivations than the first, by their height.
        None rests on the row itself.
        """
        goal = self.goal
        heights = Heights(self.version, self.rules, without=goal)
        nodes = [
            Node(goal, heights.height_by(each), each)
            for each in self.heights.derivations(goal)
            if each is not first.best
            and all(heights.prove(premise).height < UNKNOWN for premise in each.premises)
        ]
        for node in sorted(nodes, key=lambda node: node.height):
            yield self.steps_of(heights, node)


def _proofs(
    engine: Engine, state: State, relation: str, values: Sequence[object], rows: int
) -> Generator[Proof]:
    made = partial(_Explanation, engine, state, relation, values, rows)
    count = partial(_count, engine, made)
    program = partial(program_text, state, relation)
    since = partial(_origins, engine, state)
    with engine.dictionary.in_use():  # codes stay what they are while somebody asks for more
        with interrupts_as_such(), _short(), engine.looking(), collector_paused():
            found = made()
            root = found.proven()
            smallest, steps = found.heights.smallest, found.steps_of(found.heights, root)
        yield Proof(steps, smallest, program, count, partial(since, steps))
        others = found.others(root)
        while True:
            with interrupts_as_such(), _short(), engine.looking(), collector_paused():
                steps = next(others, None)
            if steps is None:
                return
            yield Proof(steps, False, program, count, partial(since, steps))


def _short() -> AbstractContextManager[None]:
    return short_of_memory("there is no explanation", "ask for fewer rows")


def _count(engine: Engine, made: partial[_Explanation]) -> int:
    with engine.dictionary.in_use(), interrupts_as_such():
        found = made()
        base = found.version.base(found.goal.relation, [found.goal.row])[0]
        return int(base) + len(found.heights.derivations(found.goal))


def _origins(engine: Engine, state: State, steps: Sequence[Step]) -> dict[int, Origin]:
    """Origins of the base facts of a proof. None are known once the files that have them are not
    to be had any more.
    """
    from lftj.explain.present.origins import origins  # only those who ask pay for importing it

    version = Version(engine, state)
    with engine.dictionary.in_use(), interrupts_as_such(), suppress(LftjError):
        facts = {
            version.goal(step.relation, step.row): number
            for number, step in enumerate(steps)
            if step.rule is None
        }
        found = origins(engine, state, facts)
        return {facts[goal]: origin for goal, origin in found.items()}
    return {}


def program_text(state: State, relation: str) -> str:
    """Declarations and rules of everything that a relation is derived from, as text."""
    sources = [source.rule for source in state.program.sources.values()]
    names = relations_below(sources, [relation])
    relations = state.program.catalog.relations
    declared = [f".decl {describe(relations[name])}" for name in names]
    needed = [rule for rule in sources if any(head.relation in names for head in rule.heads)]
    return "\n".join([*declared, *map(str, needed)]) + "\n"


def relations_below(rules: Sequence[tree.Rule], relations: Iterable[str]) -> dict[str, None]:
    """Relations and all that they are derived from, as keys, nearest first."""
    derived: dict[str, list[tree.Rule]] = {}
    for rule in rules:
        for head in rule.heads:
            derived.setdefault(head.relation, []).append(rule)
    names = dict.fromkeys(relations)
    waiting = list(names)
    while waiting:
        for rule in derived.get(waiting.pop(), ()):
            for read in (*(head.relation for head in rule.heads), *reads_of(rule)):
                if read not in names:
                    names[read] = None
                    waiting.append(read)
    return names


def reads_of(*nodes: tree.Node) -> list[str]:
    """The relations that bodies of rules and terms of heads read, at any depth."""
    found: list[str] = []
    waiting: list[object] = []
    for node in nodes:
        if isinstance(node, tree.Rule):
            waiting += [node.body, *(head.terms for head in node.heads)]
        else:
            waiting.append(node)
    while waiting:
        node = waiting.pop()
        if isinstance(node, tree.Atom):
            found.append(node.relation)
        if isinstance(node, tuple):
            waiting += node
        elif isinstance(node, tree.Node):
            waiting += vars(node).values()
    return found
