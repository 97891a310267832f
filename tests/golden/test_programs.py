"""Golden programs: small files that a Soufflé user might have, through the reference and through
the command line.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from lftj.cli import main
from tests.golden.cases import Case, cases

each_case = pytest.mark.parametrize("case", cases(), ids=lambda case: case.folder.name)


@each_case
def test_the_reference_gives_the_expected_files(case: Case):
    assert case.by_reference() == case.expected()


@each_case
def test_the_command_line_gives_the_expected_files(case: Case, tmp_path: Path):
    assert (
        main(["run", str(case.folder / "program.dl"), "-F", str(case.folder), "-D", str(tmp_path)])
        == 0
    )
    assert {
        path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()
    } == case.expected()


def test_results_go_to_standard_output(capsys: pytest.CaptureFixture[str]):
    case = next(case for case in cases() if case.folder.name == "triangles")
    assert main(["run", str(case.folder / "program.dl"), "-F", str(case.folder), "-D", "-"]) == 0
    printed = capsys.readouterr().out
    assert all(
        line in printed.splitlines()
        for text in case.expected().values()
        for line in text.splitlines()
    )
