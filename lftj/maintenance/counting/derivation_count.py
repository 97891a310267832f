# SPDX-License-Identifier: Apache-2.0
"""Derivation count of a row, in one word: its iteration in the upper half and the number of its
proofs there in the lower.

The word orders as iterations do. Its complement stands for a row as it was before it moved.
"""

from __future__ import annotations

import numpy as np

PROOF_BITS = 32
"""The lower half."""
_LOWER = (1 << PROOF_BITS) - 1
UNCOUNTED = 1 << (PROOF_BITS - 1)
"""The proofs of a row that are not counted: what was won since, less what was lost, is added to
this.
"""
MOST_PROOFS = UNCOUNTED - 1
_MOST_ITERATIONS = (1 << (PROOF_BITS - 1)) - 1


def standing(iterations: np.ndarray, proofs: np.ndarray | None = None) -> np.ndarray:
    """The words of rows with these iterations, and proof counts if they matter. OverflowError when
    half a word cannot tell one.
    """
    if proofs is None:
        return iterations << PROOF_BITS
    if len(proofs) and (
        int(proofs.max()) > MOST_PROOFS or int(iterations.max()) > _MOST_ITERATIONS
    ):
        raise OverflowError("a row has more proofs than can be counted")
    return (iterations << PROOF_BITS) | proofs


def uncounted(ranks: np.ndarray) -> np.ndarray:
    """The words of rows with these ranks whose proofs are not counted."""
    return (ranks << PROOF_BITS) | UNCOUNTED


def moved_standing(iterations: np.ndarray) -> np.ndarray:
    """The words without proofs of rows in these iterations, their complements for complements of
    iterations: turns `iterations_of` back.
    """
    return (iterations << PROOF_BITS) | (iterations >> 63 & _LOWER)


def iterations_of(words: np.ndarray) -> np.ndarray:
    """The iterations in these words."""
    return words >> PROOF_BITS


def proofs_of(words: np.ndarray) -> np.ndarray:
    """The proof counts in these words."""
    return words & _LOWER


def without_proofs(words: np.ndarray) -> np.ndarray:
    """The words with iterations alone, which do not change when proofs are won or lost."""
    return words & ~_LOWER
