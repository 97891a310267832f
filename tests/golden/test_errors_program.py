"""What a user reads for each mistake that the checks find: the whole message, letter by letter.

`python -m tests.golden.test_errors_program` writes the messages anew; read the difference before you keep it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from lftj.errors import ProgramErrors
from lftj.program.program import Program
from lftj.syntax.parser import parse

CASES = sorted((Path(__file__).parent / "errors_program").glob("*.dl"))


def _message(case: Path) -> str:
    """The text of the errors that checking the case raises; empty when it raises none."""
    parsed = parse(case.read_text(encoding="utf-8"), file=case.name)
    try:
        Program().add(parsed)
    except ProgramErrors as errors:
        return f"{errors}\n"
    return ""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_the_message_is_the_one_kept(case: Path):
    message = _message(case)
    assert message != ""
    assert message == case.with_suffix(".txt").read_text(encoding="utf-8")


if __name__ == "__main__":
    for case in CASES:
        case.with_suffix(".txt").write_text(_message(case), encoding="utf-8")
