"""Refuse an installed package that compiles, or imports Numba, before its first result. Run in an
empty environment, with `first_result.py` beside this file. No kernels are kept where it looks for
them, or those of the same sources.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import first_result

import lftj


def kept() -> list[str]:
    """The machine code that is kept."""
    return sorted(map(str, Path(os.environ["LFTJ_CACHE_DIR"]).glob("*/*")))


def main() -> int:
    """Print what is wrong; 0 when nothing is."""
    before = kept()
    result = first_result.main()
    here = os.path.realpath(sys.prefix)
    wrong = [
        said
        for said, found in {
            "lftj is not the installed one": not os.path.realpath(lftj.__file__).startswith(here),
            "Numba was imported": "numba" in sys.modules,
            "kernels were compiled": kept() != before,
        }.items()
        if found
    ]
    print("\n".join(wrong) or f"Python {sys.version.split()[0]}: {result}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
