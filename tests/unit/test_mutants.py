"""The planted bugs of `tests/mutants` still fit the code; whether the suite finds them, `python -m
tests.mutants` tells.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.mutants import __main__ as command
from tests.mutants.planted import ROOT, Mutant, mutants
from tests.mutants.running import NOT_COUNTED, Run

MUTANTS = mutants()
PATCH = """Kind: a wrong sign
Tests: tests/a.py tests/b
Environment: NUMBA_DISABLE_JIT=1

diff --git a/one.py b/one.py
--- a/one.py
+++ b/one.py
@@ -1 +1 @@
-SIGN = 1
+SIGN = -1
"""


def test_there_are_twenty_bugs_at_least() -> None:
    assert len(MUTANTS) >= 20


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda each: each.name)
def test_a_bug_fits_the_code_and_is_looked_for(mutant: Mutant) -> None:
    mutant.apply(ROOT, check=True)
    assert mutant.files
    assert all((ROOT / test).exists() for test in mutant.tests)
    assert not set(mutant.tests) & set(NOT_COUNTED)


def test_a_patch_says_what_it_is() -> None:
    mutant = Mutant.of("sign", PATCH)
    assert mutant.kind == "a wrong sign"
    assert mutant.tests == ("tests/a.py", "tests/b")
    assert mutant.environment == (("NUMBA_DISABLE_JIT", "1"),)
    assert mutant.files == ("one.py",)
    with pytest.raises(ValueError, match="sign: the patch says no Kind"):
        Mutant.of("sign", PATCH.replace("Kind", "Sort"))


def test_a_bug_is_planted_where_it_fits(tmp_path: Path) -> None:
    file = tmp_path / "one.py"
    file.write_text("SIGN = 1\n")
    mutant = Mutant.of("sign", PATCH)
    mutant.apply(tmp_path, check=True)
    assert file.read_text() == "SIGN = 1\n"
    mutant.apply(tmp_path)
    assert file.read_text() == "SIGN = -1\n"
    with pytest.raises(subprocess.CalledProcessError):
        mutant.apply(tmp_path)


@pytest.fixture(autouse=True)
def small_copies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Have copies of the checkout hold the files that bugs change, and no others."""

    @contextmanager
    def copied() -> Iterator[Path]:
        root = tmp_path / "copy"
        for name in {name for mutant in MUTANTS for name in mutant.files}:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, root / name)
        yield root
        shutil.rmtree(root)

    monkeypatch.setattr(command, "copied", copied)


def test_what_was_found_is_kept_and_the_rest_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[str] = []

    def run(root: Path, tests: tuple[str, ...], *_: object, **options: object) -> Run:
        ran.append(" ".join(tests))
        healthy = (root / "lftj/views/runner.py").read_text() == (
            ROOT / "lftj/views/runner.py"
        ).read_text()
        always = ("tests/x.py::always",)
        return Run(always if healthy else ("tests/x.py::found", *always), 1.0)

    monkeypatch.setattr(command, "run", run)
    words = ["lost_delta", "--results", str(tmp_path / "found.json")]
    assert command.main(words) == 0
    said = capsys.readouterr().out
    assert "tests/x.py::found" in said
    assert "always" not in said
    once = len(ran)
    assert once == 2
    assert command.main(words) == 0
    assert len(ran) == once
    monkeypatch.setattr(command, "sources", lambda: "other code")
    assert command.main(words) == 0
    assert len(ran) == 2 * once


def test_a_bug_that_no_test_notices_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "run", lambda *_, **__: Run((), 1.0))
    words = ["wrong_sign", "lost_delta", "--results", str(tmp_path / "found.json")]
    assert command.main(words) == 1
    assert "2 bugs, 2 not noticed: lost_delta, wrong_sign" in capsys.readouterr().out
