# SPDX-License-Identifier: Apache-2.0
"""A program and the files of its facts in the place of those that a workspace has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lftj.errors import StillNeededError

if TYPE_CHECKING:
    from lftj.api.transaction import Transaction
    from lftj.api.workspace import Workspace


def renew(
    workspace: Workspace,
    tx: Transaction,
    text: str,
    file: str,
    inputs: Iterable[str],
    *,
    name: str = "main",
    drop: bool = False,
    alter: bool = False,
) -> None:
    """Have a text be the program of a name. Relations with an `.input` lose all rows but the facts
    of the text: those of files are to be inserted again. What stays as it was costs nothing later.
    What `alter` changes comes before all rows, as alterations must.

    Raises what `Transaction.program` raises.
    """
    there = workspace.relations
    with StillNeededError.in_options():
        if alter:
            tx.program(text, name=name, file=file, drop=drop, alter=True)
        for relation in inputs:
            if relation in there:
                tx.delete_where(relation)
        tx.program(text, name=name, file=file, drop=drop)
