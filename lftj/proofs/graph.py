# SPDX-License-Identifier: Apache-2.0
"""A proof as a graph of its steps: for Graphviz, for networkx, and as a page that folds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from lftj.proofs.drawing import Drawing
from lftj.proofs.instances import atom_text
from lftj.proofs.steps import Origin, Step, rests_on
from lftj.proofs.text import base_note, premise_text, rules_text

SHOWN, DEEPEST = 200, 30
"""Rows that a page shows, and levels that it nests."""


def drawing(steps: Sequence[Step]) -> Drawing:
    """A proof as a graph: nodes are numbers of steps, with `relation`, `row`, `rule` and
    `height`; edges lead to what a step rests on.
    """
    nodes = {
        number: {
            "label": atom_text(step.relation, step.row),
            "filled": step.rule is None,
            "relation": step.relation,
            "row": step.row,
            "rule": step.rule,
            "height": step.height,
        }
        for number, step in enumerate(steps)
    }
    return Drawing("proof", nodes, [(*edge, {}) for edge in _edges(steps)])


def to_html(steps: Sequence[Step], origins: Mapping[int, Origin]) -> str:
    """A proof as nested `<details>`, without scripts, in the colours of the page around it. All
    data is escaped.
    """
    parts: list[str] = ['<div class="lftj-proof" style="font-family: monospace">']
    waiting: list[tuple[int, int | str]] = [(0, len(steps) - 1)]
    shown, seen = 0, set[int]()
    while waiting:
        depth, item = waiting.pop()
        if isinstance(item, str):
            parts.append(item)
            continue
        step, shown = steps[item], shown + 1
        row = escape(atom_text(step.relation, step.row))
        if step.rule is None or item in seen or depth >= DEEPEST or shown > SHOWN:
            note = _base_note(origins.get(item)) if step.rule is None else "as above"
            if step.rule is not None and item not in seen:
                note = "…"
            parts.append(f"<div>{row} <em>{note}</em></div>")
            continue
        seen.add(item)
        is_open = " open" if depth < 2 else ""
        parts.append(
            f'<details{is_open} style="margin-left: 1em"><summary>{row}</summary>'
            f"<div>by {escape(rules_text(step))}</div>"
        )
        others = [text for each in step.premises if (text := premise_text(each))]
        below = [f"<div>{escape(each)}</div>" for each in others]
        waiting.append((depth, "</details>"))
        waiting += [(depth, each) for each in reversed(below)]
        waiting += [(depth + 1, each) for each in reversed(list(rests_on(step.premises)))]
    return "".join([*parts, "</div>"])


def _base_note(origin: Origin | None) -> str:
    if origin is None:
        return base_note(None)
    when = f"{origin.time:%Y-%m-%d %H:%M:%S}"
    return escape(", ".join(filter(None, (base_note(origin), when, origin.message))))


def _edges(steps: Sequence[Step]) -> Iterator[tuple[int, int]]:
    for number, step in enumerate(steps):
        for below in dict.fromkeys(rests_on(step.premises)):
            yield number, below
