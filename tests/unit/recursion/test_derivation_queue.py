from __future__ import annotations

import numpy as np

from lftj.maintenance.counting.derivation_queue import DerivationQueue
from lftj.maintenance.counting.elastic_query import Proofs


def test_the_number_of_proofs_that_wait_is_known_at_any_time():
    waiting = DerivationQueue()

    def add(*iterations: int) -> None:
        many = len(iterations)
        rows, due = [np.arange(many)], np.array(iterations, np.int64)
        waiting.add("r", Proofs(rows, due, np.ones(many, np.int64)))

    add(3, 1, 3)
    add(1)
    add()
    assert waiting.size == 4
    assert waiting.take() is not None
    assert waiting.size == 2
    add(2)
    assert len(waiting.drain()) == 2
    assert waiting.size == 0
    assert waiting.take() is None
