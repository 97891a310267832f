"""Calls of a process that can open no more files: modules that few calls need are imported late."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("resource")

SCRIPT = """
import os, resource, sys
import lftj
from lftj.errors import LftjError

folder, place = sys.argv[1], sys.argv[2]
ws = lftj.connect(*([folder + "/live.lftj"] if place == "path" else []))
ws.add_rules(".decl e(a: number, b: number)\\n.decl v(a: number)\\nv(x) :- e(x, _).")
ws.load("e", [(1, 2)])
CALLS = {
    "explain": lambda: str(ws.explain("v", (1,))),
    "why_not": lambda: str(ws.why_not("v", (7,))),
    "profile": lambda: str(ws.profile()),
    "memory": lambda: str(ws.memory()),
    "frame": lambda: ws["v"].df(),
    "polars": lambda: ws["v"].pl(),
    "table": lambda: ws["v"]._repr_html_(),
    "page": lambda: ws.report(folder + "/page.html"),
    "notebook": lambda: ws._repr_html_(),
    "match": lambda: ws.query('e(x, y), s = to_string(x), match("1", s)'),
    "mistake": lambda: ws.add_rules("q(x :- ."),
    "query": lambda: ws.query("e(x, y), x < 5"),
    "load": lambda: ws.load("e", [(3, 4)]),
    "rules": lambda: ws.add_rules(".decl w(a: number)\\nw(x) :- v(x)."),
    "verify": lambda: ws.verify(),
    "connect": lambda: lftj.connect(folder + "/other.lftj"),
    "branch": lambda: ws.branch("b"),
}

def outcomes():
    for name, call in CALLS.items():
        try:
            call()
        except LftjError as error:
            yield name, error.code
        except BaseException as error:
            yield name, repr(error)
        else:
            yield name, "done"

resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
held = []
try:
    while True:
        held.append(os.open(os.devnull, os.O_RDONLY))
except OSError:
    pass
without = dict(outcomes())
for file in held:
    os.close(file)
after = dict(outcomes())
for name in CALLS:
    print(name, without[name], after[name])
"""


@pytest.mark.parametrize("place", ["memory", "path"])
def test_a_process_without_descriptors_has_our_errors_and_goes_on(place: str, tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path), place],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found = {
        name: (without, after) for name, without, after in map(str.split, done.stdout.splitlines())
    }
    assert len(found) == 17
    for name, (without, after) in found.items():
        assert without in ("done", "E334", "E354"), name
        assert after in (("E001",) if name == "mistake" else ("done",)), name
    assert {"explain", "profile", "frame"} <= {n for n, each in found.items() if each[0] == "E334"}
