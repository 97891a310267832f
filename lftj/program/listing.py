"""Strata as text, for `lftj check`."""

from __future__ import annotations

from lftj.program.normal_form import StratifiedProgram, Stratum


def describe_strata(program: StratifiedProgram) -> str:
    """One line per stratum: its relations, its number of rules, and whether it is recursive."""
    lines = [f"{number:>4}  {stratum_line(stratum)}" for number, stratum in enumerate(program.strata, 1)]
    return "\n".join(lines) if lines else "no rules"


def stratum_line(stratum: Stratum) -> str:
    """`reach: 2 rules, recursive`; hidden relations by their names too, since plans mention them."""
    count = len(stratum.rules)
    kind = ", recursive" if stratum.recursive else ""
    return f"{', '.join(stratum.relations)}: {count} rule{'s' if count != 1 else ''}{kind}"
