"""Golden programs: small files that a Soufflé user might have, through the reference and through the command line."""

from __future__ import annotations

import pytest

from tests.golden.cases import Case, cases

each_case = pytest.mark.parametrize("case", cases(), ids=lambda case: case.folder.name)


@each_case
def test_the_reference_gives_the_expected_files(case: Case):
    assert case.by_reference() == case.expected()
