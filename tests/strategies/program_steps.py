"""Random steps of programs by name: texts that are edited, beside rows and rules that come and go
otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from lftj.syntax import tree
from tests.strategies.histories import Change, changes, relations_of
from tests.strategies.programs import Program, programs, rule_for
from tests.strategies.schemas import BASES, Row, Spec, databases, pick, required, row
from tests.strategies.terms import Draw

EXTRA, READER = "extra", "extra_reader"
VARIANTS: tuple[tuple[str, ...] | None, ...] = (None, ("int",), ("str", "int"), ("str",))
"""Columns of a relation that is in the one program, and declared now so, now otherwise."""


@dataclass(frozen=True)
class SetProgram:
    """A text becomes the program of a name: declared relations, rules and facts."""

    name: str
    specs: tuple[Spec, ...]
    rules: tuple[tree.Rule, ...]
    facts: tuple[tuple[str, Row], ...]
    text: str
    drop: bool

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(f"SetProgram({self.name!r}, drop={self.drop}):\n{self.text}")


Step = SetProgram | Change


@dataclass(frozen=True)
class ProgramHistory:
    """A program of which texts have parts, the rows at first, and what happens then."""

    program: Program
    start: dict[str, list[Row]]
    steps: tuple[Step, ...]


def _renamed(node: Any, suffix: str) -> Any:
    """The same with other names of variables."""
    if isinstance(node, tuple):
        return tuple(_renamed(each, suffix) for each in node)
    if isinstance(node, tree.Variable):
        return tree.Variable(f"{node.name}{suffix}")
    if not isinstance(node, tree.Node):
        return node
    fields = {name: _renamed(each, suffix) for name, each in vars(node).items() if name != "span"}
    return type(node)(**fields)


def _fact(spec: Spec, values: Row) -> tree.Rule:
    terms = [tree.Constant(value) for value in values if value is not None]
    return tree.Rule((spec.atom(terms),), tree.Body(()))


def _steps(reader: Spec) -> list[tree.Rule]:
    """Recursive rules, which stay while a relation that another rule reads comes and goes."""
    node, edge = (next(spec for spec in BASES if spec.name == each) for each in ("node", "edge"))
    x, y = tree.Variable("x"), tree.Variable("y")
    bodies = [tree.Body((node.atom([y]),)), tree.Body((reader.atom([x]), edge.atom([x, y])))]
    return [tree.Rule((reader.atom([y]),), body) for body in bodies]


def _reading(reader: Spec, extra: Spec) -> tree.Rule:
    """A rule that reads the relation of several declarations: its integer, or whether it has rows
    with those of another relation.
    """
    x, link = tree.Variable("x"), next(spec for spec in BASES if spec.name == "link")
    terms = [x if each == "int" else tree.Wildcard() for each in extra.types]
    literals = [extra.atom(terms)]
    if "int" not in extra.types:
        literals.append(link.atom([x, tree.Wildcard()]))
    return tree.Rule((reader.atom([x]),), tree.Body(tuple(literals)))


@st.composite
def set_programs(draw: Draw, program: Program, name: str) -> SetProgram:
    """A text of some of the rules, some with other variables, with facts and its declarations, in
    any order; now and then an empty one.
    """
    if not draw(st.integers(0, 9)):
        return SetProgram(name, (), (), (), "", draw(st.booleans()))
    views = {view.spec.name: view for view in program.views}
    rules = [rule for rule in program.rules if draw(st.integers(0, 3))]
    open_views = [view for view in program.views if not view.aggregates]
    if open_views and draw(st.booleans()):
        rules.append(rule_for(draw, pick(draw, open_views), program.views))
    facts: list[tuple[Spec, Row]] = []
    for spec in draw(st.lists(st.sampled_from(BASES), max_size=3)):
        facts.append((spec, draw(row(tuple(map(required, spec.types))))))
    specs = {each for rule in rules for each in relations_of(rule) if each in views}
    declared = [views[each].spec for each in sorted(specs)]
    if name == "a":
        reader = Spec(READER, ("int",))
        declared.append(reader)
        rules += _steps(reader)
        if (variant := pick(draw, VARIANTS)) is not None:
            key = pick(draw, [None, None, (0,)]) if len(variant) > 1 else None
            declared.append(extra := Spec(EXTRA, variant, key))
            facts += [(extra, draw(row(variant))) for _ in range(draw(st.integers(0, 2)))]
            rules.append(_reading(reader, extra))
    shown = [_renamed(rule, "_b") if draw(st.booleans()) else rule for rule in rules]
    clauses = [*map(str, shown), *(str(_fact(spec, values)) for spec, values in facts)]
    lines = [*(str(spec.declaration) for spec in declared), *draw(st.permutations(clauses))]
    return SetProgram(
        name,
        tuple(declared),
        tuple(rules),
        tuple((spec.name, values) for spec, values in facts),
        pick(draw, ["\n", "\n// said so\n"]).join(lines) + "\n",
        draw(st.booleans()),
    )


@st.composite
def extra_rows(draw: Draw) -> Change:
    """Rows for the relation that is declared in several ways; of one of them."""
    verb, variant = pick(draw, ["insert", "insert", "delete"]), pick(draw, VARIANTS[1:])
    assert variant is not None
    return Change(verb, EXTRA, (draw(row(variant)),))


@st.composite
def program_histories(draw: Draw, max_steps: int = 8) -> ProgramHistory:
    """Texts of two names that have parts of one program, and rows that come and go."""
    program = draw(programs())
    steps = st.one_of(
        *[set_programs(program, "a")] * 3,
        *[set_programs(program, "b")] * 2,
        changes(),
        extra_rows(),
    )
    return ProgramHistory(
        program, draw(databases()), tuple(draw(st.lists(steps, min_size=2, max_size=max_steps)))
    )
