# SPDX-License-Identifier: Apache-2.0
"""Rules that are read off two key orders: which they are, and their readers (`views.bounded`)."""

from __future__ import annotations

from lftj.functions.aggregates import AGGREGATES, COUNTS, TOTALS
from lftj.heads.aggregate_shape import CallShape
from lftj.heads.in_order import reading
from lftj.program.normal_form import AggregateTerm, NormalRule, PositiveAtom, Ref
from lftj.program.rewrites.bounded_parts import is_near, moves
from lftj.tuning import Tuning
from lftj.tuning.aids import ORDER_BOUNDS
from lftj.views.bounded import Bounded


def bounded_of(rule: NormalRule, tuning: Tuning) -> Bounded | None:
    """Reader of a rule's head from two key orders, if it can be read so: one count, or sum of
    whole numbers or decimals, or the row that is next, over the rows of one relation which a single
    comparison bounds by a row of another one, that the head has whole.

    Texts stand in the order of their codes; sums of floats are rounded once, from exact ones.
    """
    calls = [term for term in rule.head if isinstance(term, AggregateTerm)]
    if ORDER_BOUNDS in tuning.without or len(calls) != 1 or len(rule.atoms) != 2:
        return None
    if rule.negated or rule.assignments or len(rule.filters) != 1 or rule.lead is not None:
        return None
    (call,), group = calls, set(rule.group)
    found = [atom for atom in rule.atoms if _columns(atom).keys() == group]
    if not _takes(call, rule) or len(found) != 1:
        return None
    asked, test = found[0], rule.filters[0]
    rows = rule.atoms[asked is rule.atoms[0]]
    if isinstance(test.left, Ref) and test.left.variable in group:
        test = test.turned
    if not (isinstance(test.left, Ref) and isinstance(test.right, Ref)):
        return None
    return _made(rule, call, asked, rows, test.left.variable, test.operator, test.right.variable)


def _made(
    rule: NormalRule,
    call: AggregateTerm,
    asked: PositiveAtom,
    rows: PositiveAtom,
    compared: int,
    side: str,
    bound: int,
) -> Bounded | None:
    of_asked, of_rows = _columns(asked), _columns(rows)
    shared = [variable for variable in of_asked if variable in of_rows]
    nearest = reading(call.function) is not None
    values = [arg.variable for arg in call.args[:1]]
    inside = {compared, *values} <= of_rows.keys() - of_asked.keys()
    if side not in ("<", "<=", ">", ">=") or not inside or bound not in of_asked.keys() - {*shared}:
        return None
    read = [] if call.function in COUNTS else values
    if any(rule.variables[each].type.name == "str" for each in (compared, *read)):
        return None
    if nearest and (call.args[1:] != (Ref(compared),) or not is_near(call.function, side)):
        return None
    wanted = list(dict.fromkeys((*shared, bound, *of_asked)))
    listed = list(dict.fromkeys((*shared, compared, *values, *of_rows)))
    return Bounded(
        rule.relation,
        asked.relation,
        tuple(of_asked[variable] for variable in wanted),
        rows.relation,
        tuple(of_rows[variable] for variable in listed),
        len(shared),
        side,
        listed.index(values[0]) if values else None,
        any(rule.variables[each].type.optional for each in values),
        nearest,
        CallShape(call.function, (), tuple(rule.variables[v].type for v in values), call.type),
        tuple(rule.variables[variable].type for variable in wanted),
        tuple(
            wanted.index(term.variable) if isinstance(term, Ref) else len(wanted)
            for term in rule.head
        ),
        None if values else rule.limit,
    )


def pairs_compared(rule: NormalRule, tuning: Tuning) -> tuple[str, str] | None:
    """The reason for which a rule compares each row that is asked for with all rows on one side of
    its bound, and what to write instead; None where it does not.
    """
    calls = [term for term in rule.head if isinstance(term, AggregateTerm)]
    group, bounded = set(rule.group), False
    asked = [atom for atom in rule.atoms if _columns(atom).keys() == group]
    others = [atom for atom in rule.atoms if atom not in asked[:1]]
    if not asked or not others or not all(_of_all(call) for call in calls):
        return None
    inside = {variable for atom in others for variable in _columns(atom)} - group
    for test in rule.filters:
        ends = {side.variable for side in (test.left, test.right) if isinstance(side, Ref)}
        if test.operator in ("<", "<=", ">", ">=") and ends & inside and ends & group:
            bounded = True
            if any(rule.variables[end].type.name == "str" for end in ends):
                return "texts are not kept in their order", "compare numbers or dates"
    if not bounded or bounded_of(rule, tuning) is not None:
        return None
    if len(others) > 1 or rule.negated or len(rule.filters) > 1 or rule.assignments:
        if rule.assignments:
            what = "what is computed may have no value in rows that no bound takes"
        else:
            what = "there is more than one comparison with the bound, or with what depends on it"
        return what, "make what is within the bound a relation of its own"
    what = f"`{calls[0].function}` of such values is not moved from one row to the next"
    totals = calls[0].function in TOTALS
    return what, "add up decimals or ints" if totals else "ask for counts, sums or the next row"


def _of_all(call: AggregateTerm) -> bool:
    """Test for an aggregate to which all rows matter, not those at an end."""
    if call.function in COUNTS or call.function in TOTALS:
        return True
    about, read = AGGREGATES.get(call.function), reading(call.function)
    return (about is not None and about.fold is not None) or (read is not None and read.counted)


def _takes(call: AggregateTerm, rule: NormalRule) -> bool:
    """Test for an aggregate that is read off key orders; NULL is nothing that is added."""
    return moves(call.function, [rule.variables[arg.variable].type for arg in call.args])


def _columns(atom: PositiveAtom) -> dict[int, int]:
    """The columns of an atom by their variables; none where one has a constant, or a variable
    repeats.
    """
    found = {arg.variable: column for column, arg in enumerate(atom.args) if isinstance(arg, Ref)}
    return found if len(found) == len(atom.args) else {}
