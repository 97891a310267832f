# SPDX-License-Identifier: Apache-2.0
"""The rewrites that bring a checked rule to the normal form, in one list, in the order in which
they are asked.

A pass is a function from a program to a program; one that finds nothing to do returns the program
that it was given. The first pass of the list that changes the program is taken, and then the list
is asked again from its beginning, until no pass finds anything. So an inner body is in normal form
before the outer one is gone on with (`rule_program.RuleProgram`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from lftj.program.additive import as_adding
from lftj.program.checked import (
    CheckedAtom,
    CheckedDisjunction,
    CheckedGroups,
    CheckedHead,
    CheckedHeadAggregate,
    CheckedLiteral,
    CheckedRule,
)
from lftj.program.hidden import GROUPED
from lftj.program.monotone import FUNCTIONS
from lftj.program.normal_form import (
    FunctorRule,
    NormalRule,
    Ref,
    RelationSchema,
)
from lftj.program.rewrites.aggregates import aggregates, counting
from lftj.program.rewrites.bounded_parts import bounded_parts, nearest_rows
from lftj.program.rewrites.choices import choices
from lftj.program.rewrites.computed_keys import computed_keys
from lftj.program.rewrites.conjunctive_rules import conjunctive_rules
from lftj.program.rewrites.decided import decided
from lftj.program.rewrites.disjunctions import alternatives, united
from lftj.program.rewrites.distinct_counts import distinct_counts
from lftj.program.rewrites.functor_calls import functor_calls
from lftj.program.rewrites.implied_atoms import implied_atoms
from lftj.program.rewrites.independent_parts import independent_parts
from lftj.program.rewrites.limits import limited
from lftj.program.rewrites.listing import listing, shown_names
from lftj.program.rewrites.max_as_min import max_as_min
from lftj.program.rewrites.negated_bodies import extreme_negations, negations
from lftj.program.rewrites.plain_literals import (
    computed_arguments,
    negated_computations,
    negated_tests,
)
from lftj.program.rewrites.rare_rows import rare_rows
from lftj.program.rewrites.rule_program import Body, Definition, HeadTerm, RuleProgram
from lftj.program.rewrites.variable_elimination import variable_elimination
from lftj.program.statistics_hints import NOTHING, Known
from lftj.scantree.frozen import frozen


def heads(program: RuleProgram) -> RuleProgram:
    """A definition for each head, with the body of the rule.

    A disjunction under the `min` or `max` of a head that the body reads becomes several rules all
    the same: a hidden relation would stand in a cycle with the head, and of several rules the best
    counts.
    """
    if program.open or not program.heads:
        return program
    draft = program.copy()
    for head in program.heads:
        head = _adding(head, program)
        body = program.body if head.groups is None else (_groups(head.groups, draft),)
        made = Definition(
            tuple([counting(arg, program.variables) for arg in head.args]),
            head.relation,
            waiting=(Body((*body, *head.literals)),),
            single=head.aggregates and not _keeps_best(head, body),
            eliminates=not _may_stand_in_cycle(head.args),
        )
        draft.open.insert(0, made)
    draft.heads = ()
    return draft


def _groups(groups: CheckedGroups, draft: RuleProgram) -> CheckedAtom:
    """The atom of a hidden relation of the groups of which a head computes its values."""
    made = Definition(
        tuple([counting(arg, draft.variables) for arg in groups.args]),
        waiting=(Body((*draft.body, *groups.literals)),),
        single=True,
        eliminates=not _may_stand_in_cycle(groups.args),
    )
    return CheckedAtom(draft.define(GROUPED, made), tuple(map(Ref, groups.results)))


def _adding(head: CheckedHead, program: RuleProgram) -> CheckedHead:
    """The head of a rule that gives a value to add, as one that adds it: each assignment counts."""
    if head.aggregates or head.relation not in program.known.adding:
        return head
    return as_adding(head, *program.known.adding[head.relation], program.variables)


def _may_stand_in_cycle(terms: Collection[HeadTerm]) -> bool:
    """Test for an aggregating head that may come to stand in a cycle by later rules."""
    return any(
        isinstance(term, CheckedHeadAggregate) and term.function in FUNCTIONS for term in terms
    )


def _keeps_best(head: CheckedHead, body: Collection[CheckedLiteral]) -> bool:
    """Test for a head that takes one `min` or `max`, and a body that reads its relation."""
    functions = [arg.function for arg in head.args if isinstance(arg, CheckedHeadAggregate)]
    waiting = list(body)
    while waiting and len(functions) == 1 and functions[0] in FUNCTIONS:
        match waiting.pop():
            case CheckedAtom(relation=head.relation):
                return True
            case CheckedDisjunction(branches=branches):
                waiting += [literal for branch in branches for literal in branch.literals]
    return False


@frozen(slots=True)
class Pass:
    """A rewrite, with the reason for it in one sentence, the paper or textbook it is from, and what
    a rule that it is for takes without it (`bench ablation --rewrites`): nothing where the normal
    form needs the rewrite.
    """

    name: str
    rewrite: Callable[[RuleProgram], RuleProgram]
    reason: str
    source: str
    without: str = ""


LLOYD_TOPOR = "Lloyd and Topor, Making Prolog More Expressive, 1984"
MAGIC = "Beeri and Ramakrishnan, On the Power of Magic, 1991"
MUMICK = "Mumick, Pirahesh and Ramakrishnan, The Magic of Duplicates and Aggregates, 1990"
ULLMAN = "Ullman, Principles of Database and Knowledge-Base Systems, 1988"

PASSES = (
    Pass(
        "choices",
        choices,
        "choices of one rule are made together, among the rows of one relation",
        "Hu, Karp, Zhao, Zreika, Wu and Scholz, The Choice Construct in the Soufflé Language, 2021",
    ),
    Pass("heads", heads, "several heads are as many rules with one body", ULLMAN),
    Pass(
        "negated tests",
        negated_tests,
        "the negation of one comparison is the opposite one, and needs no relation",
        LLOYD_TOPOR,
        "2 rules in place of 1",
    ),
    Pass(
        "computed arguments",
        computed_arguments,
        "an atom is searched by variables and constants; what is computed is an equation",
        ULLMAN,
    ),
    Pass(
        "decided disjunctions",
        decided,
        "where one branch holds, whatever the values, the disjunction is an expression",
        "McCarthy, Recursive Functions of Symbolic Expressions, 1960",
        "2 rules in place of 1",
    ),
    Pass(
        "disjunctions",
        alternatives,
        "a join is of conjunctions, so each branch is a rule",
        LLOYD_TOPOR,
    ),
    Pass(
        "united disjunctions",
        united,
        "an assignment that several branches allow counts once; a list of values is joined with",
        MUMICK,
    ),
    Pass(
        "negated computations",
        negated_computations,
        "what reads no relation is computed, and the opposite of its test may be used in a cycle",
        LLOYD_TOPOR,
        "4 rules in place of 3",
    ),
    Pass(
        "extreme negations",
        extreme_negations,
        "that nothing is smaller says that a value is the least: one row for each group",
        "Ganguly, Greco and Zaniolo, Minimum and Maximum Predicates in Logic Programming, 1991",
        "2.6× the steps of an evaluation, 3.0× the steps of small commits",
    ),
    Pass(
        "negations",
        negations,
        "a row is looked up in a relation of what must not be",
        LLOYD_TOPOR,
    ),
    Pass(
        "aggregates",
        aggregates,
        "an aggregate is a relation of its groups, which is kept up to date by itself",
        MUMICK,
    ),
    Pass(
        "functors",
        functor_calls,
        "compiled code knows no strings, so a functor is computed once for all arguments that "
        "occur",
        MAGIC,
    ),
    Pass(
        "computed keys",
        computed_keys,
        "only a column can be looked for: a computed value that links two atoms becomes one",
        "Garcia-Molina, Ullman and Widom, Database Systems: The Complete Book, 2009",
        "140× the steps of an evaluation, 58× the steps of small commits",
    ),
    Pass(
        "max as min",
        max_as_min,
        "a search ends at the first row of a group, so the greatest below a bound comes first",
        "Veldhuizen, Leapfrog Triejoin, 2014",
        "45× the steps of an evaluation, 120× the steps of small commits",
    ),
    Pass(
        "implied atoms",
        implied_atoms,
        "an atom that others of its body imply, or a group that a row asked for, need not be "
        "looked for",
        "Chandra and Merlin, Optimal Implementation of Conjunctive Queries, 1977",
        "2.4× the steps of an evaluation, 22× the steps of small commits",
    ),
    Pass(
        "distinct counts",
        distinct_counts,
        "a value counts once, so what else the body has only has to exist",
        "Yan and Larson, Eager Aggregation and Lazy Aggregation, 1995",
        "680× the steps of an evaluation, 4,700× the steps of small commits",
    ),
    Pass(
        "independent parts",
        independent_parts,
        "parts that no variable links would multiply each other: each is decided by itself",
        "Ramakrishnan, Beeri and Krishnamurthy, Optimizing Existential Datalog Queries, 1988",
        "18× the steps of an evaluation, 73× the steps of small commits",
    ),
    Pass(
        "nearest rows",
        nearest_rows,
        "neither texts nor NULL are in a key order; the row that is next to a bound is",
        "Veldhuizen, Incremental Maintenance for Leapfrog Triejoin, 2013",
        "12× the steps of an evaluation",
    ),
    Pass(
        "bounded parts",
        bounded_parts,
        "what is counted or added up to a bound is read off a key order, where it is one relation",
        "Veldhuizen, Incremental Maintenance for Leapfrog Triejoin, 2013",
        "69× the steps of an evaluation, 9.5× the steps of small commits",
    ),
    Pass(
        "rare rows",
        rare_rows,
        "a search meets all rows that a negated atom rejects, so those that are left of many are a "
        "relation",
        "Veldhuizen, Leapfrog Triejoin, 2014",
        "270× the steps of small commits",
    ),
    Pass(
        "variable elimination",
        variable_elimination,
        "a part of a join gives way to what it leaves of the variables that others ask for, or to "
        "its totals",
        "Abo Khamis, Ngo and Rudra, FAQ, 2016; Yan and Larson, Eager Aggregation and Lazy "
        "Aggregation, 1995; Dechter, Bucket Elimination, 1999",
        "9.0× the steps of an evaluation, 35× the steps of small commits",
    ),
    Pass(
        "conjunctive rules",
        conjunctive_rules,
        "equal variables are one, each equation computes a variable, equal relations are one",
        ULLMAN,
    ),
)
"""All rewrites."""


@frozen(slots=True)
class NormalizedRule:
    """The rules that one rule of the user became, for its heads and for hidden relations, and the
    schemas of the latter.
    """

    rules: tuple[NormalRule | FunctorRule, ...]
    hidden: tuple[RelationSchema, ...]


def normalize(
    rule: CheckedRule,
    source: int,
    known: Known = NOTHING,
    cycle: Collection[str] = (),
    taken: Collection[str] = (),
) -> NormalizedRule:
    """The normal form of one rule; `source` is its id, which names hidden relations.

    `known`: keys and rows of the relations. `cycle`: relations that are known to depend on the
    rule, which hidden ones read only if they must. `taken`: names that no hidden one may have.
    Raises DeclarationError (E166, E168).
    """
    program = _last(RuleProgram.of(rule, source, known, cycle, taken))
    rules = limited((*program.hidden_rules, *program.rules))
    return NormalizedRule(tuple(rules), tuple(program.schemas))


def steps(program: RuleProgram) -> Iterator[tuple[Pass, RuleProgram]]:
    """The passes that change the program, one after the other, with the program after each."""
    while not program.is_done:
        taken, program = _first_change(program)
        yield taken, program


def _last(program: RuleProgram) -> RuleProgram:
    """The program after all passes."""
    return deque(steps(program), maxlen=1).pop()[1]


def _first_change(program: RuleProgram) -> tuple[Pass, RuleProgram]:
    for each in PASSES:
        if (now := each.rewrite(program)) is not program:
            return each, now
    raise AssertionError("a rule that is not in normal form has a pass to come")


class Rewritten(NamedTuple):
    """The rules, as text, after a pass that changed them."""

    name: str
    reason: str
    source: str
    rules: tuple[str, ...]


def trace(
    rule: CheckedRule,
    source: int,
    known: Known = NOTHING,
    cycle: Collection[str] = (),
    taken: Collection[str] = (),
) -> list[Rewritten]:
    """The passes that change a rule, in the order in which they do; see `normalize`. Those that are
    taken several times in a row are told of once.
    """
    program = RuleProgram.of(rule, source, known, cycle, taken)
    names = shown_names(_last(program))
    found, shown = list[Rewritten](), listing(program, names)
    for each, now in steps(program):
        if (rules := listing(now, names)) != shown:
            shown = rules
            if found and found[-1].name == each.name:
                found.pop()
            found.append(Rewritten(each.name, each.reason, each.source, tuple(rules)))
    return found
