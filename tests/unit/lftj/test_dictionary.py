"""Interning: one code for one string, whatever it came in, and the bytes of all strings in code
order.
"""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lftj.errors import NullValueError, ValueTypeError
from lftj.partition.executor import ThreadExecutor
from lftj.types import dictionary as module
from lftj.types.dictionary import Dictionary

TEXTS = st.lists(st.text(st.characters(exclude_categories=("Cs",)), max_size=6), max_size=30)


@given(st.lists(TEXTS, max_size=4))
def test_batches_keep_one_code_per_string(batches: list[list[str]]) -> None:
    dictionary = Dictionary()
    order: dict[str, int] = {}
    for batch in batches:
        for text in batch:
            order.setdefault(text, len(order))
        codes = dictionary.encode(batch)
        assert codes.tolist() == [order[text] for text in batch]
        assert codes.dtype == np.int64
        assert dictionary.decode(codes).to_pylist() == batch
    assert len(dictionary) == len(order)


@given(TEXTS)
def test_flat_holds_the_bytes_in_code_order(texts: list[str]) -> None:
    dictionary = Dictionary()
    dictionary.encode(texts)
    offsets, data = dictionary.flat()
    distinct = list(dict.fromkeys(texts))
    assert data.tobytes() == "".join(distinct).encode()
    assert [data[a:b].tobytes().decode() for a, b in itertools.pairwise(offsets)] == distinct
    assert dictionary.lengths(np.arange(len(distinct))).tolist() == [
        len(text.encode()) for text in distinct
    ]


@given(st.sets(st.text(st.characters(exclude_categories=("Cs",)), max_size=4), max_size=20))
def test_ranks_follow_code_points(texts: set[str]) -> None:
    dictionary = Dictionary()
    codes = dictionary.encode(list(texts))
    by_rank = dict(zip(dictionary.ranks(codes).tolist(), texts, strict=True))
    assert [by_rank[i] for i in range(len(texts))] == sorted(texts)


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())],
)
def test_every_arrow_string_type(kind: pa.DataType) -> None:
    array = pa.array(["b", "", "b", "é\t\n\0"]).cast(kind)
    assert Dictionary().encode(array).tolist() == [0, 1, 0, 2]
    assert Dictionary().encode(array.slice(1, 2)).tolist() == [0, 1]
    assert Dictionary().encode(pa.chunked_array([array, array])).tolist() == [0, 1, 0, 2] * 2


def test_views_handed_out_stay_valid_while_the_dictionary_grows() -> None:
    dictionary = Dictionary()
    dictionary.encode(["first", "second"])
    offsets, data = dictionary.flat()
    dictionary.encode([f"text {i}" for i in range(50_000)])
    assert data[offsets[1] : offsets[2]].tobytes() == b"second"
    assert len(offsets) == 3
    assert dictionary.decode_one(50_001) == "text 49999"


def test_lookup_adds_nothing() -> None:
    dictionary = Dictionary()
    assert dictionary.lookup("a") is None
    assert "a" not in dictionary
    assert dictionary.encode_one("a") == dictionary.lookup("a") == dictionary.encode_one("a") == 0
    assert len(dictionary) == 1


def test_refusals() -> None:
    dictionary = Dictionary()
    with pytest.raises(NullValueError, match="row 1: NULL"):
        dictionary.encode(pa.array(["a", None]))
    with pytest.raises(ValueTypeError, match="surrogates"):
        dictionary.encode_one("\ud800")
    with pytest.raises(IndexError):
        dictionary.decode_one(0)
    assert len(dictionary) == 0


def test_an_interrupt_between_the_two_halves_of_adding_is_made_good() -> None:
    dictionary = Dictionary()

    class Interrupted(dict[str, int]):
        def update(self, *_: object) -> None:  # type: ignore[override]
            raise KeyboardInterrupt

    dictionary._codes = Interrupted({})
    with pytest.raises(KeyboardInterrupt):
        dictionary.encode(["a", "b"])
    dictionary._codes = dict(dictionary._codes)
    assert dictionary.encode(["b", "c", "a"]).tolist() == [1, 2, 0]
    assert dictionary.decode(np.arange(3)).to_pylist() == ["a", "b", "c"]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("bulk", [1, 3])
@given(batches=st.lists(st.lists(st.text(max_size=12), max_size=40), max_size=6))
def test_large_batches_keep_one_code_per_string(
    threads: int, bulk: int, batches: list[list[str]]
) -> None:
    dictionary, known = Dictionary(ThreadExecutor(threads)), dict[str, int]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BULK", bulk)
        patch.setattr(module, "_SHARED", bulk)
        for number, batch in enumerate(batches):
            column = pa.array(["before", *batch], pa.large_string() if number % 2 else pa.string())
            codes = dictionary.encode(column.slice(1)).tolist()
            for text in batch:
                known.setdefault(text, len(known))
            assert codes == [known[text] for text in batch]
            if batch:
                assert dictionary.encode_one(batch[0]) == dictionary.lookup(batch[0]) == codes[0]
                assert dictionary.constant(batch[-1]) == codes[-1]
    assert dictionary.strings == len(dictionary) == len(known)
    assert dictionary.decode(np.arange(len(known))).to_pylist() == list(known)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_large_batch_that_is_broken_off_leaves_nothing_behind(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SHARED", 1000)
    many = [f"text {number}" for number in range(2 * module._BULK)]
    dictionary = Dictionary(ThreadExecutor(threads))
    dictionary.encode(["a", many[5]])
    wrong = pa.array([text.encode() for text in many[:-1]] + [b"\xff"]).view(pa.string())
    with pytest.raises(ValueTypeError, match="Unicode"):
        dictionary.encode(wrong)
    first = len(dictionary)
    assert dictionary.encode([many[7], "b"])[1] == len(dictionary) - 1
    codes = dictionary.encode(many)
    assert len(set(codes.tolist())) == len(many)
    assert (codes[5], dictionary.encode_one("a"), dictionary.lookup("none")) == (1, 0, None)
    assert dictionary.decode(codes).to_pylist() == many
    assert len(dictionary) <= len(many) + 2
    assert first >= 2


def test_strings_of_large_batches_are_forgotten_like_others() -> None:
    many = [f"text {number}" for number in range(2 * module._BULK)]
    dictionary = Dictionary()
    codes = dictionary.encode(many)

    def held(count: int) -> np.ndarray:
        return np.arange(count) % 8 == 0

    dictionary.forget(held)
    assert dictionary.strings == len(many) // 8
    assert dictionary.encode_one(many[8]) == codes[8]
    assert dictionary.encode_one(many[9]) == len(many)
    again = dictionary.encode(many)
    assert again[::8].tolist() == codes[::8].tolist()
    assert dictionary.decode(again).to_pylist() == many


def test_threads_agree_on_codes() -> None:
    dictionary = Dictionary()
    found: list[np.ndarray] = [np.empty(0)] * 4

    def work(i: int) -> None:
        found[i] = np.concatenate(
            [dictionary.encode([f"{k % 97}-{start}" for k in range(200)]) for start in range(20)]
        )

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(found[0], other) for other in found[1:])
    assert len(dictionary) == 97 * 20
