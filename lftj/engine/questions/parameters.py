# SPDX-License-Identifier: Apache-2.0
"""Parameters of questions: `?` in a text, `lftj.parameter` in an expression, each for a value that
comes when the question is asked.

A question is read, checked and planned once for all values: its parameters are variables that a
hidden relation of one row binds, and only that row changes from one time to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple, TypeVar

from lftj.errors import ArityError, LftjError, NullValueError, Span, TypeClashError
from lftj.functions import FUNCTORS
from lftj.program.checks.inference import Inference
from lftj.program.normal_form import QUESTION, RelationSchema
from lftj.program.schema import Catalog
from lftj.program.scope import rename_apart
from lftj.syntax import tree
from lftj.syntax.builder import PARAMETER
from lftj.syntax.called import with_calls
from lftj.syntax.depth import below
from lftj.types import STR, Interning, Type, encode_scalar
from lftj.types.sources import Role, Source

Kind = TypeVar("Kind", bound=tree.Node)

PARAMETERS = Source("parameters", Role.HIDDEN)
"""The hidden relation that holds the values."""


_MARK = f"{PARAMETER}'"
"""Begins the names of parameters. No user can write it; messages show what is before the '."""


def is_parameter(name: str) -> bool:
    """Test for the name of a variable that stands for a parameter."""
    return name.startswith(_MARK)


class Parameter(NamedTuple):
    """A parameter: the variable that stands for it, and its place in the text."""

    variable: tree.Variable
    span: Span | None


class Parametrised(NamedTuple):
    """A body whose parameters are variables of their own, in the order of the text."""

    body: tree.Body
    parameters: tuple[Parameter, ...]

    @staticmethod
    def of(body: tree.Body) -> Parametrised:
        """Number the parameters of a body. O(size)."""
        found: list[Parameter] = []

        def numbered(variable: tree.Variable) -> tree.Term:
            if variable.name != PARAMETER:
                return variable
            made = replace(variable, name=f"{_MARK}{len(found) + 1}")
            found.append(Parameter(made, variable.span))
            return made

        return Parametrised(_mapped(body, tree.Variable, numbered), tuple(found))

    def require(self, values: Sequence[object]) -> None:
        """Raise ArityError (E120) unless there is a value for each parameter."""
        wanted = len(self.parameters)
        if len(values) == wanted:
            return
        if not wanted:
            hint = 'write ? for what changes: ws.query("reach(?, y)", 1)'
        else:
            hint = f"give one value for each, in the order of the text: {_call(wanted)}"
        raise ArityError(
            f"the question has {wanted} parameter{'s' * (wanted != 1)}, "
            f"found {len(values)} value{'s' * (len(values) != 1)}",
            span=self.parameters[min(len(values), wanted - 1)].span if wanted else None,
            hint=hint,
        )

    def bound(self) -> tree.Body:
        """The body with an atom that binds the parameters."""
        if not self.parameters:
            return self.body
        atom = tree.Atom(PARAMETERS, tuple(each.variable for each in self.parameters))
        return replace(self.body, literals=(atom, *self.body.literals))

    def with_values(self, values: Sequence[tree.Term]) -> tree.Body:
        """The body with these terms for its parameters."""
        given = {
            each.variable.name: value for each, value in zip(self.parameters, values, strict=True)
        }

        def constant(variable: tree.Variable) -> tree.Term:
            if variable.name not in given:
                return variable
            return replace(given[variable.name], span=variable.span)

        return _mapped(self.body, tree.Variable, constant)

    def schema(self, catalog: Catalog) -> RelationSchema:
        """The relation of the values. Raises TypeClashError (E130) for a parameter of which nothing
        tells the type.
        """
        head = tree.Atom(QUESTION, (tree.HeadAggregate("count", ()),))
        likened: tree.Body = _mapped(self.body, tree.Comparison, _likened)
        rule = tree.Rule(
            (head,), replace(likened, literals=(*likened.literals, *_operands(likened)))
        )
        rule = with_calls(_outer(rule, self.parameters), catalog.functions)
        types = Inference(rename_apart(rule), catalog).types
        columns: list[tuple[str, Type]] = []
        for number, (variable, span) in enumerate(self.parameters, 1):
            if (type := types.get(variable.name)) is None:
                raise TypeClashError(
                    f"nothing tells the type of parameter {number} of the question",
                    span=span,
                    hint="let it stand for a column, or name its type: as(?, number)",
                )
            columns.append((f"p{number}", type))
        return RelationSchema(PARAMETERS, tuple(columns))

    def encoded(
        self, schema: RelationSchema, values: Sequence[object], dictionary: Interning
    ) -> list[int]:
        """The codes of the values. Raises ValueTypeError, NullValueError or ValueRangeError, which
        name the parameter.
        """
        codes: list[int] = []
        try:
            for (_, type), value in zip(schema.columns, values, strict=True):
                codes.append(encode_scalar(type, value, dictionary))
        except LftjError as error:
            number = len(codes)
            error.message += f", for parameter {number + 1} of the question"
            if isinstance(error, NullValueError):
                error.hint = "no row is found by NULL: ask is_null(x) in the question"
            error.span = error.span or self.parameters[number].span
            error.hint = error.hint or f"give a value that {schema.columns[number][1]} has"
            raise
        return codes


