# SPDX-License-Identifier: Apache-2.0
"""Writes the tree as text that parses back to an equal tree.

`parse(print_program(p)) == p` holds for every tree that text can express: bodies inside rules hold
at least one literal, disjunctions at least two branches, and names are names. Trees from the parser
and from the Python expressions are of that kind.
"""

from __future__ import annotations

from lftj.syntax import tree
from lftj.syntax.constants import print_constant, print_string
from lftj.syntax.functors import INFIX, OF_ONE, PRECEDENCE, PREDICATES, PREFIX, RIGHT_ASSOCIATIVE

_TIGHTEST = 100
_WIDTH = 100
"""Rules longer than this have one line for each literal."""


def print_program(program: tree.ParsedProgram) -> str:
    """The whole program, one clause after another; ends in a line break unless it is empty."""
    return "".join(f"{print_clause(clause)}\n" for clause in program.clauses)


def print_clause(clause: tree.Clause) -> str:
    """One fact, rule, declaration or directive."""
    match clause:
        case tree.Rule():
            return _print_rule(clause)
        case tree.Declaration():
            return _print_declaration(clause)
        case tree.TypeAlias():
            return f".type {clause.name} " + (
                f"= {' | '.join([clause.base, *clause.others])}"
                if clause.others or clause.equal
                else f"<: {clause.base}"
            )
        case tree.Pragma(option, value):
            return f".pragma {print_string(option)}" + (f" {print_string(value)}" if value else "")
        case tree.Directive():
            parameters = ", ".join(
                f"{name}={_print_parameter(value)}" for name, value in clause.parameters
            )
            return f".{clause.kind} {clause.relation}" + (f"({parameters})" if parameters else "")


def print_node(node: tree.Node) -> str:
    """The text of any node; this is what `str(node)` gives."""
    match node:
        case tree.ParsedProgram():
            return print_program(node)
        case tree.Rule() | tree.Declaration() | tree.TypeAlias() | tree.Directive() | tree.Pragma():
            return print_clause(node)
        case tree.Column():
            return _print_column(node)
        case tree.Body():
            return print_body(node)
        case (
            tree.Atom()
            | tree.Comparison()
            | tree.Truth()
            | tree.Negation()
            | tree.Disjunction()
            | tree.Choice()
        ):
            return print_literal(node)
        case (
            tree.Variable()
            | tree.Wildcard()
            | tree.Constant()
            | tree.Call()
            | tree.Aggregate()
            | tree.HeadAggregate()
        ):
            return print_term(node)
    return repr(node)


# ── clauses ───────────────────────────────────────────────────────────────────────────────────────
def _print_rule(rule: tree.Rule) -> str:
    heads = ", ".join(print_literal(head) for head in rule.heads)
    if rule.is_fact:
        return f"{heads}."
    line = f"{heads} :- {print_body(rule.body)}."
    if len(line) <= _WIDTH:
        return line
    literals = _print_branch(rule.body, ",\n    ")
    return f"{heads} :-\n    {literals}."


def _print_declaration(declaration: tree.Declaration) -> str:
    qualifiers = "".join(
        [
            *(f" {word}" for word in declaration.qualifiers),
            "" if declaration.key is None else f" key({', '.join(declaration.key)})",
            _print_choice(declaration.choice),
        ]
    )
    if not declaration.functional:
        return (
            f".decl "
            f"{declaration.name}({', '.join(map(_print_column, declaration.columns))}){qualifiers}"
        )
    *arguments, value = declaration.columns
    printed = value.type if value.name == "value" else _print_column(value)
    return (
        f".decl {declaration.name}[{', '.join(map(_print_column, arguments))}]: "
        f"{printed}{qualifiers}"
    )


def _print_choice(domains: tuple[tuple[str, ...], ...]) -> str:
    printed = ", ".join(
        domain[0] if len(domain) == 1 else f"({', '.join(domain)})" for domain in domains
    )
    return f" choice-domain {printed}" if printed else ""


def _print_column(column: tree.Column) -> str:
    default = "" if column.default is None else f" = {print_term(column.default)}"
    return f"{column.name}: {column.type}{default}"


def _print_parameter(value: str | int) -> str:
    return print_string(value) if isinstance(value, str) else str(value)


# ── conditions ────────────────────────────────────────────────────────────────────────────────────
def print_body(body: tree.Body) -> str:
    """A conjunction; the empty one, which only facts have, is `true`."""
    match body.literals:
        case (tree.Disjunction() as only,) if not isinstance(only, tree.LeftJoin):
            return _print_branches(only)
    return _print_branch(body, ", ")


