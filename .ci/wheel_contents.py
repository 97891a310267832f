"""Refuse a wheel whose top level holds anything but our four packages, or that lacks the files that
are not Python.
"""

from __future__ import annotations

import sys
import zipfile

PACKAGES = {"lftj", "sensitivity", "scantree", "partition"}
NEEDED = {
    "lftj/py.typed",
    "lftj/demo/flights.dl",
    "lftj/demo/data/flights.parquet",
    "lftj/demo/data/README.md",
    "lftj/syntax/grammar.lark",
    "lftj/report/page/content.html",
    "lftj/report/page/page.html",
    "lftj/report/page/page.js",
    "lftj/report/page/style.css",
}


def main(path: str) -> int:
    """Print what is wrong with the wheel at `path`; 0 when nothing is."""
    names = set(zipfile.ZipFile(path).namelist())
    top = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    wrong = [f"unexpected at the top level: {name}" for name in sorted(top - PACKAGES)]
    wrong += [f"package missing: {name}" for name in sorted(PACKAGES - top)]
    wrong += [f"file missing: {name}" for name in sorted(NEEDED - names)]
    print("\n".join(wrong) or f"{len(names)} files, top level: {', '.join(sorted(top))}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
