"""Refuse a wheel whose top level holds anything but our package, that lacks a file that is
not Python, or whose description has links that lead nowhere outside of the sources.
"""

from __future__ import annotations

import re
import sys
import zipfile

from lftj.scantree.jit.library import file_name, target

PACKAGES = {"lftj"}
ROOMS = ("lftj", "lftj/partition", "lftj/scantree", "lftj/sensitivity")
NEEDED = {
    *(f"{room}/__init__.py" for room in ROOMS),
    "lftj/py.typed",
    "lftj/demo/flights.dl",
    "lftj/demo/data/flights.parquet",
    "lftj/demo/data/README.md",
    "lftj/syntax/grammar.lark",
    "lftj/report/page/content.html",
    "lftj/report/page/page.html",
    "lftj/report/page/page.js",
    "lftj/report/page/style.css",
    "lftj/syntax/parse_tables.json",
}


def main(path: str) -> int:
    """Print what is wrong with the wheel at `path`; 0 when nothing is."""
    wheel = zipfile.ZipFile(path)
    names = set(wheel.namelist())
    top = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    wrong = [f"unexpected at the top level: {name}" for name in sorted(top - PACKAGES)]
    wrong += [f"package missing: {name}" for name in sorted(PACKAGES - top)]
    wrong += [f"file missing: {name}" for name in sorted(NEEDED - names)]
    wrong += _library_problems(path, names)
    (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
    wrong += _links_within(wheel.read(metadata).decode())
    print("\n".join(wrong) or f"{len(names)} files, top level: {', '.join(sorted(top))}")
    return 1 if wrong else 0


def _library_problems(path: str, names: set[str]) -> list[str]:
    """The library of kernels of these sources is there where one can be built, and the wheel's name
    says so.
    """
    processor = target()
    if path.endswith("-py3-none-any.whl"):
        return [f"machine code for all systems: {name}" for name in names if name.endswith(".so")]
    if processor is None:
        return ["a wheel for one system, where no library of kernels can be built"]
    wrong = []
    if f"lftj/scantree/jit/machine_code/{file_name(processor)}" not in names:
        wrong.append("the library of these kernels is missing")
    if not path.endswith("-py3-none-manylinux_2_17_x86_64.whl"):
        wrong.append(f"the name does not say what the library is for: {path}")
    return wrong


def _links_within(metadata: str) -> list[str]:
    """Relative links of the description."""
    text = re.sub(r"(?s)```.*?```", "", metadata.partition("\n\n")[2])
    return [f"relative link: {link}" for link in re.findall(r"\]\((?!https?://|#)([^)]*)\)", text)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
