"""Refuse an installed package that compiles, or imports Numba, before its first result. Run in an
empty environment, with `first_result.py` beside this file and no cache.
"""

from __future__ import annotations

import os
import sys

import first_result

import lftj


def main() -> int:
    """Print what is wrong; 0 when nothing is."""
    result = first_result.main()
    here = os.path.realpath(sys.prefix)
    wrong = [
        said
        for said, found in {
            "lftj is not the installed one": not os.path.realpath(lftj.__file__).startswith(here),
            "Numba was imported": "numba" in sys.modules,
            "kernels were kept": os.path.exists(os.environ["LFTJ_CACHE_DIR"]),
        }.items()
        if found
    ]
    print("\n".join(wrong) or result)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
