# SPDX-License-Identifier: Apache-2.0
"""The name that stored states carry, which is another one whenever anything that could matter is.

What a state keeps is what many modules say: pages, key orders, states of heads, the order of a
body's variables. A number changed by hand would be forgotten one day, and old pages read as new
ones. So the name is a hash of the sources that have a say. After another version of these is
installed, views are derived once from the rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

_LFTJ = Path(__file__).absolute().parents[2]
_LAYERS = (
    "functions",
    "heads",
    "join",
    "maintenance",
    "program",
    "storage",
    "syntax",
    "tuning",
    "types",
    "views",
)


def sources(*layers: str) -> list[Path]:
    """The files that have a say in what is stored, those of more `layers` of lftj included."""
    patterns = (
        "scantree/*.py",
        "sensitivity/*.py",
        *(f"{layer}/**/*.py" for layer in sorted({*_LAYERS, *layers})),
    )
    return sorted(file for pattern in patterns for file in _LFTJ.glob(pattern))


def name_of(files: Iterable[Path]) -> str:
    """A hash of files and their names. O(bytes)."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(_LFTJ)} {file.stat().st_size}\n".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@cache
def stored_format(*layers: str) -> str:
    """The name that records carry, and that those which are opened must have."""
    return name_of(sources(*layers))
