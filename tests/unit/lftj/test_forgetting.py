"""The dictionary forgets strings whose codes nobody has: what is left keeps its code, and what
comes back gets another.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lftj.types import dictionary as dictionary_module
from lftj.types.dictionary import Dictionary
from lftj.types.text_index import Table

TEXTS = st.lists(st.text("aé\0", max_size=3), max_size=8)


@pytest.fixture(autouse=True)
def _always(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few strings could go, they do."""
    monkeypatch.setattr(dictionary_module, "_FEW", np.inf)


def held(codes: list[int]) -> Callable[[int], np.ndarray]:
    """Make a function that marks these codes, and no others, as used in rows."""
    return lambda below: np.isin(np.arange(below), codes)


@given(st.lists(st.one_of(TEXTS, st.sets(st.integers(0, 30))), max_size=12))
def test_codes_mean_one_string_for_ever(steps: list[list[str] | set[int]]) -> None:
    dictionary = Dictionary()
    known: dict[str, int] = {}
    meant: list[str] = []
    for step in steps:
        if isinstance(step, set):
            dictionary.forget(held(list(step)))
            known = {text: code for text, code in known.items() if code in step}
        else:
            for text in step:
                if text not in known:
                    known[text] = len(meant)
                    meant.append(text)
            assert dictionary.encode(step).tolist() == [known[text] for text in step]
        assert len(dictionary) == len(meant)
        assert dictionary.strings == len(known)
        assert all(dictionary.lookup(text) == known.get(text) for text in meant)
        assert dictionary.decode(np.array(list(known.values()), np.int64)).to_pylist() == list(
            known
        )


def test_the_index_of_what_is_left_grows_on() -> None:
    dictionary = Dictionary()
    texts = [f"text {number}" for number in range(5000)]
    dictionary.encode(texts)
    left = list(range(0, 5000, 7))
    dictionary.forget(held(left))
    more = [f"other {number}" for number in range(20_000)]
    dictionary.encode(more)
    assert dictionary.encode([texts[code] for code in left[:100]]).tolist() == left[:100]
    assert dictionary.encode(more[:100]).tolist() == list(range(5000, 5100))
    assert dictionary.encode(texts[1:3]).tolist() == [25_000, 25_001]


def test_what_was_handed_out_stays() -> None:
    dictionary = Dictionary()
    dictionary.encode(["first", "second"])
    before = dictionary.texts()
    dictionary.forget(held([1]))
    dictionary.encode(["third"])
    assert before.decode(np.array([1, 0])).to_pylist() == ["second", "first"]
    assert dictionary.texts().decode(np.array([1, 2])).to_pylist() == ["second", "third"]
    assert before.meaning is not dictionary.texts().meaning


def test_constants_stay() -> None:
    dictionary = Dictionary()
    dictionary.encode(["row", "named", "both"])
    assert (dictionary.constant("named"), dictionary.constant("new")) == (1, 3)
    dictionary.forget(held([]))
    assert (dictionary.lookup("named"), dictionary.constant("new"), dictionary.lookup("row")) == (
        1,
        3,
        None,
    )


def test_nothing_goes_while_others_are_at_work() -> None:
    dictionary = Dictionary()
    dictionary.encode(["a"])
    with dictionary.in_use():
        with suppress(ZeroDivisionError), dictionary.in_use():
            raise ZeroDivisionError
        dictionary.forget(held([]))
        assert dictionary.lookup("a") == 0
    dictionary.forget(held([]))
    assert dictionary.lookup("a") is None


def test_strings_in_files_stay() -> None:
    offsets, data = np.array([0, 1, 2]), np.frombuffer(b"ab", np.uint8)
    dictionary = Dictionary()
    assert dictionary.begin(offsets, data, 2, [Table.of(offsets, data, 0, 2)])
    dictionary.encode(["c"])
    dictionary.forget(held([]))
    assert [dictionary.lookup(text) for text in "abc"] == [0, 1, 2]


def test_it_is_time_when_strings_have_doubled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dictionary_module, "_FEW", 0.5)
    monkeypatch.setattr(dictionary_module, "_ROOM", 1000)
    dictionary = Dictionary()
    dictionary.encode(["a" * 100])
    assert not dictionary.overgrown
    dictionary.encode(["b" * 1000])
    assert dictionary.overgrown
    dictionary.forget(held([1]))
    assert dictionary.lookup("a" * 100) == 0, "most are in use, so it was not worth the work"
    assert not dictionary.overgrown
    dictionary.encode(["c" * 3000])
    assert dictionary.overgrown
    dictionary.forget(held([0]))
    assert dictionary.strings == 1
    assert dictionary.bytes_in_use < 500


def test_an_interrupt_leaves_all_or_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    dictionary = Dictionary()
    dictionary.encode(["a", "b"])

    def interrupted(**_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(dictionary_module, "TextIndex", interrupted)
        with pytest.raises(KeyboardInterrupt):
            dictionary.forget(held([1]))
    assert dictionary.encode(["b", "a"]).tolist() == [1, 0]
    dictionary.forget(held([1]))
    assert dictionary.encode(["b", "a"]).tolist() == [1, 2]
