"""Refuse an installed package that compiles, or imports Numba, before its first result, or that
takes a module of another's for its own. Run in an empty environment, with `first_result.py` beside
this file, and modules of the names in `FOREIGN`, which are not ours. No kernels are kept where it
looks for them, or those of the same sources.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import first_result

import lftj

FOREIGN = ("partition", "scantree", "sensitivity")


def kept() -> list[str]:
    """The machine code that is kept."""
    return sorted(map(str, Path(os.environ["LFTJ_CACHE_DIR"]).glob("*/*")))


def _is_beside(name: str) -> bool:
    return Path(__file__).with_name(f"{name}.py").exists()


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
            "a module of another's was imported": bool(sys.modules.keys() & set(FOREIGN)),
            "modules beside this file are missing": not all(map(_is_beside, FOREIGN)),
        }.items()
        if found
    ]
    print("\n".join(wrong) or f"Python {sys.version.split()[0]}: {result}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