def _call(parameters: int) -> str:
    return f"ws.query(question, {', '.join(f'v{n}' for n in range(1, parameters + 1))})"


def _mapped(node: Any, kind: type[Kind], change: Callable[[Kind], tree.Node]) -> Any:
    """A node with every node of a kind in it changed, the inner ones first."""
    if isinstance(node, tuple):
        return tuple(_mapped(each, kind, change) for each in node)
    if not isinstance(node, tree.Node):
        return node
    parts = {each.name: getattr(node, each.name) for each in fields(node) if each.name != "span"}
    made = {name: _mapped(part, kind, change) for name, part in parts.items()}
    if any(made[name] is not part for name, part in parts.items()):
        node = replace(node, **made)
    return change(node) if isinstance(node, kind) else node


# ── types ─────────────────────────────────────────────────────────────────────────────────────────
# A parameter has the type of the column that it stands for, or of what it is compared or computed
# with. Types are found along equations, so for this purpose comparisons and operands are some.


def _likened(comparison: tree.Comparison) -> tree.Comparison:
    return replace(comparison, operator="=")


def _operands(node: tree.Node) -> Iterator[tree.Literal]:
    """Equations of parameters that are operands, with what has the type that is expected there:
    another operand, a value of the type that `as` names, or a string.
    """
    for call in _nodes(node, tree.Call):
        known = FUNCTORS.get(call.functor)
        for place, term in enumerate(call.args):
            if not isinstance(term, tree.Variable) or not is_parameter(term.name):
                continue
            if call.functor == "as":
                yield tree.Comparison("=", term, call)
            elif known is not None and known.types[min(place, len(known.types) - 1)] == STR:
                yield tree.Comparison("=", term, tree.Constant(""))
            else:
                others = call.args[:place] + call.args[place + 1 :]
                yield from (tree.Comparison("=", term, other) for other in others)


def atoms_in(body: tree.Body) -> Iterator[tree.Atom]:
    """The atoms of a body, at any depth."""
    return _nodes(body, tree.Atom)


def _nodes(node: tree.Node, kind: type[Kind]) -> Iterator[Kind]:
    """The nodes of a kind in a node, itself among them."""
    return (each for each in below(node) if isinstance(each, kind))


def _outer(rule: tree.Rule, parameters: Iterable[Parameter]) -> tree.Rule:
    """The rule with its parameters as variables of the outer body, whatever they stand in."""
    own = tuple(tree.Comparison("=", each.variable, each.variable) for each in parameters)
    return replace(rule, body=replace(rule.body, literals=(*rule.body.literals, *own)))
