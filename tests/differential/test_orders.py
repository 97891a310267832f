"""Neither the order of a rule's literals nor the variable order of its join changes what it
derives, nor whether it came as text.
"""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from lftj.syntax import tree
from tests.differential.build import contents, declared, insert, workspace_with
from tests.differential.orders import force_order
from tests.strategies.programs import Program, programs
from tests.strategies.schemas import Row, databases

PROGRAMS = programs(functions=False)
Rows = dict[str, list[Row]]


def shuffled(node: object, by: random.Random) -> object:
    """The same node with the literals of every body in another order."""
    if isinstance(node, tree.Body):
        literals = [shuffled(literal, by) for literal in node.literals]
        return tree.Body(tuple(by.sample(literals, len(literals))))  # type: ignore[arg-type]
    if isinstance(node, tuple):
        return tuple(shuffled(each, by) for each in node)
    if isinstance(node, tree.Node):
        return type(node)(**{name: shuffled(value, by) for name, value in vars(node).items()})
    return node


@given(PROGRAMS, databases(), st.randoms(use_true_random=False))
def test_differential_literals_in_any_order(program: Program, facts: Rows, by: random.Random):
    rules = [shuffled(rule, by) for rule in program.rules]
    other = workspace_with(program, facts, rules)  # type: ignore[arg-type]
    assert contents(other, program) == contents(workspace_with(program, facts), program)


@given(PROGRAMS, databases())
def test_differential_text_and_trees(program: Program, facts: Rows):
    workspace = declared(program)
    workspace.add_rules("\n".join(map(str, program.rules)))
    insert(workspace, facts)
    assert contents(workspace, program) == contents(workspace_with(program, facts), program)


@given(PROGRAMS, databases(), st.randoms(use_true_random=False))
def test_differential_variables_in_any_order(program: Program, facts: Rows, by: random.Random):
    workspace = declared(program)
    for rule in program.rules:
        force_order(workspace, workspace.add_rule(rule), by)
    insert(workspace, facts)
    assert contents(workspace, program) == contents(workspace_with(program, facts), program)
