"""Random histories in which every commit ends with forgetting all strings that no version holds."""

from __future__ import annotations

from unittest import mock

import numpy as np
from hypothesis import given

import lftj
from lftj.types import dictionary
from tests.oracle.pair import run
from tests.strategies.histories import History, histories

_BEYOND = 1000  # the codes that come after are no numbers that a row of these histories has


@given(histories())
def test_forgetting_strings_changes_nothing(history: History) -> None:
    with (
        mock.patch.object(dictionary, "_FEW", np.inf),
        mock.patch.object(dictionary, "_ROOM", -(1 << 60)),
    ):
        workspace = lftj.connect()
        workspace._backend.dictionary.encode([f"(unused {number})" for number in range(_BEYOND)])
        run(history, workspace)
