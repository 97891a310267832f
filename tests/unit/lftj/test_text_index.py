"""The index of a dictionary's texts: every known text is found, by all of its bytes,
and no other.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lftj.types.dictionary import Dictionary
from lftj.types.text_index import TextIndex

# texts that differ early, late, in length alone, or not at all within the eight bytes that are
# compared at once
TEXTS = st.builds(
    lambda head, times, tail: head * times + tail,
    st.sampled_from("aéz"),
    st.integers(0, 20),
    st.text("ab\0", max_size=3),
)


def _arrays(texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    ends = np.cumsum([0, *(len(text.encode()) for text in texts)])
    return ends.astype(np.int64), np.frombuffer("".join(texts).encode() + b"\0", np.uint8)


@given(
    st.lists(TEXTS, unique=True, max_size=40),
    st.lists(TEXTS, max_size=20),
    st.sampled_from([pa.string(), pa.large_string()]),
)
def test_it_finds_what_is_there_alone(
    known: list[str], asked: list[str], kind: pa.DataType
) -> None:
    index = TextIndex()
    index.extend(*_arrays(known[: len(known) // 2]))
    index.extend(*_arrays(known))
    codes, missing = index.find(
        *_arrays(known), pa.array(["before", *asked, *known], kind).slice(1)
    )
    expected = [known.index(text) if text in known else -1 for text in [*asked, *known]]
    assert codes.tolist() == expected
    assert missing == expected.count(-1)


@pytest.mark.parametrize("pieces", [1, 3, 50])
def test_it_grows(pieces: int) -> None:
    texts = [f"http://example.org/{number}/{'x' * (number % 19)}" for number in range(5000)]
    index = TextIndex()
    for piece in range(1, pieces + 1):
        index.extend(*_arrays(texts[: len(texts) * piece // pieces]))
    codes, missing = index.find(*_arrays(texts), pa.array(texts[::-1]))
    assert (codes.tolist(), missing) == (list(range(len(texts)))[::-1], 0)


def test_small_batches_of_known_and_new_strings() -> None:
    dictionary = Dictionary()
    known = [f"text {number}" for number in range(100)]
    dictionary.encode(known)
    batch = pa.chunked_array([pa.array(["new", "text 7", "", "new"]), pa.array(["text 99"])])
    assert dictionary.encode(batch).tolist() == [100, 7, 101, 100, 99]
    assert dictionary.encode(batch).tolist() == [100, 7, 101, 100, 99]
    assert dictionary.lookup("") == 101
    assert dictionary.encode([]).tolist() == []
