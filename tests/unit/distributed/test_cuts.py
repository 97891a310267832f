"""Parts of values: the same for every dictionary, spread well, and the readers of a batch."""

from __future__ import annotations

import numpy as np
import pytest

from lftj.distributed.partitioning.cuts import (
    ALL,
    EVERYBODY,
    ONE,
    HubCut,
    holders,
    label,
    local_name,
    parts_of,
    readers,
    slots,
)
from lftj.types import DATE, INT, STR
from lftj.types.dictionary import Dictionary


def test_the_part_of_a_text_does_not_depend_on_its_code() -> None:
    words = ["a", "b", "", "ü", "\U0001f600", "word"]
    one, other = Dictionary(), Dictionary()
    other.encode(words[::-1])
    first, second = (
        slots(dictionary.encode(words), STR, dictionary, 5) for dictionary in (one, other)
    )
    assert first.tolist() == second.tolist()
    assert len(set(first.tolist())) > 1


@pytest.mark.parametrize("parts", [1, 2, 7, 64])
@pytest.mark.parametrize("step", [1, 2, 64, 1 << 32, -3])
def test_numbers_spread_evenly_whatever_their_steps(parts: int, step: int) -> None:
    found = slots(np.arange(20_000, dtype=np.int64) * step, INT, Dictionary(), parts)
    counts = np.bincount(found, minlength=parts)
    assert len(counts) == parts
    assert counts.min() > 0.7 * 20_000 / parts


def test_the_parts_of_known_values_never_change() -> None:
    # Files on disk rely on this.
    dictionary = Dictionary()
    assert slots(np.array([0, 1, -1, 2**63 - 1, -(2**63)]), INT, dictionary, 1000).tolist() == [
        0,
        394,
        533,
        766,
        525,
    ]
    assert slots(dictionary.encode(["", "a", "Zürich"]), STR, dictionary, 1000).tolist() == [
        0,
        523,
        702,
    ]
    assert slots(np.array([], np.int64), DATE, dictionary, 3).tolist() == []


def test_a_row_goes_by_the_column_of_the_cut() -> None:
    columns, types = [np.array([1, 2]), np.array([5, 5])], [INT, INT]
    by_second = parts_of(columns, types, 1, Dictionary(), 64)
    assert by_second[0] == by_second[1]
    assert parts_of(columns, types, ONE, Dictionary(), 64).tolist() == [0, 0]


def test_who_reads_a_batch() -> None:
    assert readers(0, [2, 3], 8) == {2, 3}
    assert readers(0, None, 3) == {0, 1, 2}
    assert readers(ALL, [2], 3) == {0, 1, 2}
    assert readers(ONE, [2], 3) == {0}
    assert [local_name("e", cut) for cut in (0, 1, ALL, ONE)] == ["e@0", "e@1", "e@all", "e@one"]


def test_rows_of_hubs_lie_by_the_second_column_or_everywhere() -> None:
    columns, types = [np.repeat([7, 8, 9], 100), np.tile(np.arange(100), 3)], [INT, INT]
    first, second = (parts_of(columns, types, cut, Dictionary(), 5) for cut in (0, 1))
    hub = columns[0] == 8
    split = parts_of(columns, types, HubCut(0, 1, (8, 100)), Dictionary(), 5)
    assert split.tolist() == np.where(hub, second, first).tolist()
    assert set(split[hub].tolist()) == set(range(5))
    assert (
        parts_of(columns, types, HubCut(0, None, (8,)), Dictionary(), 5).tolist()
        == np.where(hub, EVERYBODY, first).tolist()
    )


def test_a_text_is_a_hub_whatever_its_code() -> None:
    cut = HubCut(0, None, ("a", "never seen"))
    for words in (["b", "a"], ["a", "b"]):
        dictionary = Dictionary()
        codes = dictionary.encode(words)
        assert cut.found(codes, STR, dictionary).tolist() == [word == "a" for word in words]
    assert len(dictionary) == 2, "asking makes no strings known"


def test_who_may_have_rows_with_known_values() -> None:
    types, everybody = [INT, STR], set(range(8))
    (seven,) = holders({0: 7}, types, 0, 8)
    (text,) = holders({1: "a"}, types, 1, 8)
    assert seven != text
    assert holders({1: "a"}, types, 0, 8) == holders({}, types, ALL, 8) == everybody
    split, everywhere = HubCut(0, 1, (7,)), HubCut(0, None, (7,))
    assert holders({0: 7}, types, split, 8) == holders({1: "a"}, types, split, 8) == everybody
    assert holders({0: 7, 1: "a"}, types, split, 8) == {text}
    assert holders({0: 7, 1: "a"}, types, everywhere, 8) == everybody
    assert (
        holders({0: 6, 1: "a"}, types, split, 8)
        == holders({0: 6}, types, everywhere, 8)
        == holders({0: 6}, types, 0, 8)
    )


def test_files_tell_cuts_with_other_hubs_apart() -> None:
    one, other = HubCut(0, 1, (7,)), HubCut(0, 1, (7, 8))
    assert (local_name("e", one), local_name("e", HubCut(1, None, ()))) == ("e@0+1", "e@1+all")
    assert local_name("e", one) == local_name("e", other)
    assert label(one) != label(other)
    assert label(one) != label(HubCut(0, 1, ("7",)))
    assert label(one) == label(HubCut(0, 1, (7,)))
    assert label(3) == 3
