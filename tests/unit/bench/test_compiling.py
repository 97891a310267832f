from __future__ import annotations

import numba

from bench.compiling import count_compilations


def test_every_compilation_inside_the_block_is_counted_once() -> None:
    @numba.njit
    def increased(number: int) -> int:
        return number + 1

    with count_compilations() as compilations:
        assert increased(1) == 2
        assert increased(2) == 3
    assert len(compilations) == 1
    assert "increased" in compilations[0]
    increased(1.5)
    assert len(compilations) == 1
