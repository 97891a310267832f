# SPDX-License-Identifier: Apache-2.0
"""The program as a value: rules come and go, and each change gives a new `Program` or an error that
leaves the old one as it was.

Adding checks and normalises the new clauses only, and stratifies where the new rules change the
order. Besides, it copies dictionaries of names.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import cached_property

from lftj.errors import DeclarationError, LftjError, ProgramErrors, UnknownNameError
from lftj.program.alteration import Alteration
from lftj.program.checked import CheckedProgram, Row
from lftj.program.checks import choices
from lftj.program.checks.derivations import named
from lftj.program.checks.program_checks import check
from lftj.program.faults import at_fault, outside_cycles, with_rules_at_fault
from lftj.program.hidden import of_part, source_of
from lftj.program.hidden_relations import Form, HiddenRelations
from lftj.program.named_program import NamedPrograms
from lftj.program.normal_form import FunctorRule, NormalRule, RelationSchema
from lftj.program.restratify import restratify
from lftj.program.rewrites.pipeline import Rewritten, trace
from lftj.program.schema import Catalog, FunctionSignature, UserAggregateSignature
from lftj.program.source_rule import Normalizer, SourceRule, WrittenRule
from lftj.program.statistics_hints import Known, Sizes, altered_sizes, never
from lftj.program.stratification import Stratification, StratifiedProgram
from lftj.scantree.frozen import frozen
from lftj.scantree.process.garbage import collector_paused
from lftj.syntax import tree
from lftj.syntax.called import with_calls
from lftj.syntax.groups import computes_of_groups
from lftj.types.sources import is_reserved


@frozen
class Program:
    """`catalog`: all names; `sources`: the rules by id; `order`: the strata, and `hidden`: the
    relations that parts of them became.

    `facts` and `directives` are those of the last `add` only, `revised` the older rules to which it
    gave other normal forms.
    """

    catalog: Catalog = field(default_factory=Catalog)
    sources: Mapping[int, SourceRule] = field(default_factory=dict)
    order: Stratification = field(default_factory=Stratification)
    hidden: HiddenRelations = field(default_factory=HiddenRelations)
    facts: Mapping[str, list[Row]] = field(default_factory=dict)
    directives: tuple[tree.Directive, ...] = ()
    next_source: int = 1
    revised: frozenset[int] = frozenset()

    # ── changes ───────────────────────────────────────────────────────────────────────────────────
    def add(self, parsed: tree.ParsedProgram, sizes: Sizes = never) -> tuple[Program, list[int]]:
        """Add the clauses of `parsed`; return also the ids of the new rules, in the order of the
        text. `sizes` decide which normal form suits the rows. Raises ProgramErrors with all
        problems.
        """
        with collector_paused():
            checked = check(parsed, self.catalog)
        self._require_new_sums(checked)
        normalizer = Normalizer(checked, sizes, self.order, self.next_source)
        sources, ids = (
            dict(self.sources),
            [*range(self.next_source, self.next_source + len(checked.rules))],
        )
        errors: list[LftjError] = []
        for number in ids:
            try:
                sources[number] = normalizer.of(number)
            except LftjError as error:
                errors.append(error)
        if errors:
            raise ProgramErrors(errors)
        made = self._accepting(normalizer, sources, ids)
        before, now = self.catalog.derivations, checked.catalog.derivations
        heads = {head.relation for number in ids for head in sources[number].rule.heads}
        names = {
            name
            for name in heads & before.keys()
            if before[name].sums is None is not now[name].sums
        }
        return made._read_again(names, sizes, self.sources), ids

    def _read_again(
        self, names: Collection[str], sizes: Sizes | None, known: Mapping[int, SourceRule]
    ) -> Program:
        """The program in which those of some rules which give plain rows of these relations have
        the normal form that they need now: they add up, or do so no more.
        """
        program, revised = self, set(self.revised)
        for number in [n for n in known if n in self.sources] if names else ():
            source = self.sources[number]
            if any(head.relation in names for head in source.rule.heads):
                program = program._again(number, source.answers if sizes is None else sizes)
                revised.add(number)
        if program is self:
            return self
        return replace(
            program,
            facts=self.facts,
            directives=self.directives,
            next_source=self.next_source,
            revised=frozenset(revised),
        )

    def _require_new_sums(self, checked: CheckedProgram) -> None:
        """Raise ProgramErrors (E163) for a rule of a relation that adds up which is there already,
        as when a cell of a notebook runs again: it would add twice.
        """
        derivations = checked.catalog.derivations
        new = [
            (each.rule, sums[0])
            for each in checked.rules
            if (sums := [h for h in each.rule.heads if derivations[h.relation].sums is not None])
        ]
        if not new:
            return
        seen = {
            self.sources[rule.source].rule
            for stratum in self.order.strata_of({head.relation for _, head in new})
            for rule in stratum.rules
            if rule.source in self.sources
        }
        hint = "leave this one out, or remove the other first (ws.rules lists all)"
        errors: list[LftjError] = []
        for rule, head in new:
            if rule in seen:
                message = f"`{head.relation}` adds up what its rules find, and has a rule already"
                error = DeclarationError(
                    f"{message} that says the same", code="E163", span=head.span, hint=hint
                )
                errors.append(named(error, rule))
            seen.add(rule)
        if errors:
            raise ProgramErrors(errors)

    def suited(self, loaded: Collection[str], sizes: Sizes) -> tuple[Program, frozenset[str]]:
        """Replace normal forms of the rules that waited for these relations' rows, where others
        suit the rows; return also the relations whose rules changed. O(rules that were added when
        there were too few rows).
        """
        program, changed = self, frozenset[str]()
        for number, source in self.sources.items():
            if not source.unsure.isdisjoint(loaded):
                program = program._again(number, sizes)
                if (now := program.sources[number].normal) != source.normal:
                    changed |= {rule.relation for rule in (*source.normal.rules, *now.rules)}
        return program, changed

    def _again(self, number: int, sizes: Sizes) -> Program:
        """Replace the normal form of a rule by the one that suits the rows."""
        source, left = self.sources[number], self.remove(number)
        with collector_paused():
            checked = check(tree.ParsedProgram((source.rule,)), left.catalog)
        normalizer = Normalizer(checked, sizes, left.order, number, self._taken(number))
        found = normalizer.of(number)
        if found.plain == source.plain:
            return replace(
                self, sources={**self.sources, number: replace(source, answers=found.answers)}
            )
        program = left._accepting(normalizer, {**self.sources, number: found}, [number])
        return replace(
            program, facts=self.facts, directives=self.directives, next_source=self.next_source
        )

    def _taken(self, number: int) -> list[str]:
        """Names that no hidden relation of another normal form of a rule may have: views of these
        have other rows, and may have other columns. O(hidden relations).
        """
        return [name for name in self.hidden.schemas if source_of(name) == number]

    def altered(
        self, alteration: Alteration, rules: Mapping[int, tree.Rule], sizes: Sizes
    ) -> Program:
        """Alter a relation. `rules`: all that mention it, by their numbers, as they are to be read
        afterwards. Raises ProgramErrors for one that cannot be.
        """
        if alteration.kind == "default":
            return replace(self, catalog=self.catalog.altered(alteration))
        left, before = self, self.catalog.relation(alteration.relation)
        sizes = altered_sizes(sizes, alteration, before)
        for number in rules:
            left = left.remove(number)
        catalog = left.catalog.altered(alteration)
        order = restratify(left.order, (), dropped=[alteration.relation])
        left = replace(left, catalog=catalog, order=order)
        if catalog.relations[alteration.name].choice:
            left = replace(left, order=restratify(left.order, (), choosing=[alteration.name]))
        for number, rule in rules.items():
            with collector_paused():
                checked = check(tree.ParsedProgram((rule,)), left.catalog)
            normalizer = Normalizer(checked, sizes, left.order, number, self._taken(number))
            found = normalizer.of(number)
            left = left._accepting(normalizer, {**left.sources, number: found}, [number])
        sources = {number: left.sources[number] for number in self.sources}
        return replace(left, sources=sources, facts={}, next_source=self.next_source)

    def noting(self, alteration: Alteration) -> Program:
        """Note an alteration of a relation that is yet to be declared, as it is after it."""
        alterations = (*self.catalog.alterations, alteration)
        return replace(self, catalog=replace(self.catalog, alterations=alterations))

    def _accepting(
        self, normalizer: Normalizer, sources: Mapping[int, SourceRule], ids: Sequence[int]
    ) -> Program:
        """As `_with`, or with normal forms that do not make the cycles which these do."""
        try:
            made = self._with(normalizer.checked, sources, ids)
            return made._outside_recursion(ids, normalizer.sizes)
        except ProgramErrors as problems:
            left, older = self._renormalized(problems, normalizer)
            again = outside_cycles(problems, normalizer, sources, ids)
            if again is None and not older:
                raise
            with suppress(
                ProgramErrors
            ):  # then the cycle is not of our making, and the first problems tell of it
                made = left._with(
                    normalizer.checked, {**(again or sources), **older}, [*older, *ids]
                )
                return replace(
                    made, next_source=self.next_source + len(ids), revised=frozenset(older)
                )
            raise

    def _outside_recursion(self, ids: Sequence[int], sizes: Sizes) -> Program:
        """The program in which the rules of these ids, which are new, close no cycle through a part
        of an older rule's body: what is in the cycle is joined where the rule's head is.
        """
        heads = [rule.relation for number in ids for rule in self.sources[number].normal.rules]
        found = {
            number
            for stratum in self.order.strata_of(heads)
            if stratum.recursive
            for name in stratum.relations
            if of_part(name)
            for number in self.hidden.holders(name)
        }
        again = sorted(found.difference(ids))
        program = self
        for number in again:
            program = program._again(number, sizes)
        revised = [each for each in again if program.sources[each] is not self.sources[each]]
        return (
            replace(
                program,
                facts=self.facts,
                directives=self.directives,
                next_source=self.next_source,
                revised=self.revised.union(revised),
            )
            if again
            else self
        )

    def _renormalized(
        self, problems: ProgramErrors, normalizer: Normalizer
    ) -> tuple[Program, dict[int, SourceRule]]:
        """The program without those older rules at fault that have other normal forms, and these:
        rules mean the same in one text and one by one, whichever of them closes the cycle.
        """
        left, found = self, dict[int, SourceRule]()
        for number, members in at_fault(problems):
            if number in left.sources and number < normalizer.first:
                source, without = left.sources[number], left.remove(number)
                checked = check(tree.ParsedProgram((source.rule,)), without.catalog)
                taken = [*left.hidden.schemas]
                normal = Normalizer(checked, normalizer.sizes, without.order, number, taken)
                other = normal.of(number, members)
                if other.plain != source.plain:
                    left, found[number] = without, other
        return left, found

    def _with(
        self,
        checked: CheckedProgram,
        sources: Mapping[int, SourceRule],
        ids: Sequence[int],
        names: Mapping[int, Mapping[str, str]] | None = None,
    ) -> Program:
        """Add the rules of these ids, which are checked and normalised. `names`: those of hidden
        relations that they had. Raises ProgramErrors.
        """
        forms = {
            number: Form(sources[number].normal, None if names is None else names[number])
            for number in ids
        }
        hidden, forms, made = self.hidden.with_rules(forms)
        sources = dict(sources)
        for number, (normal, shared) in forms.items():
            sources[number] = sources[number].of(normal, shared or {})
        try:
            order = self._restratified(checked.catalog, made)
            choices.refuse_choice_beside_extremes(
                order.strata_of(rule.relation for rule in made),
                {**checked.catalog.relations, **hidden.schemas},
            )
            asked = {each.name: each.asked_by for each in hidden.schemas.values() if each.asked_by}
            if asked:
                schemas = {**checked.catalog.relations, **hidden.schemas}
                choices.refuse_choice_beside_asking(order, asked, schemas)
        except ProgramErrors as problems:
            raise with_rules_at_fault(problems, sources, hidden) from None
        return Program(
            checked.catalog,
            sources,
            order,
            hidden,
            checked.facts,
            checked.directives,
            self.next_source + len(ids),
        )

    def restored(
        self, rules: Sequence[WrittenRule], next_source: int, known: Mapping[int, SourceRule]
    ) -> Program:
        """Restore these rules under their numbers, in the normal forms that they had; there are
        none yet. Those that are `known` stay the same objects. Raises ProgramErrors for rules
        that no program had.
        """
        if functions := self.catalog.functions:
            rules = [each._replace(rule=with_calls(each.rule, functions)) for each in rules]
        with collector_paused():
            checked = check(tree.ParsedProgram(tuple(each.rule for each in rules)), self.catalog)
        sources, names = dict[int, SourceRule](), dict[int, Mapping[str, str]]()
        for place, (number, _, answers, cycle, taken, shared) in enumerate(rules):
            before, names[number] = known.get(number), {}
            if before is not None and before.written(number) == rules[place]:
                sources[number] = before
                continue
            normalizer = Normalizer(checked, answers, self.order, number - place, taken)
            sources[number], names[number] = normalizer.of(number, cycle), shared
        made = self._with(checked, sources, list(sources), names)
        return replace(made, facts={}, next_source=next_source)

    def remove(self, source: int) -> Program:
        """Without one rule; its relations stay declared. Raises UnknownNameError (E114) for an id
        that is not there.
        """
        rule = self.rule(source)
        derivations, plain = dict(self.catalog.derivations), set[str]()
        for head in rule.heads:
            known = derivations.pop(head.relation)
            if known.heads > 1:
                computed = known.computed - computes_of_groups(head)
                left = replace(known, heads=known.heads - 1, computed=computed)
                if known.sums is not None and not self._aggregates(head.relation, source):
                    left = replace(left, aggregated=False, sums=None)
                    plain.add(head.relation)
                derivations[head.relation] = left
        catalog = replace(self.catalog, derivations=derivations)
        sources = dict(self.sources)
        hidden, gone = self.hidden.without(source, sources.pop(source).normal)
        order = self._restratified(catalog, (), gone)
        left = Program(catalog, sources, order, hidden, next_source=self.next_source)
        return left._read_again(plain, None, sources)

    def _aggregates(self, relation: str, without: int) -> bool:
        """Test for a head of a relation with an aggregate, in other rules than one. O(rules)."""
        return any(
            isinstance(term, tree.HeadAggregate)
            for number, each in self.sources.items()
            for head in (each.rule.heads if number != without else ())
            for term in (head.terms if head.relation == relation else ())
        )

    def _restratified(
        self,
        catalog: Catalog,
        rules: Sequence[NormalRule | FunctorRule],
        removed: Sequence[NormalRule | FunctorRule] = (),
    ) -> Stratification:
        """The strata under this catalog with more rules, or fewer. A relation that chooses has one,
        be it with rules or without.
        """
        names = {*catalog.since(self.catalog), *(rule.relation for rule in (*rules, *removed))}
        choosing = sorted(
            name for name in names if name in catalog.relations and catalog.relations[name].choice
        )
        return restratify(self.order, rules, removed, choosing)

    def declare(self, schema: RelationSchema) -> Program:
        """Add a relation. Raises DeclarationError if it is declared already, differently."""
        if is_reserved(schema.name):
            raise DeclarationError(
                f"{schema.name!r} is not a name for a relation", hint="use letters, digits and _"
            )
        catalog = self.catalog.declare(schema)
        return replace(
            self, catalog=catalog, order=self._restratified(catalog, ()), facts={}, directives=()
        )

    def undeclare(self, relations: Collection[str], types: Collection[str]) -> Program:
        """Remove relations, which no rule mentions any more, and types."""
        catalog = self.catalog.undeclare(relations, types)
        order = restratify(self.order, (), dropped=relations)
        return replace(self, catalog=catalog, order=order, facts={}, directives=())

    def with_dropped(self, relations: Collection[str], version: int) -> Program:
        """Note relations as dropped by the commit of a version."""
        dropped = {**self.catalog.dropped, **dict.fromkeys(sorted(relations), version)}
        return replace(self, catalog=replace(self.catalog, dropped=dropped))

    def with_programs(self, programs: NamedPrograms) -> Program:
        """Replace the programs of users, by name."""
        return replace(self, catalog=replace(self.catalog, programs=programs))

    def with_programs_less(self, rules: Collection[int]) -> Program:
        """Have programs of users hold none of these rules any more."""
        programs = self.catalog.programs
        return self.with_programs(
            {name: program.without_rules(rules) for name, program in programs.items()}
        )

    def with_aggregate(self, signature: UserAggregateSignature) -> Program:
        """Add a user-defined aggregate. Raises DeclarationError."""
        return replace(
            self, catalog=self.catalog.with_aggregate(signature), facts={}, directives=()
        )

    def with_function(self, signature: FunctionSignature) -> Program:
        """Add a user's function, or have it in the place of one. Raises DeclarationError."""
        catalog = self.catalog.with_function(signature)
        return replace(self, catalog=catalog, facts={}, directives=())

    def calling(self, functions: Collection[str]) -> frozenset[str]:
        """The hidden relations whose rows these functions of users make. O(rules)."""
        return frozenset(
            rule.relation
            for rule in (self.rules if functions else ())
            if isinstance(rule, FunctorRule) and rule.functor in functions
        )

    def revised_since(self, before: Program) -> frozenset[str]:
        """The relations whose rules are others than in an earlier program. O(rules)."""
        changed = [
            [each.normal for each in (before.sources.get(number), source) if each is not None]
            for number, source in {**dict.fromkeys(before.sources), **self.sources}.items()
        ]
        return frozenset(
            rule.relation
            for forms in changed
            if len(forms) == 1 or forms[0] != forms[1]
            for form in forms
            for rule in form.rules
        )

    # ── what is there ─────────────────────────────────────────────────────────────────────────────
    def rule(self, source: int) -> tree.Rule:
        """The rule as the user wrote it. Raises UnknownNameError (E114)."""
        if source not in self.sources:
            raise UnknownNameError(
                f"there is no rule number {source}",
                code="E114",
                hint="it was removed, or belongs to another workspace",
            )
        return self.sources[source].rule

    def passes(self, source: int) -> list[Rewritten]:
        """The rewrites that brought a rule to its normal form. Raises UnknownNameError (E114)."""
        rule, made = self.rule(source), self.sources[source]
        checked = check(tree.ParsedProgram((rule,)), self.remove(source).catalog)
        known = Known(checked.catalog.relations, made.answers, made.answers.depends)
        return trace(checked.rules[0], source, known, made.cycle, made.taken)

    def derives(self, name: str) -> bool:
        """Test for a relation that has rules in normal form (a rule that never holds has none), or
        chooses among the rows it is given.
        """
        return name in self.order.place

    @property
    def rules(self) -> Sequence[NormalRule | FunctorRule]:
        """All rules in normal form, those for hidden relations included."""
        found = [rule for each in self.sources.values() for rule in each.normal.rules]
        return [*{id(rule): rule for rule in found}.values()]

    @cached_property
    def asked(self) -> Mapping[str, str]:
        """The hidden relations without rules, each with the one whose rows it holds after every
        commit (`RelationSchema.asked_by`).
        """
        schemas = self.hidden.schemas.values()
        return {each.name: each.asked_by for each in schemas if each.asked_by}

    @cached_property
    def stratified(self) -> StratifiedProgram:
        """All relations, hidden ones included, and the strata, with those of relations that choose
        among rows they are given.
        """
        relations = {**self.catalog.relations, **self.hidden.schemas}
        return StratifiedProgram(relations, self.order)
