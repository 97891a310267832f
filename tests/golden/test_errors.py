"""Message for each mistake in rule text and for each that the checks find."""

from __future__ import annotations

import pytest

from tests.golden.errors import PHASES, Mistake, mistakes


@pytest.mark.parametrize("mistake", mistakes(), ids=lambda mistake: mistake.name)
def test_the_message_is_the_one_kept(mistake: Mistake):
    message = mistake.message()
    assert message != ""
    assert message == mistake.kept()


@pytest.mark.parametrize("folder", PHASES)
def test_no_folder_is_empty(folder: str):
    assert any(mistake.path.parent.name == folder for mistake in mistakes())
