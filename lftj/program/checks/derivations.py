# SPDX-License-Identifier: Apache-2.0
"""Relations that rules and facts derive, and what may stand side by side for one: an aggregate
needs all its assignments in one body.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lftj.errors import DeclarationError, LftjError, Span
from lftj.program.additive import adding
from lftj.program.checks.inlining import atoms_of
from lftj.program.cycles import path_between, shown_cycle
from lftj.program.monotone import FUNCTIONS
from lftj.program.normal_form import QUESTION
from lftj.program.schema import Catalog, Derivation, UserAggregateSignature
from lftj.syntax import tree
from lftj.syntax.groups import computes_of_groups


def derive(
    catalog: Catalog, rules: list[tree.Rule], facts: Mapping[str, Span | None]
) -> tuple[Catalog, list[LftjError]]:
    """The catalog with these rules and facts (relations, each with the place of its first fact)
    counted.

    A relation with an aggregate head has no facts, and that one rule, rules with the same `min` or
    `max`, or rules that add up, with the same `sum`, `count` or aggregate of the user's, or none:
    E163 otherwise.
    """
    derivations = dict(catalog.derivations)
    fact_relations = catalog.fact_relations | facts.keys()
    errors: list[LftjError] = []
    sharing = _Sharing(catalog, rules)
    for rule in rules:
        for head in rule.heads:
            known = derivations.get(head.relation, Derivation())
            calls = _calls(head)
            aggregated = bool(calls)
            extreme = calls[0] if len(calls) == 1 and calls[0][1] in FUNCTIONS else None
            computed = computes_of_groups(head)
            sums = None if computed else _sums(calls, known, catalog)
            if (
                known.heads
                and (aggregated or known.aggregated)
                and (extreme is None or extreme != known.extreme)
                and sums is None
            ):
                errors.append(sharing.refused(head, rule, known, calls))
            elif aggregated and head.relation in fact_relations:
                errors.append(sharing.facts_beside(head, rule, extreme, adds_up=sums is not None))
            derivations[head.relation] = Derivation(
                known.heads + 1,
                aggregated or known.aggregated,
                extreme,
                sums,
                known.computed + computed,
            )
    for name in filter(catalog.aggregated, facts):
        message = f"`{name}` is defined by an aggregate and cannot have facts too"
        hint = catalog.rows_beside(name)
        errors.append(DeclarationError(message, code="E163", span=facts[name], hint=hint))
    return replace(catalog, derivations=derivations, fact_relations=fact_relations), errors


def _calls(head: tree.Atom) -> list[tuple[int, str]]:
    """The columns that a head aggregates, each with the function; none of a head that computes
    something of aggregates, which derives plain rows.
    """
    if computes_of_groups(head):
        return []
    return [
        (column, term.function)
        for column, term in enumerate(head.terms)
        if isinstance(term, tree.HeadAggregate)
    ]


def _sums(
    calls: Sequence[tuple[int, str]], known: Derivation, catalog: Catalog
) -> tuple[int, str] | None:
    """The column and function by which the heads of a relation add up, with one more; None where
    they do not, or none aggregates.
    """
    if not calls:
        mixed = known.sums is not None and not _takes_results(known.sums[1], catalog)
        return None if mixed else known.sums
    if len(calls) > 1 or not adding(calls[0][1]) or known.sums not in (None, calls[0]):
        return None
    if known.computed:
        return None
    plain_before = bool(known.heads) and not known.aggregated
    if plain_before and not _takes_results(calls[0][1], catalog):
        return None
    return calls[0] if not known.aggregated or known.sums is not None else None


def _takes_results(function: str, catalog: Catalog) -> bool:
    """Test for an aggregate whose results it takes again, so that a rule may give one to add."""
    user = catalog.aggregates.get(function)
    if user is None:
        return True
    result = user.result_type.required
    return tuple(each.required for each in user.argument_types) == (result,)


_ONLY_EXTREMES = (
    "only rules with the same min or max in the same column may stand side by side, and those with "
    "the same sum, count or aggregate of your own beside rules that give a value to add"
)
_IN_ONE_BODY = (
    "an aggregate needs all its assignments in one body: combine the bodies with `;` in one rule; "
    + _ONLY_EXTREMES
)
_OUT_OF_THE_CYCLE = (
    "only rules with the same min, max, sum, count or aggregate of your own in the same column may "
    "stand in a cycle: "
    "derive what is aggregated in a relation without an aggregate, and aggregate that in one rule"
)


class _Sharing:
    """Errors about relations that an aggregate shares with others, among new rules."""

    def __init__(self, catalog: Catalog, rules: Sequence[tree.Rule]):
        self._catalog, self._rules = catalog, rules

    def refused(
        self, head: tree.Atom, rule: tree.Rule, known: Derivation, calls: Sequence[tuple[int, str]]
    ) -> LftjError:
        """The error for one more rule than may stand beside each other."""
        user = self._catalog.aggregates.get((known.sums or (calls or [(0, "")])[0])[1])
        if user is not None and not (calls and known.aggregated):
            return self._no_value(head, rule, user)
        if head.relation in self._catalog.derivations:
            return self.there_already(head, rule)
        return self.several_rules(head, rule, known.aggregated and bool(calls))

    def _no_value(
        self, head: tree.Atom, rule: tree.Rule, user: UserAggregateSignature
    ) -> LftjError:
        """The error for a rule without an aggregate that does not take what it gives."""
        types = ", ".join(map(str, user.argument_types))
        message = (
            f"`{head.relation}` adds up by `{user.name}`, which takes ({types}) and gives "
            f"{user.result_type}: a rule without it has no value to add"
        )
        return _error(message, head, rule, f"write {user.name}(…) in each rule of the relation")

    def several_rules(self, head: tree.Atom, rule: tree.Rule, aggregated: bool) -> LftjError:
        """The error for more than one rule, all of which aggregate or not."""
        calls = [_calls(each) for each in self._heads(head.relation)]
        widest = max(calls, key=len, default=[])
        if len(widest) > 1 and all(adding(each) or each in FUNCTIONS for _, each in widest):
            hint = self._by_column(head, widest)
        elif {function for each in calls for _, function in each} == {"sum", "count"}:
            hint = "write sum(1) for count(): rules with the same sum in the same column add up"
        else:
            hint = ""
        if cycle := self._cycle(head.relation):
            message = f"`{head.relation}` is defined by an aggregate and depends on itself: {cycle}"
            return _error(message, head, rule, hint or _OUT_OF_THE_CYCLE)
        message = f"`{head.relation}` is defined by an aggregate and has more than one rule"
        if not hint:
            hint = _IN_ONE_BODY if aggregated else f"{self._apart(head)}; {_ONLY_EXTREMES}"
        return _error(message, head, rule, hint)

    def facts_beside(
        self, head: tree.Atom, rule: tree.Rule, extreme: tuple[int, str] | None, *, adds_up: bool
    ) -> LftjError:
        """The error for facts beside the rule of an aggregate."""
        message = f"`{head.relation}` is defined by an aggregate and has facts beside its rule"
        if extreme:
            hint = _as_rules(head, *extreme)
        elif adds_up and self._cycle(head.relation):
            places = ", ".join("…" for _ in head.args)
            fact = f"({places})" if head.value is None else f"[{places}] = …"
            hint = "write each fact as a rule, which adds up with the other: "
            hint += f"{head.relation}{fact} :- true."
        else:
            hint = self._apart(head)
        return _error(message, head, rule, hint)

    def there_already(self, head: tree.Atom, rule: tree.Rule) -> LftjError:
        """The error for another rule beside those that were added before, as when a cell of a
        notebook runs again.
        """
        message = f"`{head.relation}` is defined by an aggregate, and has a rule already"
        hint = (
            "leave this one out, or remove the other first (ws.rules lists all); or combine their "
            "bodies with `;` in one rule"
        )
        if cycle := self._cycle(head.relation):
            message += f"; with this one it depends on itself: {cycle}"
            hint = _OUT_OF_THE_CYCLE
        return _error(message, head, rule, hint)

    def _cycle(self, relation: str) -> str:
        """The way from a relation to itself through the new rules; "" where there is none."""
        reads: dict[str, dict[str, None]] = {}
        for rule in self._rules:
            read = [atom.relation for atom in atoms_of(rule.body)]
            for head in rule.heads:
                reads.setdefault(head.relation, {}).update(dict.fromkeys(read))
        if relation in reads.get(relation, ()):
            return shown_cycle([relation, relation], "")
        members = {name for name in reads if relation in _reached(name, reads)}
        first = next((name for name in reads.get(relation, ()) if name in members), None)
        if first is None:
            return ""
        return shown_cycle([relation, *path_between(first, relation, reads, members)], "")

    def _heads(self, relation: str) -> list[tree.Atom]:
        """The heads of a relation among the new rules."""
        return [head for rule in self._rules for head in rule.heads if head.relation == relation]

    def _by_column(self, head: tree.Atom, calls: Sequence[tuple[int, str]]) -> str:
        """Hint to let each of several aggregates have a relation, which adds up by itself."""
        names = [name for name, _ in self._catalog.relations[head.relation].columns]
        places = [place for place, _ in calls]
        keys = [name for place, name in enumerate(names) if place not in places]
        made = [
            (f"{head.relation}_{names[place]}", names[place], f"{function}(…)")
            for place, function in calls
        ]
        parts = [f"{name}({', '.join([*keys, call])})" for name, _, call in made]
        atoms = [f"{name}({', '.join([*keys, column])})" for name, column, _ in made]
        copied = f"{head.relation}({', '.join(names)}) :- {', '.join(atoms)}"
        return (
            f"let each aggregate have a relation of its own, which several rules may derive, "
            f"{' and '.join(parts)}, and join these: {copied}"
        )

    def _apart(self, head: tree.Atom) -> str:
        """Hint to give an aggregate a relation of its own, which a plain rule copies."""
        number = 1
        while (own := f"{head.relation}_{number}") in self._catalog.relations:
            number += 1
        schema = self._catalog.relations[head.relation]
        columns = tuple(tree.Variable(name) for name, _ in schema.columns)
        if schema.functional:
            copied = tree.Atom(head.relation, columns[:-1], columns[-1])
        else:
            copied = tree.Atom(head.relation, columns)
        copy = tree.Rule((copied,), tree.Body((replace(copied, relation=own),)))
        aggregated = next(
            each
            for rule in self._rules
            for each in rule.heads
            if each.relation == head.relation
            and any(isinstance(term, tree.HeadAggregate) for term in each.terms)
        )
        apart = f"{replace(aggregated, relation=own)} :- …"
        return (
            f"give the aggregate a relation of its own, declared alike: {apart} in its place, and "
            + str(copy).removesuffix(".")
        )


def _reached(name: str, reads: Mapping[str, Mapping[str, None]]) -> set[str]:
    found, ahead = set[str](), [name]
    while ahead:
        new = reads.get(ahead.pop(), {}).keys() - found
        found |= new
        ahead += new
    return found


def _as_rules(head: tree.Atom, column: int, function: str) -> str:
    """Hint for facts beside a head that has this function in this column, such as the start of a
    shortest path.
    """
    args = ", ".join(
        f"{function}(…)" if place == column else "…" for place in range(len(head.terms))
    )
    return f"write each fact as a rule with the same {function}: {head.relation}({args}) :- true."


def _error(message: str, head: tree.Atom, rule: tree.Rule, hint: str) -> LftjError:
    error = DeclarationError(message, code="E163", span=head.span or rule.span, hint=hint)
    return named(error, rule)


def named(error: LftjError, rule: tree.Rule) -> LftjError:
    """The error with the rule's text in its message, where there is no source line to show."""
    if error.span is None and rule.span is not None:
        error.span = rule.span
    if error.span is None:
        asked = any(head.relation == QUESTION for head in rule.heads)
        error.message += f", in the question  {rule.body}" if asked else f", in the rule  {rule}"
    return error
