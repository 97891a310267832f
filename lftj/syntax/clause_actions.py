"""Builders for the grammar's rules for clauses: facts, rules, declarations. facts, rules,
declarations. Each method has the name of its grammar rule.
"""

from __future__ import annotations

from dataclasses import replace

from lark import Token

from lftj.errors import Span, UnknownNameError
from lftj.syntax import functors, tree
from lftj.syntax.depth import check_depth
from lftj.syntax.phrases import Application, Children
from lftj.syntax.term_actions import TermActions

# What the grammar's rules for directives build: files, and what is for Soufflé only. Each method
# has the name of its grammar rule.


class DirectiveActions(TermActions):
    """Builds directives."""

    def directive(self, children: Children) -> list[tree.Clause]:
        """Parameters belong to all names since the last parameters, as in `.input a,
        b(IO=file)`.
        """
        keyword, *items = children
        made: list[tree.Directive] = []
        following: tuple[tuple[str, str | int], ...] = ()
        for name, parameters, place in reversed(items):
            following = following if parameters is None else parameters
            made.append(
                tree.Directive(
                    str(keyword)[1:], str(name), following, span=self.between(keyword, place)
                )
            )
        return list(reversed(made))

    def directive_item(self, children: Children) -> object:
        name, parameters = children
        values, place = parameters if isinstance(parameters, tuple) else (None, name)
        return name, values, place

    def parameters(self, children: Children) -> object:
        return tuple(pair for pair in children[1:-1] if pair is not None), children[-1]

    def parameter(self, children: Children) -> tuple[str, str | int]:
        name, _, *sign, value = children
        assert isinstance(value, Token)
        if value.type == "INTEGER":
            number = self.number(value, "-" if sign else "").value
            assert isinstance(number, int)
            return str(name), number
        if sign:
            self.problem("a minus before text", value, "a minus goes before a number only")
        return str(name), str(self.string([value]).value if value.type == "STRING" else value)

    def pragma(self, children: Children) -> list[tree.Clause]:
        """Options of Soufflé that have no effect here are kept for a warning; what is no option is
        refused by name.
        """
        keyword, option, value = children
        name = self.string([option]).value
        if name not in functors.PRAGMAS:
            hint = "leave it out and pass options on the command line or to lftj.connect()"
            self.unsupported(f'`.pragma "{name}"` is', self.between(keyword, option), hint)
            return []
        given = "" if value is None else str(self.string([value]).value)
        return [tree.Pragma(str(name), given, span=self.between(keyword, option))]

    def literal_order(self, children: Children) -> None:
        """One order of a body, in a `.plan`. The order never changes results, and the planner
        chooses one: nothing is kept of it.
        """
        _, opening, *positions, closing = children
        numbers = sorted(int(position) for position in positions if position is not None)
        if numbers != list(range(1, len(numbers) + 1)):
            self.problem(
                "a plan that does not name each atom once",
                self.between(opening, closing),
                "leave it out, or write 1 to the number of atoms",
            )

    def plan(self, children: Children) -> None:
        return None