def _print_branch(body: tree.Body, separator: str) -> str:
    return separator.join(print_literal(literal) for literal in body.literals) or "true"


def _print_branches(disjunction: tree.Disjunction) -> str:
    return " ; ".join(_print_branch(branch, ", ") for branch in disjunction.branches)


def print_literal(literal: tree.Literal) -> str:
    """One condition; a disjunction stands in parentheses."""
    match literal:
        case tree.Atom(relation, args, None):
            return f"{relation}({_print_arguments(args)})"
        case tree.Atom(relation, args, value):
            assert value is not None
            return f"{relation}[{_print_arguments(args)}] = {print_term(value)}"
        case tree.Comparison(operator, left, right) if operator in PREDICATES:
            return (
                f"{operator}({_print_arguments((left,) if operator in OF_ONE else (left, right))})"
            )
        case tree.Comparison(operator, left, right):
            return f"{print_term(left)} {operator} {print_term(right)}"
        case tree.Truth(value):
            return "true" if value else "false"
        case tree.Negation(
            tree.Body((tree.Atom() | tree.Negation() | tree.Truth() as only,)), nested=False
        ):
            return f"!{print_literal(only)}"
        case tree.Negation(body):
            return f"!({print_body(body)})"
        case tree.Disjunction():
            mark = "?" if isinstance(literal, tree.LeftJoin) else ""
            return f"({_print_branches(literal)}){mark}"
        case tree.Choice(determining, determined):
            return f"choice(({_print_arguments(determining)}), ({_print_arguments(determined)}))"


def _print_arguments(args: tuple[tree.Term, ...]) -> str:
    return ", ".join(print_term(arg) for arg in args)


# ── terms ─────────────────────────────────────────────────────────────────────────────────────────
def print_term(term: tree.Term) -> str:
    """A term without parentheses round it."""
    match term:
        case tree.Variable(name):
            return name
        case tree.Wildcard():
            return "_"
        case tree.Constant(value):
            return print_constant(value)
        case tree.Call(tree.BY_COLUMN, (tree.Constant(column), value)):
            return f"{column}={print_term(value)}"
        case tree.Conditional(_, args, condition):
            several = len(condition.literals) != 1
            printed = f"({print_body(condition)})" if several else print_body(condition)
            return f"if({printed}, {_print_arguments(args)})"
        case tree.Call(functor, (operand,)) if functor in PREFIX:
            return _print_prefix(functor, operand)
        case tree.Call(functor, (left, right)) if functor in INFIX:
            return _print_infix(functor, left, right)
        case tree.Call("as", (value, tree.Constant(type))):
            return f"as({print_term(value)}, {type})"
        case tree.Call(name, args) | tree.HeadAggregate(name, args):
            return f"{name}({_print_arguments(args)})"
        case tree.Aggregate(function, (_, _, *_) as args, body):
            return f"{function}({_print_arguments(args)}) : {{ {print_body(body)} }}"
        case tree.Aggregate(function, args, body):
            target = args[0] if args else None
            # The target stands in parentheses, since what follows an opening one is always read as
            # the whole target.
            printed = (
                ""
                if target is None
                else print_term(target)
                if isinstance(target, tree.Variable)
                else f"({print_term(target)})"
            )
            return f"{function}{' ' if printed else ''}{printed} : {{ {print_body(body)} }}"


def _print_prefix(functor: str, operand: tree.Term) -> str:
    """A minus before a number would be read as its sign, so such a number stands in parentheses."""
    inner = _print_operand(operand, PRECEDENCE[functor])
    if isinstance(operand, tree.Constant):
        inner = f"({print_term(operand)})"
    return f"-{inner}" if functor == "neg" else f"{functor} {inner}"


def _print_infix(functor: str, left: tree.Term, right: tree.Term) -> str:
    here = PRECEDENCE[functor]
    leans_right = functor in RIGHT_ASSOCIATIVE
    return (
        f"{_print_operand(left, here + leans_right)} {functor} "
        f"{_print_operand(right, here + (not leans_right))}"
    )


def _print_operand(term: tree.Term, least: int) -> str:
    """`term`, in parentheses when it binds more loosely than `least`."""
    printed = print_term(term)
    return printed if _tightness(term) >= least else f"({printed})"


def _tightness(term: tree.Term) -> int:
    match term:
        case tree.Call(functor, args) if functor in PRECEDENCE and len(args) == (
            1 if functor in PREFIX else 2
        ):
            return PRECEDENCE[functor]
        case tree.Constant(int() | float() as value) if str(value).startswith("-"):
            return PRECEDENCE["neg"]
    return _TIGHTEST


tree.printed = print_node
