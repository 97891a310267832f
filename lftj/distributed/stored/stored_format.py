"""What stored states are stored as: a name that is another one whenever anything that could matter is.

What a part keeps is what many modules say: pages, key orders, states of heads, the order of a body's variables. A number changed by hand
would be forgotten one day, and old pages read as new ones. So the name is a hash of the sources that have a say; after another version of
these is installed, parts are built from their rows once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[3]
_LAYERS = ("distributed", "heads", "join", "maintain", "program", "recursion", "storage", "syntax", "types")
_SOURCES = (
    "scantree/*.py",
    "sensitivity/*.py",
    "lftj/dictionary.py",
    "lftj/text*.py",
    *(f"lftj/{layer}/**/*.py" for layer in _LAYERS),
)


def sources() -> list[Path]:
    """The files that have a say in what is stored."""
    return sorted(file for pattern in _SOURCES for file in _ROOT.glob(pattern))


def name_of(files: Iterable[Path]) -> str:
    """A hash of files and their names. O(bytes)."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(_ROOT)} {file.stat().st_size}\n".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@cache
def stored_format() -> str:
    """The name that records carry, and that those which are opened must have."""
    return name_of(sources())
