# SPDX-License-Identifier: Apache-2.0
"""A proof as a tree of text. Works step by step with a stack, so that a proof may be as high as it
likes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lftj.proofs.instances import atom_text, value_text
from lftj.proofs.steps import (
    Absent,
    Assignment,
    Bindings,
    Branch,
    Chosen,
    Follows,
    Group,
    Holds,
    Origin,
    Part,
    Premise,
    Step,
)

SHOWN = 100
"""Lines that `str(proof)` shows."""
_DEEPEST = 24  # levels of indentation; what is deeper keeps this one


def proof_text(
    steps: Sequence[Step], origins: Mapping[int, Origin], lines: int | None = SHOWN
) -> str:
    """A proof from its row down to base facts, so many lines of it at most; None: all. With the
    origins of base facts, by the number of their step.
    """
    found: list[str] = []
    for line in _lines(steps, origins):
        if lines is not None and len(found) >= lines:
            found.append(f"… {len(steps):,} steps in all, height {steps[-1].height:,}")
            break
        found.append(line)
    return "\n".join(found)


def _lines(steps: Sequence[Step], origins: Mapping[int, Origin]) -> Iterator[str]:
    seen: set[int] = set()
    waiting: list[tuple[int, Premise | str]] = [(0, Follows("", len(steps) - 1))]
    while waiting:
        depth, item = waiting.pop()
        indent = "  " * min(depth, _DEEPEST)
        if isinstance(item, str):
            yield f"{indent}{item}"
        elif not isinstance(item, Follows):
            first, *below = _of_premise(item)
            yield f"{indent}{first[1]}"
            waiting += [(depth + deeper, each) for deeper, each in reversed(below)]
        else:
            step = steps[item.step]
            row = atom_text(step.relation, step.row)
            if step.rule is not None and item.step not in seen:
                yield f"{indent}{row}"
                yield f"{indent}  by {rules_text(step)}{_with(step.bindings)}"
            else:
                origin = origins.get(item.step)
                note = "as above" if step.rule is not None else base_note(origin)
                yield f"{indent}{row}  {note}"
            if item.step not in seen:
                waiting += [(depth + 1, each) for each in reversed(step.premises)]
            seen.add(item.step)


def rules_text(step: Step) -> str:
    """The rule of a step, or how many rules add up."""
    parts = sum(isinstance(each, Part) for each in step.premises)
    if parts == 1:
        return "a rule that adds up"
    return f"{parts} rules that add up" if parts else step.rule or ""


def base_note(origin: Origin | None) -> str:
    """A note on a base fact, with the version that it came with."""
    return "base fact" if origin is None else f"base fact since version {origin.version}"


def premise_text(premise: Premise) -> str:
    """The first line about a premise; empty for an atom, whose step tells of it."""
    first = _of_premise(premise)[0][1]
    return first if isinstance(first, str) else ""


def _with(bindings: Bindings) -> str:
    listed = ", ".join(f"{name} = {value_text(value)}" for name, value in bindings)
    return f"  with {listed}" if listed else ""


def _of_premise(premise: Premise) -> list[tuple[int, Premise | str]]:
    """The lines and premises that tell of a premise, each with how much deeper it stands."""
    match premise:
        case Holds(literal, instance, values):
            item = literal if instance == literal else f"{literal}: {instance}"
            shown = item if instance in ("true", _equation(values)) else f"{item}{_sides(values)}"
            return [(0, shown)]
        case Absent(instance=instance):
            return [(0, f"{instance}: no row matches")]
        case Branch(number=number, holds=holds):
            below = [(1, each) for each in holds.premises]
            return [(0, f"branch {number + 1} holds{_with(holds.bindings)}"), *below]
        case Group(literal, value, size, shown):
            return _of_group(f"{literal} = {value_text(value)}", size, shown)
        case Part(rule, _, bindings, value, size, shown):
            return _of_group(f"{value_text(value)} by {rule}{_with(bindings)}", size, shown)
        case Chosen(domain, size, rejected):
            others = f"; not {'; '.join(map(str, rejected))}" if rejected else ""
            many = f"{size:,} candidate{'s' * (size != 1)}"
            return [(0, f"chosen, first of {many}{_with(domain)}{others}")]
    return [(0, premise)]


def _of_group(
    title: str, size: int, shown: Sequence[Assignment]
) -> list[tuple[int, Premise | str]]:
    many = f"over {size:,} assignment{'s' * (size != 1)}"
    lines: list[tuple[int, Premise | str]] = [(0, f"{title}, {many}")]
    for each in shown:
        lines.append((1, _with(each.bindings).strip() or "one of them"))
        lines += [(2, premise) for premise in each.premises]
    if size > len(shown):
        lines.append((1, f"… {size - len(shown):,} more"))
    return lines


def _sides(values: tuple[object, ...]) -> str:
    return f" ({', '.join(map(value_text, values))})" if values else ""


def _equation(values: tuple[object, ...]) -> str:
    return " = ".join(map(value_text, values))
