"""Words of the record that have another name by now."""

from __future__ import annotations

RENAMED = {"rounds": "iterations", "small rounds": "small fixpoint"}
"""A word as the record has it → the word now: of strategies, of relations the engine makes up
(`rule4#not1`), or of what stands between two `#` in the name of one. One line here for each word
that is renamed; `write` makes a record in the words of now, and then the line goes.
"""


def now(word: str) -> str:
    """The word, or each part of it between `#`, under its present name."""
    return RENAMED.get(word) or "#".join(RENAMED.get(part, part) for part in word.split("#"))