class ClauseActions(DirectiveActions):
    """Builds clauses; the result of `start` is the list of all clauses."""

    def start(self, children: Children) -> list[tree.Clause]:
        clauses: list[tree.Clause] = []
        for made in children:
            clauses.extend(made if isinstance(made, list) else [made])
        return clauses

    # ── rules ─────────────────────────────────────────────────────────────────────────────────────
    def heads(self, children: Children) -> tuple[tree.Atom, ...]:
        return tuple(atom for phrase in children for atom in self.head(phrase))

    def head(self, phrase: object) -> tuple[tree.Atom, ...]:
        """`phrase` as one atom of a head; empty when it is none."""
        if isinstance(phrase, tree.Atom):
            return (phrase,)
        if isinstance(phrase, Application):
            if not phrase.brackets and phrase.name in functors.RESERVED_RELATIONS:
                hint = f"choose another name for the relation, such as {phrase.name}_"
                self.problem(f"`{phrase.name}` is a word of the language", phrase.span, hint)
                return ()
            return tuple(atom for atom in self.predicate(phrase) if isinstance(atom, tree.Atom))
        if (
            isinstance(phrase, tree.Comparison)
            and isinstance(phrase.left, tree.HeadAggregate)
            and phrase.operator in ("<=", "<")
        ):
            if phrase.operator == "<=":
                self.unsupported(
                    "subsumption (`a(…) <= a(…)`) is",
                    phrase,
                    "keep the best rows with min(…) or max(…) in a rule head",
                )
            else:
                self.problem(
                    "a comparison in a rule head", phrase, "a rule is written head :- body."
                )
            return ()
        if not self.of_component(phrase):
            self.problem("a rule head must be an atom", phrase, "write r(x, y), r() or F[x] = y")
        return ()

    def fact(self, children: Children) -> tree.Rule:
        heads, end = children
        return self.finished(heads, tree.Body(()), self.between_heads(heads, end), None)

    def rule(self, children: Children) -> tree.Rule:
        heads, sign, content, end, _ = children  # a plan, if there is one, changes nothing
        return self.finished(
            heads, self.body(content), self.between_heads(heads, end), self.at(sign)
        )

    def aggregate_rule(self, children: Children) -> tree.Rule:
        """`total(x, t) :- agg<<t = sum(a)>> body`: the aggregate takes the place of `t` in the
        heads.
        """
        heads, sign, _, bindings, _, content, end = children
        assert isinstance(heads, tuple)
        assert isinstance(bindings, dict)
        bound = tuple(_with_aggregates(atom, bindings) for atom in heads)
        used = {
            term.name for atom in heads for term in atom.terms if isinstance(term, tree.Variable)
        }
        for name in bindings.keys() - used:
            self.problem(
                f"the aggregate {name} is not used in the head",
                bindings[name],
                f"put {name} among the arguments of the head",
            )
        return self.finished(
            bound, self.body(content), self.between_heads(heads, end), self.at(sign)
        )

    def bindings(self, children: Children) -> dict[str, tree.HeadAggregate]:
        return dict(children)

    def binding(self, children: Children) -> tuple[str, tree.HeadAggregate]:
        name, _, phrase = children
        if isinstance(phrase, tree.Choice):
            self.misplaced_choice(phrase)
            phrase = Application("count", (), False, self.at(phrase))
        assert isinstance(phrase, Application)
        aggregate = tree.HeadAggregate(phrase.name, phrase.args, span=phrase.span)
        if phrase.brackets or (
            functors.is_functor(phrase.name)
            and (phrase.name not in functors.HEAD_AGGREGATES or len(phrase.args) != 1)
        ):
            self.problem(
                f"`{aggregate}` is not an aggregate",
                phrase,
                f"write agg<<{name} = sum(x)>>, or another aggregate",
            )
        return str(name), aggregate

    def between_heads(self, heads: object, end: object) -> Span:
        """Span from the first head to the final dot."""
        return self.between(heads[0] if isinstance(heads, tuple) and heads else end, end)

    def finished(self, heads: object, body: tree.Body, span: Span, neck: Span | None) -> tree.Rule:
        """The rule, after the checks that need all of it. `neck` is the place of `:-`."""
        assert isinstance(heads, tuple)
        for aggregate in self.unplaced:
            if (
                neck is not None
                and aggregate.span is not None
                and (aggregate.span.line, aggregate.span.column) > (neck.line, neck.column)
            ):
                self.misplaced(aggregate)
        self.unplaced.clear()
        made = tree.Rule(heads, body, span=span)
        if (problem := check_depth(made)) is not None:
            self.errors.append(problem)
        return made

    def misplaced_choice(self, choice: tree.Choice) -> None:
        """Note a choice where an aggregate is expected."""
        self.problem(
            f"`{choice}` is not an aggregate", choice, "write it among the conditions of the body"
        )

    def misplaced(self, aggregate: tree.HeadAggregate) -> None:
        """Note an aggregate of the head, or an unknown function, inside a body."""
        name = aggregate.function
        if name in functors.HEAD_AGGREGATES:
            hint = (
                f"in a body write "
                f"{'count : { … }' if name == 'count' else f'{name} x : {{ … }}'}; {name}(…) "
                f"belongs in the head"
            )
            self.problem(f"the aggregate {name}(…) in a body", aggregate, hint)
            return
        known = ", ".join(sorted(functors.FUNCTORS))
        hint = functors.unknown_hint(
            name,
            functors.FUNCTORS,
            f"an atom is a condition of its own; functions are {known}",
            quote="",
        )
        self.errors.append(
            UnknownNameError(
                f"unknown function {name}(…)", code="E112", span=aggregate.span, hint=hint
            )
        )

    # ── declarations ──────────────────────────────────────────────────────────────────────────────
    def declaration(self, children: Children) -> list[tree.Clause]:
        keyword, names, _, columns, closing, qualifiers, choice = children
        return self.declared(keyword, names, columns or (), False, closing, qualifiers, choice)

    def function_declaration(self, children: Children) -> list[tree.Clause]:
        keyword, names, _, columns, _, value, qualifiers, choice = children
        assert isinstance(columns, tuple | None)
        return self.declared(
            keyword, names, (*(columns or ()), value), True, value, qualifiers, choice
        )

    def declared(
        self,
        keyword: object,
        names: object,
        columns: object,
        functional: bool,
        last: object,
        *rest: object,
    ) -> list[tree.Clause]:
        """One declaration for each name, then the directives that stand among the qualifiers."""
        assert isinstance(names, list)
        assert isinstance(columns, tuple)
        qualifiers, choice = rest
        assert isinstance(qualifiers, list)
        assert isinstance(choice, tuple | None)
        span = self.between(keyword, last)
        self.refuse_qualifiers(qualifiers)
        kept = tuple(str(word) for word in qualifiers if str(word) in functors.QUALIFIERS)
        for name in names:
            if str(name) in functors.RESERVED_RELATIONS:
                self.problem(
                    f"`{name}` is a word of the language",
                    name,
                    f"choose another name for the relation, such as {name}_",
                )
        made: list[tree.Clause] = [
            tree.Declaration(str(name), columns, functional, kept, choice or (), span=span)
            for name in names
        ]
        for word in qualifiers:
            if str(word) in functors.DIRECTIVE_QUALIFIERS:
                made.extend(
                    tree.Directive(str(word), str(name), span=self.at(word)) for name in names
                )
        return made

    def refuse_qualifiers(self, qualifiers: list[Token]) -> None:
        """Note the qualifiers that are not supported, or unknown, or a second structure."""
        structures = [word for word in qualifiers if str(word) in functors.STRUCTURES]
        for word in structures[1:]:
            self.problem(
                f"`{word}` after `{structures[0]}`: a relation is stored in one way",
                word,
                "leave one of them out",
            )
        for word in qualifiers:
            known = functors.QUALIFIERS | functors.DIRECTIVE_QUALIFIERS
            if (refused := functors.UNSUPPORTED_QUALIFIERS.get(str(word))) is not None:
                self.unsupported(refused[0], word, refused[1])
            elif str(word) not in known:
                near = functors.closest(str(word), {*known, "choice-domain"})
                every = (
                    "a clause starts with a relation and its arguments; qualifiers are "
                    + ", ".join(sorted(known))
                )
                self.problem(
                    f"unknown qualifier `{word}`", word, f"did you mean {near}?" if near else every
                )

    def names(self, children: Children) -> Children:
        return children

    def columns(self, children: Children) -> tuple[object, ...]:
        return tuple(children)

    def column(self, children: Children) -> tree.Column:
        name, (kind, place) = children
        return tree.Column(str(name), kind, span=self.between(name, place))

    def value_column(self, children: Children) -> tree.Column:
        *name, (kind, place) = children
        return tree.Column(
            str(name[0]) if name else "value",
            kind,
            span=self.between(name[0], place) if name else place,
        )

    def type(self, children: Children) -> tuple[str, Span]:
        """The name of the type, and its place."""
        if len(children) == 1:
            return str(children[0]), self.at(children[0])
        name, _, precision, scale, closing = children
        return f"{name}({precision},{scale})", self.between(name, closing)

    def qualifiers(self, children: Children) -> Children:
        return children

    def choice_domain(self, children: Children) -> tuple[tuple[str, ...], ...]:
        """A name alone is a domain of one column, names in parentheses are one of several."""
        parts = [part for part in children[1:] if isinstance(part, list) or part.type == "NAME"]
        return tuple(
            tuple(map(str, part)) if isinstance(part, list) else (str(part),) for part in parts
        )

    def type_alias(self, children: Children) -> tree.TypeAlias:
        keyword, name, sign, (base, place) = children
        equal = str(sign) == "="
        return tree.TypeAlias(str(name), base, equal=equal, span=self.between(keyword, place))

    def old_type_alias(self, children: Children) -> tree.TypeAlias:
        """`.type A` and `.symbol_type A` are strings, `.number_type A` is a number, in Soufflé's
        first versions.
        """
        keyword, name = children
        base = "number" if str(keyword).startswith(".number") else "symbol"
        return tree.TypeAlias(str(name), base, span=self.between(keyword, name))

    def union_type(self, children: Children) -> tree.TypeAlias:
        keyword, name, _, (base, _), *others = children
        members = [part for part in others if isinstance(part, tuple)]
        return tree.TypeAlias(
            str(name),
            base,
            tuple(other for other, _ in members),
            span=self.between(keyword, members[-1][1]),
        )

    def record_type(self, children: Children) -> list[tree.Clause]:
        self.unsupported(
            "record types are", children[1], "give the relation one column for each field"
        )
        return []

    def variant_type(self, children: Children) -> list[tree.Clause]:
        self.unsupported(
            "algebraic data types are", children[1], "use one relation for each kind of value"
        )
        return []

    def variant_branch(self, children: Children) -> None:
        return None


def _with_aggregates(atom: tree.Atom, bindings: dict[str, tree.HeadAggregate]) -> tree.Atom:
    """`atom` with aggregates in the place of the variables that `bindings` names."""

    def bound(term: tree.Term) -> tree.Term:
        return bindings.get(term.name, term) if isinstance(term, tree.Variable) else term

    value = None if atom.value is None else bound(atom.value)
    return replace(atom, args=tuple(bound(term) for term in atom.args), value=value)
