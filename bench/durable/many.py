"""Very many one-row commits, each of which brings a new string and takes one away, of which the
last ten versions are kept, against a fresh workspace with the same rows: a dump that was loaded.
"""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from pathlib import Path

import lftj
from bench.figure import Report, require_equal
from lftj.cli import workspace_files

FIGURES = ("many_commits_on_disk",)
COMMITS = {"s": 600, "m": 10_000, "l": 100_000}
ROWS = 10_000
PROGRAM = """
.decl sale(id: symbol, shop: int, amount: int)
.decl shop(shop: int, region: int)
.decl total(shop: int, t: int)
total(s, sum(a)) :- sale(_, s, a).
.decl dear(id: symbol, region: int)
dear(i, r) :- sale(i, s, a), a > 90, shop(s, r).
"""


def measure(report: Report, folder: Path) -> None:
    """Fill the figure of many commits."""
    path, fresh = folder / "many.lftj", folder / "fresh.lftj"
    count = COMMITS[report.size]
    with lftj.connect(path, keep=10, durability="normal") as workspace:
        with workspace.transaction() as tx:
            tx.add_rules(PROGRAM)
            tx.insert("sale", [_sale(each) for each in range(ROWS)])
            tx.insert("shop", [(each, each % 7) for each in range(97)])
        for number in range(count):
            with workspace.transaction() as tx:
                tx.insert("sale", [_sale(ROWS + number)])
                tx.delete("sale", [_sale(number)])
        rows = len(workspace["sale"])
        require_equal("rows", rows, ROWS)
    with redirect_stdout(io.StringIO()):
        workspace_files.dump(path, folder / "dump", salvage=False, branch="main")
        workspace_files.load(folder / "dump", fresh)
    sizes = [sum(f.stat().st_size for f in p.rglob("*") if f.is_file()) for p in (path, fresh)]
    report.note(commits=count, bytes=sizes[0], fresh_bytes=sizes[1])
    report.add("many_commits_on_disk", sizes[0] / sizes[1])


def _sale(number: int) -> tuple[str, int, int]:
    return f"sale number {number}", number % 97, number % 100
