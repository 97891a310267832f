"""One workload by one evaluator, in a process of its own, so that its peak of memory is its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import lftj
from bench.clock import processor_seconds
from bench.engine import connect
from bench.resident import forget_freed, peak_bytes
from bench.study.workloads import BATCHES, WORKLOADS, Tables, Workload
from lftj.views.switchable import OPTIONAL

_COUNTING = {"counting", "counting from nothing"}
_WITHOUT = {
    "counting": set(OPTIONAL) - _COUNTING - {"update", "walks"},
    "delete and re-derive": _COUNTING & set(OPTIONAL),
}
"""Strategies that are switched off, so that one way of maintenance is left."""
_MINUTES = 15


def apart(workload: str, share: int, by: str, size: str, data: Path) -> dict[str, Any]:
    """The figures of one run; `ended` is False where it took too long."""
    words = [workload, str(share), by, size, str(data)]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "bench.study.one", *words],
            capture_output=True,
            text=True,
            timeout=_MINUTES * 60,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"ended": False}
    if done.returncode:
        raise RuntimeError(f"{workload} by {by}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def run(workload: Workload, share: int, by: str, size: str, data: Path) -> dict[str, Any]:
    """Processor seconds of the first evaluation, of the batches that come and of those that go;
    rows at the end; bytes of the process before the facts, and at its peak.
    """
    tables = workload.tables(data, size)
    if by == "strings as numbers":
        tables, text = _numbered(tables, workload.text)
    else:
        text = workload.text
    changing = tables[workload.changing]
    cut = changing.num_rows * share // 100
    first = {**tables, workload.changing: changing.slice(0, cut)}
    sizes = np.linspace(cut, changing.num_rows, BATCHES + 1).astype(int)
    batches = [changing.slice(a, b - a) for a, b in pairwise(sizes)]
    _warm(by, text, first)
    forget_freed()
    before = peak_bytes()
    if by in ("engine", "two threads", "strings as numbers", *_WITHOUT):
        found = _maintained(workload, by, text, first, batches)
    else:
        found = _evaluated(workload, by, text, first, batches)
    return {**found, "ended": True, "peak_mb": round((peak_bytes() - before) / 1e6, 1)}


def _workspace(by: str) -> lftj.Workspace:
    if by == "two threads":
        return lftj.connect(executor=lftj.ThreadExecutor(threads=2))
    return connect(tuning=lftj.Tuning(without=frozenset(_WITHOUT.get(by, ()))))


def _maintained(
    workload: Workload, by: str, text: str, first: Tables, batches: list[pa.Table]
) -> dict[str, Any]:
    workspace = _workspace(by)
    workspace.add_rules(text)

    def load() -> None:
        with workspace.transaction() as transaction:
            for name, table in first.items():
                transaction.insert(name, table)

    def follow(verb: str) -> Callable[[], None]:
        def all_batches() -> None:
            for batch in batches if verb == "insert" else reversed(batches):
                with workspace.transaction() as transaction:
                    getattr(transaction, verb)(workload.changing, batch)

        return all_batches

    load_s = processor_seconds(load)
    added_s = processor_seconds(follow("insert"))
    rows = {name: len(workspace[name]) for name in workload.views}
    removed_s = processor_seconds(follow("delete"))
    return {"load_s": load_s, "added_s": added_s, "removed_s": removed_s} | {
        "update_s": added_s + removed_s,
        "rows": rows,
    }


def _evaluated(
    workload: Workload, by: str, text: str, first: Tables, batches: list[pa.Table]
) -> dict[str, Any]:
    """An evaluator that begins anew after every batch: two such evaluations tell what all cost."""
    changing = first[workload.changing]
    whole = {**first, workload.changing: pa.concat_tables([changing, *batches])}
    evaluate = _from_nothing(workload, by, text)
    counts: dict[str, int] = {}
    load_s = processor_seconds(lambda: evaluate(first))
    whole_s = processor_seconds(lambda: counts.update(evaluate(whole)))
    update_s = len(batches) * (load_s + whole_s)
    return {"load_s": load_s, "update_s": update_s, "rows": counts}


def _from_nothing(workload: Workload, by: str, text: str) -> Callable[[Tables], dict[str, int]]:
    if by == "plain program":
        from bench.study.plain import PROGRAMS

        return PROGRAMS[workload.name]
    name = "triejoin" if by == "recompute" else by

    def evaluate(tables: Tables) -> dict[str, int]:
        if by == "recompute":
            workspace = connect()
            workspace.add_rules(text)
            for relation, table in tables.items():
                workspace.load(relation, table)
            return {view: len(workspace[view]) for view in workload.views}
        found = lftj.evaluate(text, tables, by=name)
        return {view: len(found[view]) for view in workload.views}

    return evaluate


def _warm(by: str, text: str, tables: Tables) -> None:
    """Have everything compiled before the clock starts."""
    few = {name: table.slice(0, 40) for name, table in tables.items()}
    name = next(iter(few))
    workspace = _workspace(by)
    workspace.add_rules(text)
    with workspace.transaction() as transaction:
        for relation, table in few.items():
            transaction.insert(relation, table)
    for verb in ("delete", "insert", "delete"):
        with workspace.transaction() as transaction:
            getattr(transaction, verb)(name, few[name].slice(0, 5))
    workspace.close()
    if by == "plain program":
        from bench.study.plain import _reached

        _reached(*(np.zeros(2, np.int64),) * 3, 1)


def _numbered(tables: Tables, text: str) -> tuple[Tables, str]:
    """The same facts and rules, with numbers instead of strings: what interning costs is left."""
    numbers: dict[str, int] = {}

    def number(word: str) -> int:
        return numbers.setdefault(word, len(numbers))

    made = {
        name: pa.table(
            [pa.array([number(word) for word in column.to_pylist()]) for column in table.columns],
            names=table.column_names,
        )
        for name, table in tables.items()
    }
    pieces = text.split('"')
    pieces[1::2] = [str(number(word)) for word in pieces[1::2]]
    return made, "".join(pieces).replace("symbol", "number")


if __name__ == "__main__":
    workload_name, share_text, by_name, size_name, data_path = sys.argv[1:]
    chosen = next(each for each in WORKLOADS if each.name == workload_name)
    print(json.dumps(run(chosen, int(share_text), by_name, size_name, Path(data_path))))
