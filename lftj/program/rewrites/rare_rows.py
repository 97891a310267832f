# SPDX-License-Identifier: Apache-2.0
"""Rows that a negated atom leaves few of: a hidden relation has them, so that no search goes
through all the others.

    v(g) :- item(g, x), other(g, w), x < w, !blocked(x), !blocked(w).     becomes
    v(g) :- open(g, x), free(g, w), x < w.
    open(g, x) :- item(g, x), !blocked(x).     free(g, w) :- other(g, w), !blocked(w).

Where a variable only has to exist, a search ends at the first proof. Where nearly all values are
rejected it comes to many before, and begins again at each change that it depended on. A negated
atom, unlike a positive one, gives no value from which to go on [Veldhuizen, Leapfrog Triejoin,
2014]; the hidden relation does. A changed row of either relation touches the rows that have its
values.

That few are left is told by numbers alone: the negated relation has about as many values as there
are to be looked up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from lftj.program.bindings import Variables, of_expressions, of_literal, of_literals
from lftj.program.checked import CheckedAtom, CheckedHeadAggregate
from lftj.program.hidden import PART
from lftj.program.normal_form import Ref
from lftj.program.rewrites.conjunct import Conjunct
from lftj.program.rewrites.divided_body import is_stuck
from lftj.program.rewrites.elimination_trees import VIEW
from lftj.program.rewrites.rule_program import Copied, Definition, RuleProgram
from lftj.program.statistics_hints import Size
from lftj.types.sources import is_hidden

_REJECTED = 0.9
"""Share of the values of an atom that a negated one rejects, from which on few are left."""


def rare_rows(program: RuleProgram) -> RuleProgram:
    """Hidden relations of the rows that negated atoms leave, where these are few of many."""
    definition = program.finished
    if definition is None or definition.functor is not None or definition.choice:
        return program
    if definition.asked_by or not any(each.negated for each in definition.finished):
        return program
    copied = Copied(program)
    finished = tuple([_restricted(copied, each, definition) for each in definition.finished])
    if all(now is was for now, was in zip(finished, definition.finished, strict=True)):
        return program
    copied.draft.replace_top(finished=finished)
    return copied.draft


def _restricted(copied: Copied, conjunct: Conjunct, definition: Definition) -> Conjunct:
    """The conjunction over the rows that are left of atoms; itself where nothing would be won."""
    atoms = [each for each in conjunct.positive if isinstance(each, CheckedAtom)]
    terms = [term for term in definition.head if not isinstance(term, CheckedHeadAggregate)]
    asked = of_expressions(terms)
    rejecting: dict[CheckedAtom, list[CheckedAtom]] = {}
    for negated in conjunct.negated if len(atoms) > 1 else ():
        if of_literal(negated) - asked and (atom := _rejected(copied.program, negated, atoms)):
            rejecting.setdefault(atom, []).append(negated)
    if not rejecting:
        return conjunct
    gone = [each for some in rejecting.values() for each in some]
    rest = Conjunct([], [each for each in conjunct.negated if each not in gone], conjunct.filters)
    others = Counter(v for each in (*conjunct.positive, *rest.literals) for v in of_literal(each))
    if len(terms) < len(definition.head):  # assignments count
        asked = of_literals(conjunct.literals)
    read = asked | {v for v, times in others.items() if times > 1}
    for literal in conjunct.positive:
        if isinstance(literal, CheckedAtom) and literal in rejecting:
            rest.positive.append(_left(copied, literal, rejecting[literal], read))
        else:
            rest.positive.append(literal)
    return rest


def _left(
    copied: Copied, atom: CheckedAtom, rejecting: Sequence[CheckedAtom], read: Variables
) -> CheckedAtom:
    """The atom of a hidden relation of the rows that are left, with the columns that are read."""
    variables = dict.fromkeys(arg for arg in atom.args if isinstance(arg, Ref))
    columns = tuple(each for each in variables if each.variable in read)
    literals = Conjunct([atom], [*rejecting])
    return CheckedAtom(copied.draft.define_by(PART, columns, literals), columns)


def _rejected(
    program: RuleProgram, negated: CheckedAtom, atoms: Sequence[CheckedAtom]
) -> CheckedAtom | None:
    """The atom most of whose many rows a negated one rejects; None where none is known to be."""
    no, looked_up = _size(program, negated), of_literal(negated)
    for atom in atoms if no is not None else ():
        size = _size(program, atom) if looked_up <= of_literal(atom) else None
        if no is None or size is None or size.matching(atom.args) < VIEW:
            continue
        if size.share_in(atom.args, no, negated.args, looked_up) >= _REJECTED:
            return atom
    return None


def _size(program: RuleProgram, atom: CheckedAtom) -> Size | None:
    """The size of a relation; None where too little is known, or it must not be read apart."""
    size = None if is_hidden(atom.relation) else program.known.sizes(atom.relation)
    if size is None or size.few or size.rows < 0 or is_stuck(program, atom.relation):
        return None
    return size
