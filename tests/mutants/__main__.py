"""`python -m tests.mutants [NAME …] [--whole] [--most N] [--again] [--results FILE]`: plant each
bug in a copy of the checkout, and say which tests notice it, and how long that took.

First come the tests that the patch names; where none of them notices, or with `--whole`, the whole
suite, which takes minutes. What was found is kept in a file, so that a run that was interrupted
goes on: a bug is tried again once the patch, the code or the tests changed. Tests that fail without
any bug do not count. The exit code is 1 when a bug was not noticed, 2 when a patch fits no more.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.mutants.planted import ROOT, Mutant, mutants
from tests.mutants.running import Run, copied, run, sources

RESULTS = ROOT / "build" / "mutants.json"
WHOLE = 3_600.0
"""Seconds that the whole suite may take with a bug in it."""


class Results:
    """Results for the code and the tests as they are now, in a file."""

    def __init__(self, file: Path, again: bool = False):
        self._file, self._sources = file, sources()
        known = json.loads(file.read_text("utf-8")) if file.exists() and not again else {}
        self._found: dict[str, Any] = known if known.get("sources") == self._sources else {}

    def get(self, key: str) -> Run | None:
        """A run that was made before."""
        found = self._found.get(key)
        return found and Run(tuple(found["failed"]), found["seconds"], found["stopped"])

    def add(self, key: str, ran: Run) -> Run:
        """Keep a run."""
        self._found |= {"sources": self._sources, key: ran.as_json()}
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(json.dumps(self._found, indent=1) + "\n", "utf-8")
        return ran


def unhealthy(
    tests: tuple[str, ...], environment: tuple[tuple[str, str], ...], results: Results
) -> frozenset[str]:
    """Give the tests, of these, that fail without any bug."""
    key = f"without a bug: {' '.join(tests)} {environment}"
    ran = results.get(key)
    if ran is None:
        with copied() as root:
            ran = results.add(key, run(root, tests, environment, len(tests), WHOLE))
    return frozenset(ran.failed)


def tried(mutant: Mutant, whole: bool, most: int, results: Results) -> Run:
    """Plant a bug, and run the tests."""
    tests = () if whole else mutant.tests
    key = f"{mutant.name} {mutant.digest} {'whole' if whole else ''}"
    if (known := results.get(key)) is not None:
        return known
    with copied() as root:
        mutant.apply(root)
        processes, seconds = ("auto", WHOLE) if whole else ("0", WHOLE / 4)
        ran = run(root, tests, mutant.environment, most, seconds, processes)
    named = tuple(test for test in ran.failed if test.startswith("tests/"))
    failing = unhealthy(named, mutant.environment, results) if named else ()
    failed = tuple(test for test in ran.failed if test not in failing)
    return results.add(key, Run(failed, ran.seconds, ran.stopped))


def told(mutant: Mutant, ran: Run) -> str:
    """A bug, and the tests that notice it."""
    noticed = (
        "hangs" if ran.stopped else f"{len(ran.failed)} tests" if ran.failed else "NOT NOTICED"
    )
    first = [f"    {test}" for test in ran.failed[:3]]
    return "\n".join([f"{mutant.name} ({mutant.kind}): {noticed}, {ran.seconds:.0f} s", *first])


def main(words: list[str] | None = None) -> int:
    """The exit code."""
    arguments = _arguments(words)
    results = Results(arguments.results, arguments.again)
    chosen = [each for each in mutants() if not arguments.names or each.name in arguments.names]
    missed, lost = list[str](), list[str]()
    for mutant in chosen:
        try:
            mutant.apply(ROOT, check=True)
        except subprocess.CalledProcessError as reason:
            print(f"{mutant.name}: the patch fits no more: {reason.stderr.decode().strip()}")
            lost.append(mutant.name)
            continue
        ran = tried(mutant, arguments.whole, arguments.most, results)
        if not (ran.failed or ran.stopped or arguments.whole or arguments.quick):
            ran = tried(mutant, True, arguments.most, results)
        print(told(mutant, ran), flush=True)
        if not ran.failed and not ran.stopped:
            missed.append(mutant.name)
    print(f"{len(chosen)} bugs, {len(missed)} not noticed: {', '.join(missed) or 'none'}")
    return 2 if lost else 1 if missed else 0


def _arguments(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.mutants", description=__doc__)
    names = [each.name for each in mutants()]
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(names))
    parser.add_argument("--whole", action="store_true", help="run the whole suite at once")
    parser.add_argument("--quick", action="store_true", help="run the named tests, and no others")
    parser.add_argument("--most", type=int, default=5, help="failures after which to stop (5)")
    parser.add_argument("--again", action="store_true", help="forget what was found before")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FILE")
    arguments = parser.parse_args(words)
    if unknown := sorted(set(arguments.names) - set(names)):
        parser.error(f"no bug {unknown[0]!r}; there are {', '.join(names)}")
    return arguments


if __name__ == "__main__":
    sys.exit(main())
