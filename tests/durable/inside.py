"""The inside of a durable workspace, for tests."""

from __future__ import annotations

from typing import Any

from lftj.engine.durable.durable import Durable


def durable_of(workspace: Any) -> Durable:
    """The files of a durable workspace."""
    durable = workspace._backend.durable
    assert durable is not None
    return durable
