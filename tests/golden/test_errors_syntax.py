"""What a user reads for each mistake in rule text: the whole message, letter by letter.

`python -m tests.golden.test_errors_syntax` writes the messages anew; read the difference before you keep it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from lftj.errors import ProgramErrors
from lftj.syntax.parser import parse

CASES = sorted((Path(__file__).parent / "errors_syntax").glob("*.dl"))


def _message(case: Path) -> str:
    """The text of the error that parsing the case raises; empty when it raises none."""
    try:
        parse(case.read_text(encoding="utf-8"), file=case.name)
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
