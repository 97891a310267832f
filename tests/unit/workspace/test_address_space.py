"""Workspaces take addresses as they need them, and give them back, also where the system counts
them (`ulimit -v`).
"""

from __future__ import annotations

import subprocess
import sys

SETUP = """
import gc, mmap, resource
from pathlib import Path
import numpy as np
import lftj

def mapped():
    return int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE

def filled(rows, first=0):
    ws = lftj.connect()
    ws.add_rules(
        ".decl e(x: number, y: number) .decl n(x: number, y: number) "
        "n(x, y) :- e(x, y), x % 2 = 0."
    )
    ws.load("e", np.array([np.arange(rows), np.arange(rows) + first]).T)
    return ws

filled(1000).close()
gc.collect()
gc.disable()
before = mapped()
"""


def run(body: str) -> None:
    done = subprocess.run([sys.executable, "-c", SETUP + body], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_closing_gives_addresses_back_without_the_collector() -> None:
    run("""
for number in range(4):
    ws = filled(2_000_000)
    assert mapped() - before < 1 << 30
    ws.close()
    assert mapped() - before < 300 << 20, (number, mapped() - before)
""")


def test_what_is_held_after_closing_stays_readable_until_it_goes() -> None:
    run("""
ws = filled(2_000_000)
pages = ws._backend.arena.bytes_touched
snapshot, result = ws.snapshot(), ws["n"]
ws.close()
held = mapped()
others = [filled(100_000, 7) for _ in range(3)]
assert len(snapshot["e"]) == 2_000_000
assert result.fetchall()[-1] == (1_999_998, 1_999_998)
snapshot = result = None
assert mapped() < held + (400 << 20) - pages + (64 << 20)
""")


def test_workspaces_side_by_side_and_in_turn_under_a_limit_of_addresses() -> None:
    run("""
resource.setrlimit(resource.RLIMIT_AS, (before + (3 << 30),) * 2)
together = [filled(200_000, number) for number in range(12)]
for step in range(3):
    for number, ws in enumerate(together):
        rows = np.arange(200_000) + (step + 1) * 200_000
        ws.load("e", np.array([rows, rows]).T)
assert all(len(ws["e"]) == 800_000 and len(ws["n"]) == 400_000 for ws in together)
for ws in together:
    ws.close()
del ws, together
for number in range(6):
    with filled(2_000_000, number) as ws:
        assert len(ws["n"]) == 1_000_000
""")


def test_where_addresses_run_out_the_transaction_is_rolled_back_and_the_workspace_goes_on() -> None:
    run("""
ws = filled(1000)
resource.setrlimit(resource.RLIMIT_AS, (mapped() + (400 << 20),) * 2)
try:
    rows = np.arange(12_000_000)
    ws.load("e", np.array([rows, rows]).T)
except (lftj.LimitError, MemoryError) as error:
    pass
else:
    raise AssertionError("there was room")
rows = None
assert len(ws["e"]) == 1000
ws.load("e", [(5000, 1)])
assert len(ws["e"]) == 1001
""")
