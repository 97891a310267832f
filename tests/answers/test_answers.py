"""Published programs on published data: every result has the size that independent
programs found.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.answers import evaluate
from bench.cases import CASES, Case

DATA = Path(__file__).resolve().parent.parent / "data"
HERE = ("cspa_1k", "csda_10k", "polonius_add_defaults")


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.name in HERE], ids=lambda case: case.name
)
def test_result_sizes_are_the_known_ones(case: Case) -> None:
    workspace = evaluate(case, DATA)
    assert {relation: len(workspace[relation]) for relation in case.expected} == case.expected


def test_every_case_named_here_exists() -> None:
    assert set(HERE) <= {case.name for case in CASES}
