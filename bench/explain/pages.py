"""The page about a workspace of many rules and commits: its size, and the time a browser takes."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import lftj
from bench.clock import best_of
from bench.engine import connect
from bench.figure import Report, require_equal

RULES = {"s": 20, "m": 200, "l": 1_000}
COMMITS = {"s": 50, "m": 1_000, "l": 10_000}
_WIDE = 25  # views that read one relation


def large(rules: int, commits: int) -> lftj.Workspace:
    """A workspace of so many rules, in chains of views, and so many commits."""
    ws = connect(keep=commits + 10)
    text = [f".decl base{number}(x: number, y: number)" for number in range(-(-rules // _WIDE))]
    for number in range(rules):
        base = number // _WIDE
        read = f"view{number - 1}" if number % _WIDE else f"base{base}"
        text += [
            f".decl view{number}(x: number, y: number)",
            f"view{number}(x, z) :- {read}(x, y), base{base}(y, z).",
        ]
    ws.add_rules("\n".join(text))
    for number in range(commits):
        with ws.transaction(message=f"change {number}") as tx:
            tx.insert(f"base{number % -(-rules // _WIDE)}", [(number % 50, number % 49)])
            if number >= 50:
                tx.delete(f"base{number % -(-rules // _WIDE)}", [((number + 25) % 50, number % 49)])
    return ws


def measure_pages(report: Report) -> None:
    """Record the megabytes of the page, and the seconds until a browser has shown it."""
    ws = large(RULES[report.size], COMMITS[report.size])
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        page = ws.report(Path(folder) / "page.html")
        made = time.perf_counter() - began
        report.add("page_mb", page.stat().st_size / 1e6)
        opened = _opened(page, Path(folder))
        if opened is not None:
            report.add("page_opens_s", opened)
        report.note(figure="page_mb", made_s=made, rules=len(ws.rules), version=ws.version)


def _opened(page: Path, folder: Path) -> float | None:
    """Seconds that a browser takes for the page, over those for an empty one; None without a
    browser.
    """
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        return None
    empty = folder / "empty.html"
    empty.write_text("<!doctype html><title>empty</title>", encoding="utf-8")
    command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu"]
    command += [f"--user-data-dir={folder / 'profile'}", "--dump-dom"]

    def show(address: str) -> str:
        done = subprocess.run([*command, address], capture_output=True, text=True, timeout=120)
        return done.stdout

    show(empty.as_uri())  # makes its profile
    alone, _ = best_of(3, lambda: show(empty.as_uri()))
    seconds, shown = best_of(3, lambda: show(page.as_uri()))
    require_equal("the end of the page", 'id="memory-title"' in shown, True)
    return max(0.0, seconds - alone)
