# SPDX-License-Identifier: Apache-2.0
"""Rules at fault for cycles that no fixpoint can satisfy, and other normal forms of these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lftj.errors import ProgramErrors
from lftj.program.cycles import CycleError
from lftj.program.hidden_relations import HiddenRelations
from lftj.program.source_rule import Normalizer, SourceRule


def outside_cycles(
    problems: ProgramErrors,
    normalizer: Normalizer,
    sources: Mapping[int, SourceRule],
    ids: Sequence[int],
) -> dict[int, SourceRule] | None:
    """The sources with other normal forms of the rules at fault, whose hidden relations read less
    of the cycle; None if there are none.
    """
    again = dict(sources)
    for number, members in at_fault(problems):
        if number in ids:
            again[number] = normalizer.of(number, members)
    return again if any(again[number].normal != sources[number].normal for number in ids) else None


def at_fault(problems: ProgramErrors) -> Iterator[tuple[int, frozenset[str]]]:
    """The rules at fault for cycles, each with the relations that depend on one another."""
    for error in problems.errors:
        if isinstance(error, CycleError):
            for number in error.sources:
                yield number, error.members


def with_rules_at_fault(
    problems: ProgramErrors, sources: Mapping[int, SourceRule], hidden: HiddenRelations
) -> ProgramErrors:
    """The errors, with the rules at fault: of those that have a hidden relation the ones whose
    heads are in the cycle. With a rule's text where there is no source line to show.
    """
    for error in problems.errors:
        if not isinstance(error, CycleError):
            continue
        holders = sorted(hidden.holders(error.relation), reverse=True)
        in_cycle = [
            number
            for number in holders
            if any(head.relation in error.members for head in sources[number].rule.heads)
        ]
        error.sources = tuple(in_cycle or holders or [error.source])
        if error.source not in error.sources:
            error.source = error.sources[0]
            error.span = sources[error.source].rule.span
        if error.span is None:
            error.message += f", in the rule  {sources[error.source].rule}"
    return problems
