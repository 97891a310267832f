"""Texts that come about where they were before have the codes that a look-up finds."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from lftj.errors import ValueTypeError
from lftj.types import NULL_CODE
from lftj.types.dictionary import Dictionary
from lftj.types.expected_texts import ExpectedTexts
from lftj.types.text_index import bytes_of_texts

TEXTS = [*(f"text number {n}" for n in range(9000)), "", "ä", "same" * 9, "same" * 9 + "r"]


def altered(texts: list[str], how: str, chance: random.Random) -> list[str]:
    texts = list(texts)
    if how == "longer":
        return [f"{text}." for text in texts]
    if how == "shuffled":
        chance.shuffle(texts)
    if how == "gaps":
        del texts[5000:6500]
        del texts[20:31]
        texts[300:300] = [f"new {n}" for n in range(700)]
    if how == "single":
        for place in chance.sample(range(len(texts)), 40):
            texts[place] = texts[place][:-1] + "x"
    return texts


@pytest.mark.parametrize("how", ["same", "gaps", "single", "shuffled", "longer"])
@pytest.mark.parametrize("few", [True, False])
def test_codes_are_those_of_a_look_up(how: str, few: bool) -> None:
    chance = random.Random(7)
    dictionary, other = Dictionary(), Dictionary()
    texts = [chance.choice(TEXTS[-40:]) for _ in TEXTS] if few else TEXTS
    there = dictionary.encode(texts)
    there[[3, 4, 5000]] = NULL_CODE
    other.encode(texts)
    coming = altered(texts, how, chance)
    expected = ExpectedTexts(lambda: there)
    pieces = [coming[:4000], coming[4000:4001], [], coming[4001:]]
    found = [dictionary.encode(pa.array(piece, pa.string()), expected) for piece in pieces]
    assert np.concatenate(found).tolist() == other.encode(coming).tolist()
    assert dictionary.decode(np.concatenate(found)).to_pylist() == coming


@pytest.mark.parametrize(
    ("how", "most"), [("same", 3), ("gaps", 900), ("single", 43), ("longer", 9004)]
)
def test_only_texts_that_differ_are_looked_up(how: str, most: int) -> None:
    dictionary = Dictionary()
    there = dictionary.encode(TEXTS)
    coming = pa.array(altered(TEXTS, how, random.Random(7)), pa.large_string())
    codes = np.zeros(len(coming), np.int64)
    missed = ExpectedTexts(lambda: there).find(dictionary.flat(), bytes_of_texts(coming), codes)
    assert len(missed) <= most


def test_bytes_that_are_no_text_are_refused() -> None:
    dictionary = Dictionary()
    expected = ExpectedTexts(lambda: dictionary.encode(["one", "two"]))
    wrong = pa.array([b"one", b"\xff\xfe"], pa.binary()).view(pa.string())
    with pytest.raises(ValueTypeError):
        dictionary.encode(wrong, expected)
