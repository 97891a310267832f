"""Hypothesis profiles of the property tests: `ci` (the default) is small and repeatable, `deep` is
large and random, `quick` random without shrinking, `unshrunk` is `ci` without it.

Choose with the environment variable `HYPOTHESIS_PROFILE`. Compiling a kernel may take seconds, so
no example has a deadline.

Tests share the cores: the tests of a file stay together, as do those that need Spark. What takes
longest comes first, so that no core is left alone with it at the end.
"""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from xdist.scheduler import LoadFileScheduling

from lftj.explain.present import checking
from tests.interrupting import heeding_interrupts as heeding_interrupts
from tests.spark.session import (
    spark as spark,
)  # whoever needs Spark takes this session: a process has one at a time

_MOST_PROCESSES = 4
_MEMORY = "/dev/shm"
_ROOM = 4 << 30  # bytes; a run takes a tenth of that
_SPARK = ("tests/spark/", "tests/docs/test_examples.py")  # where tests need Spark
# The files that take longest, without Spark; `uv run pytest --durations=20` tells.
_LONG = (
    "tests/distributed/test_attempts.py",
    "tests/distributed/test_rounds_after_deletions.py",
    "tests/unit/demo/test_demo.py",
    "tests/oracle/test_maintained_exhaustive.py",
    "tests/distributed/test_rounds.py",
    "tests/distributed/test_rounds_below_best.py",
    "tests/unit/heads/test_aggregate_state.py",
    "tests/distributed/test_payloads.py",
    "tests/distributed/test_hubs.py",
    "tests/unit/scantree/test_jit_cache.py",
    "tests/unit/workspace/test_growth_of_planning.py",
    "tests/oracle/test_recursion.py",
    "tests/distributed/test_paths_in_trouble.py",
    "tests/docs/test_site.py",
    "tests/distributed/test_closed_roads.py",
    "tests/distributed/test_witnesses.py",
    "tests/unit/bench/test_command.py",
    "tests/differential/test_without.py",
    "tests/differential/test_orders.py",
    "tests/unit/workspace/test_memory_given_back.py",
    "tests/differential/test_batches.py",
    "tests/oracle/test_maintained.py",
    "tests/differential/test_record.py",
    "tests/durable/test_killed.py",
)

# few kernels, much of the surface: a verdict within a minute, also where nothing is compiled yet
_QUICK = (
    "tests/reference/",
    "tests/unit/test_imports.py",
    "tests/unit/frames/",
    "tests/unit/lftj/test_dictionary.py",
    "tests/unit/lftj/test_result.py",
    "tests/unit/lftj/test_types.py",
    "tests/unit/lftj/test_what_is_not_installed.py",
    "tests/unit/program/test_arithmetic.py",
    "tests/unit/program/test_program_checks.py",
    "tests/unit/program/test_functors.py",
    "tests/unit/program/test_normalize.py",
    "tests/unit/program/test_program.py",
    "tests/unit/program/test_scope.py",
    "tests/unit/program/test_strata.py",
    "tests/unit/syntax/",
    "tests/unit/workspace/test_commit.py",
    "tests/unit/workspace/test_declarations.py",
    "tests/unit/workspace/test_questions.py",
    "tests/unit/workspace/test_snapshot.py",
    "tests/docs/test_names.py",
)
_OBJECTS = 20_000  # new ones, until cycles among them are looked for
_SLOWEST = 20  # files that a run of all tests names

_slow_is_fine = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile(
    "ci",
    max_examples=20,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=_slow_is_fine,
)
settings.register_profile(
    "unshrunk", settings.get_profile("ci"), phases=[Phase.explicit, Phase.generate]
)
settings.register_profile(
    "deep", max_examples=2000, deadline=None, print_blob=True, suppress_health_check=_slow_is_fine
)
settings.register_profile(
    "quick", max_examples=100, deadline=None, database=None, phases=[Phase.explicit, Phase.generate]
)
_PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "ci")
settings.load_profile(_PROFILE)

# Workspaces over parts wait for the disk thousands of times. What they promise of crashes is about
# processes: in memory it holds as well.
if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", _MEMORY)
    tempfile.tempdir = _MEMORY


def pytest_configure(config: pytest.Config) -> None:
    """Put bytecode into a folder of this run where none is wanted beside the sources: over a
    hundred processes would compile all they import. The deep profile tells what random tests met.
    """
    if _PROFILE == "deep":
        from tests.features import Watching  # imports the engine, which few runs need at once

        config.pluginmanager.register(Watching(config))
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        folder = os.environ["PYTHONPYCACHEPREFIX"] = tempfile.mkdtemp(prefix="bytecode-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """For all tests a process for each core; chosen ones run in this process, where a debugger
    finds them.
    """
    everything = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    return min(len(os.sched_getaffinity(0)), _MOST_PROCESSES) if everything else 0


class _ByFile(LoadFileScheduling):
    """Gives each file to one process. (Marks of groups are not heeded: pytest-xdist 3.8 writes them
    where pytest 9.2 does not look.)
    """

    def _split_scope(self, nodeid: str) -> str:
        return "spark" if nodeid.startswith(_SPARK) else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _ByFile:
    """Share the tests out by what they share."""
    return _ByFile(config, log)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the files that a quick run has nothing to do with: each process would import them
    all.
    """
    if config.getoption("markexpr") != "quick" or collection_path.suffix != ".py":
        return None
    file = collection_path.relative_to(config.rootpath).as_posix()
    return None if file.startswith(_QUICK) else True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest."""
    places = {file: place for place, file in enumerate(_LONG)}
    items.sort(
        key=lambda item: (
            not item.nodeid.startswith(_SPARK),
            places.get(item.nodeid.partition("::")[0], len(places)),
        )
    )
    for item in items:
        if item.nodeid.startswith(_QUICK):
            item.add_marker("quick")


def pytest_collection_finish() -> None:
    """Keep what has been imported out of the garbage collector's way: thousands of tests and all
    that they import are looked at again by each full collection, which takes half a second. What a
    test makes is looked at less often than Python does, which took a twelfth of the time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_OBJECTS)


@atexit.register
def _clean_up() -> None:
    """Let the interpreter clean up at its end, as libraries expect. What holds others in circles
    goes while all is there, and nobody runs tests any more: else DuckDB's bindings report what is
    left (`nanobind: leaked`).
    """
    gc.unfreeze()
    gc.collect()


@pytest.fixture(scope="session", autouse=True)
def every_proof_is_checked() -> None:
    """Have `explain` check all of each proof, however long that takes."""
    checking.STEPS = sys.maxsize


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Report the files that took longest, where `--durations` is asked for; of the first test in a
    process some time is compiling.
    """
    if not config.getoption("durations"):
        return
    seconds: dict[str, float] = {}
    for report in (
        each
        for reports in terminalreporter.stats.values()
        for each in reports
        if hasattr(each, "duration")
    ):
        file = report.nodeid.partition("::")[0]
        seconds[file] = seconds.get(file, 0.0) + report.duration
    terminalreporter.section(f"slowest {_SLOWEST} files")
    for file in sorted(seconds, key=seconds.__getitem__, reverse=True)[:_SLOWEST]:
        terminalreporter.line(f"{seconds[file]:8.2f}s {file}")
