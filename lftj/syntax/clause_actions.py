# SPDX-License-Identifier: Apache-2.0
"""Builders for the grammar's rules for clauses: facts, rules, declarations. Each method has the
name of its grammar rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lark import Token

from lftj.errors import LftjError, ParseError, Span
from lftj.errors.nearest import closest
from lftj.functions.aggregates import AGGREGATES
from lftj.syntax import functors, tree
from lftj.syntax.conditionals import without_conditionals
from lftj.syntax.depth import check_depth, children
from lftj.syntax.directive_actions import DirectiveActions
from lftj.syntax.phrases import Application, Children, Refused


class ClauseActions(DirectiveActions):
    """Builds clauses; the result of `start` is the list of all clauses."""

    def clause(self, children: Children) -> object:
        """A clause; its problems are left out where the one before it on its line has some: a dot
        in the midst of a clause is one fault.
        """
        faulty = len(self.errors) > self.read
        if self.follows:
            del self.errors[self.read :]
        rule = isinstance(children[0], tree.Rule)
        self.follows = faulty and rule and self.source.goes_on(self.ended)
        self.next_clause()
        return children[0]

    def unread(self, error: LftjError, within: bool, apart: bool) -> None:
        """Note the error of a clause that cannot be read: `within` it, or behind the clause before,
        and `apart` from that. Of the errors of one clause the first is kept: the next ones may
        follow from it.
        """
        before = self.errors[self.read :]
        kept = [] if self.follows else before
        if within:
            kept = [] if self.follows else [*before, error][:1]
        elif apart or not before:
            kept = [*kept, error]
        self.errors[self.read :] = kept
        self.follows = False
        self.next_clause()

    def start(self, children: Children) -> list[tree.Clause]:
        clauses: list[tree.Clause] = []
        for made in children:
            clauses.extend(made if isinstance(made, list) else [made])
        return clauses

    # ── rules ─────────────────────────────────────────────────────────────────────────────────────
    def heads(self, children: Children) -> tuple[tree.Atom, ...]:
        self.owner = self.source.dotted(self.at(children[0]))
        return tuple(atom for phrase in children for atom in self.head(phrase))

    def head(self, phrase: object) -> tuple[tree.Atom, ...]:
        """`phrase` as one atom of a head; empty when it is none."""
        if isinstance(phrase, tree.Atom):
            return (phrase,)
        if isinstance(phrase, Application):
            if not phrase.brackets and phrase.name in functors.RESERVED_RELATIONS:
                hint = f"choose another name for the relation, such as {phrase.name}_"
                self.out_of_place(f"`{phrase.name}` is a word of the language", phrase.span, hint)
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
                self.misread = True
            else:
                self.out_of_place(
                    "a comparison in a rule head", phrase, "a rule is written head :- body."
                )
            return ()
        if not isinstance(phrase, Refused):
            hint = "write r(x, y), r() or F[x] = y"
            self.out_of_place("a rule head must be an atom", phrase, hint)
        return ()

    def fact(self, children: Children) -> tree.Rule:
        heads, end = children
        if self.owner is not None and (self.misread or not _are_facts(heads)):
            message, hint, code = functors.of_dotted(self.owner[0], "relation")
            self.errors[self.read :] = [
                ParseError(message, code=code, span=self.owner[1], hint=hint)
            ]
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
        unused = bindings.keys() - used if len(self.errors) == self.read else ()
        for name in unused:
            self.out_of_place(
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
        assert isinstance(end, Token)
        self.ended = end.end_pos or 0
        return self.between(heads[0] if isinstance(heads, tuple) and heads else end, end)

    def finished(self, heads: object, body: tree.Body, span: Span, neck: Span | None) -> tree.Rule:
        """The rule, after the checks that need all of it. `neck` is the place of `:-`."""
        assert isinstance(heads, tuple)
        for aggregate in self.unplaced:
            if (
                aggregate.function in functors.HEAD_AGGREGATES
                and not self.misread
                and neck is not None
                and aggregate.span is not None
                and (aggregate.span.line, aggregate.span.column) > (neck.line, neck.column)
            ):
                self.misplaced(aggregate)
        made = tree.Rule(heads, body, span=span)
        problem = check_depth(made)
        if self.conditional_read and not self.whole and problem is None:
            try:
                made = without_conditionals(made)
            except LftjError as error:
                self.errors.append(error)
            problem = check_depth(made)
        if problem is not None:
            self.errors.append(problem)
        return made

    def misplaced_choice(self, choice: tree.Choice) -> None:
        """Note a choice where an aggregate is expected."""
        self.problem(
            f"`{choice}` is not an aggregate", choice, "write it among the conditions of the body"
        )

    def misplaced(self, aggregate: tree.HeadAggregate) -> None:
        """Note an aggregate of the head inside a body."""
        name = aggregate.function
        hint = f"in a body write {AGGREGATES[name].in_braces}; {name}(…) belongs in the head"
        self.problem(f"the aggregate {name}(…) in a body", aggregate, hint)

    # ── declarations ──────────────────────────────────────────────────────────────────────────────
    def declaration(self, children: Children) -> list[tree.Clause]:
        keyword, names, _, columns, closing, qualifiers, choice = children
        return self.declared(keyword, names, columns or (), False, closing, qualifiers, choice)

    def function_declaration(self, children: Children) -> list[tree.Clause]:
        keyword, names, _, columns, _, value, qualifiers, choice = children
        assert isinstance(columns, tuple | None)
        for each in columns or ():
            if isinstance(each, tree.Column) and each.default is not None:
                hint = f"leave `= {each.default}` out: its rows have all arguments"
                self.problem("a default of a function's argument", each, hint)
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
        keys = [each for each in qualifiers if isinstance(each, tuple)]
        qualifiers = [each for each in qualifiers if isinstance(each, Token)]
        self.refuse_qualifiers(qualifiers)
        key = self.only_key(keys, functional)
        kept = tuple(str(word) for word in qualifiers if str(word) in functors.QUALIFIERS)
        for name in names:
            if str(name) in functors.RESERVED_RELATIONS:
                self.problem(
                    f"`{name}` is a word of the language",
                    name,
                    f"choose another name for the relation, such as {name}_",
                )
        made: list[tree.Clause] = [
            tree.Declaration(str(name), columns, functional, kept, choice or (), key, span=span)
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
                if str(word) == "key":
                    hint = "name its columns behind it: key(x), or key(x, y)"
                    self.out_of_place("`key` without columns", word, hint)
                    continue
                near = closest(str(word), {*known, "choice-domain"})
                every = (
                    "a clause starts with a relation and its arguments; qualifiers are "
                    + ", ".join(sorted(known))
                )
                self.out_of_place(
                    f"unknown qualifier `{word}`", word, f"did you mean {near}?" if near else every
                )

    def names(self, children: Children) -> Children:
        return children

    def columns(self, children: Children) -> tuple[object, ...]:
        return tuple(children)

    def column(self, children: Children) -> tree.Column:
        name, (kind, place), *_, default = children
        if default is None:
            return tree.Column(str(name), kind, span=self.between(name, place))
        given = self.term(default)
        return tree.Column(str(name), kind, given, span=self.between(name, default))

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
        name, _, precision, scale, closing, mark = children
        return f"{name}({precision},{scale}){mark or ''}", self.between(name, mark or closing)

    def qualifiers(self, children: Children) -> Children:
        return children

    def key(self, children: Children) -> tuple[tuple[str, ...], Span]:
        """The columns, and the place of the whole."""
        word, _, names, closing = children
        return tuple(map(str, names or ())), self.between(word, closing)

    def only_key(
        self, keys: Sequence[tuple[tuple[str, ...], Span]], functional: bool
    ) -> tuple[str, ...] | None:
        """The key of a declaration. Notes a second one, and that of a function."""
        for columns, span in keys[0 if functional else 1 :]:
            what = f"`key({', '.join(columns)})`"
            if functional:
                message = f"{what} of a function, whose arguments are its key"
                self.problem(message, span, "leave it out")
            else:
                together = ", ".join(dict.fromkeys([*keys[0][0], *columns]))
                hint = f"name all columns of the key in one: key({together})"
                self.problem(f"{what} beside another key", span, hint)
        return keys[0][0] if keys and not functional else None

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


def _are_facts(heads: tuple[tree.Atom, ...]) -> bool:
    """Test for constants, and what is computed of them, in all places."""
    inner = [node for atom in heads for node in children(atom)]
    while inner:
        if any(isinstance(node, (tree.Variable, tree.Wildcard)) for node in inner):
            return False
        inner = [child for node in inner for child in children(node)]
    return True


def _with_aggregates(atom: tree.Atom, bindings: dict[str, tree.HeadAggregate]) -> tree.Atom:
    """`atom` with aggregates in the place of the variables that `bindings` names."""

    def bound(term: tree.Term) -> tree.Term:
        return bindings.get(term.name, term) if isinstance(term, tree.Variable) else term

    value = None if atom.value is None else bound(atom.value)
    return replace(atom, args=tuple(bound(term) for term in atom.args), value=value)
