"""Proofs against base facts: those of one program share what its checker evaluates."""

from __future__ import annotations

from functools import cache
from typing import Any

import lftj


class Checker:
    """Checks proofs against the same facts, with one `ProofChecker` for each program that proofs
    name; arguments as of `lftj.check_proof`.
    """

    def __init__(self, facts: Any, **given: Any):
        self._of = cache(lambda program: lftj.ProofChecker(program, facts, **given))

    def check(self, proof: lftj.Proof) -> None:
        """Accept a proof, or raise ProofError."""
        self._of(proof.program).check(proof)
