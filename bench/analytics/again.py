"""The same queries asked a second time, when the first has left behind what it made, and asked
first thing in a process of its own, which has loaded nothing yet.
"""

from __future__ import annotations

import re
import subprocess
import sys

import lftj
from bench.analytics.shape import Shape, loaded
from bench.clock import processor_seconds
from bench.figure import require_equal

_PROCESS = """
import sys
from bench.analytics.again import first_of_a_process
print(first_of_a_process(*sys.argv[1:]))
"""


def second(shape: Shape, workspace: lftj.Workspace) -> float:
    """Processor seconds of the rule for another head: with other constants, beside the first, or
    where it has none after that was removed, since the same body is not evaluated twice.
    """
    workspace.add_rules(re.sub(r"(?s).*\.decl found(\([^)]*\))", r".decl again\1", shape.declared))
    same = "again(" + shape.rule.rpartition("found(")[2]
    other = re.sub(r"\b[1-9]\d{2,}\b", lambda number: str(int(number[0]) + 1), same)
    rows = len(workspace["found"])
    if other == same:
        workspace.remove_rule(workspace.rules[-1])
    seconds = processor_seconds(lambda: workspace.add_rules(other))
    if other == same:
        require_equal(f"rows of {shape.name} again", len(workspace["again"]), rows)
    return seconds


def first_of_a_process(size: str, name: str) -> float:
    """Processor seconds of a query that nothing was asked before."""
    from bench.analytics import shapes

    shape = next(each for each in shapes(size) if each.name == name)
    workspace = loaded(shape)
    return processor_seconds(lambda: workspace.add_rules(shape.rule))


def in_a_process(size: str, name: str) -> float:
    """The same, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", _PROCESS, size, name], check=True, capture_output=True, text=True
    )
    return float(done.stdout)
