# SPDX-License-Identifier: Apache-2.0
"""The dictionary of strings: every distinct string gets the next free code 0, 1, 2, …, which no
other string will ever have.

Strings are kept twice: in a Python `dict` (to find a string's code) and as UTF-8 bytes end to end
in NumPy arrays (to find a code's string, in bulk and in compiled code), with an index of these (to
find the codes of a batch). Memory: about 190 bytes plus twice its length for a string of ASCII
letters, most of it the `dict` and its `str` objects; strings that come in large batches are in the
index alone. A dictionary may begin with strings that lie
in mapped files (`begin`): of these it keeps nothing.

Strings that no row has any more are forgotten (`forget`), all but eight bytes of each: when what is
kept has doubled, whoever knows where codes are tells which of them are in use. A string that comes
back gets a new code.

One writer at a time (a lock sees to it); readers take no lock. What a reader holds stays valid
while others add strings or forget them (`texts`): the arrays are replaced then and are never
changed in the part that was handed out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import repeat
from typing import Any
from weakref import WeakSet

import numpy as np
import pyarrow as pa

from lftj.errors import NullValueError, ValueTypeError
from lftj.scantree.process.forking import held_while_forking
from lftj.scantree.sharing import ALONE, Threads
from lftj.types import arrow_compute as pc
from lftj.types.arrow_arrays import (
    arrow_array,
    as_large_strings,
    bytes_of,
    numpy_array,
    one_piece,
    to_str,
)
from lftj.types.expected_texts import ExpectedTexts
from lftj.types.text_index import Table, TextIndex, bytes_of_texts
from lftj.types.texts import Flat, Texts, of_codes

_ENTRY = 190
"""Bytes of a string of no letters in the `dict`, in the index and as an offset."""
_FORGOTTEN = 8
"""Bytes that are left of a string that was forgotten: an offset."""
_ROOM = 16 << 20
"""Bytes that may come before any are looked through."""
_BULK = 1 << 14
"""Strings of a batch from which on no `str` objects are made of them."""
_SHARED = 1 << 17
"""Strings from which on it pays to start a thread that copies them."""
_FEW = 0.5
"""Share of the bytes of all strings: if those in use are more, the others are not worth the
work.
"""


class _Use:
    """Mark of work with strings. One that an interrupt left behind is gone with its last
    reference.
    """


class Dictionary(Texts):
    """Interning of strings to int64 codes in order of arrival."""

    def __init__(self, threads: Threads = ALONE) -> None:
        """`threads` help with many strings."""
        self._threads = threads
        self._codes: dict[str, int] = {}
        self._first = 0  # the first code whose string is in the `dict`
        self._entered = 0  # the first code that was not entered into the `dict`
        self._unlisted = 0  # strings from `_first` on that only the index has, forgotten ones apart
        self._offsets = np.zeros(1024, dtype=np.int64)
        self._data = np.empty(8192, dtype=np.uint8)
        super().__init__((self._offsets[:1], self._data[:0]), object())
        self._index = TextIndex()
        self._lock = threading.Lock()
        held_while_forking(self._lock)
        self._constants: dict[str, int] = {}
        self._uses: WeakSet[_Use] = WeakSet()
        self._lasting = 0  # bytes that were left when strings were forgotten last
        self.forgotten: np.ndarray = np.empty(0, np.int64)
        """Codes whose strings were forgotten, ascending."""

    def __len__(self) -> int:
        return len(self._flat[0]) - 1

    @property
    def bytes_in_use(self) -> int:
        """About what the strings take, in all the ways they are kept; those in mapped files take
        nothing. O(1).
        """
        offsets, data = self._flat
        entries = len(self._codes) + self._unlisted
        return (
            _ENTRY * entries
            + _FORGOTTEN * (len(self) - self._first - entries)
            + 2 * (len(data) - int(offsets[self._first]))
        )

    @property
    def strings(self) -> int:
        """Number of strings, without the forgotten ones."""
        return self._first + len(self._codes) + self._unlisted

    def __contains__(self, text: object) -> bool:
        return isinstance(text, str) and self.lookup(text) is not None

    def begin(
        self, offsets: np.ndarray, data: np.ndarray, count: int, tables: Sequence[Table]
    ) -> bool:
        """Take the first `count` strings from arrays as those of `flat`, with room behind them for
        more. False, and nothing happens, where the strings that are here are not the first ones
        there, so that their codes would change.

        `tables` find their codes; those that none has are entered. Nothing else is read: O(strings
        without a table + bytes that are here). Only strings that come later are kept in the `dict`.
        """
        with self._lock:
            self._finish()
            own_offsets, own = self._flat
            known = len(self)
            alike = (
                not len(self.forgotten)
                and known <= count
                and np.array_equal(own_offsets, offsets[: known + 1])
                and np.array_equal(own, data[: len(own)])
            )
            if not alike:
                return False
            self._first, self._entered, self._offsets, self._data = count, count, offsets, data
            self._codes, self._unlisted = {}, 0
            self._flat = (offsets[: count + 1], data[: int(offsets[count])])
            self._index = TextIndex(tables, count)
            self._index.extend(*self._flat)
        return True

    # ── strings to codes ──────────────────────────────────────────────────────────────────────────
    def encode(
        self,
        strings: pa.Array | pa.ChunkedArray | Sequence[str],
        expected: ExpectedTexts | None = None,
    ) -> np.ndarray:
        """Codes (int64, one per string) of an Arrow array of any string type or of a sequence of
        `str`; new strings are added.

        A large batch takes one compiled pass, as does one of fewer strings than are known. Of
        others, and of what that
        did not find, only the distinct strings pass through Python: O(n) in Arrow plus O(distinct)
        look-ups at about 0.2 µs. Raises NullValueError for NULL, ValueTypeError for what is not a
        string of Unicode characters. Texts that are `expected` need no look-up.
        """
        batch = one_piece(strings)
        if batch.null_count:
            row = int(np.flatnonzero(numpy_array(batch.is_null()))[0])
            raise NullValueError(
                f"row {row}: NULL is not a string",
                hint='leave the row out, or load with nulls="drop"',
            )
        if expected is not None:
            codes = np.zeros(len(batch), np.int64)
            others = expected.find(self._flat, bytes_of_texts(batch), codes)
            if 2 * len(others) > len(batch):
                return self.encode(batch)
            if len(others):
                codes[others] = self.encode(batch.take(arrow_array(others)))
            return codes
        if len(batch) >= _BULK and not self._first:
            return self._interned(batch)
        if len(self) < len(batch) < _BULK:
            distinct = as_large_strings(batch).dictionary_encode()
            return self._encode_distinct(distinct.dictionary)[numpy_array(distinct.indices)]
        with self._lock:
            self._finish()
            codes, missing = self._index.find(*self._flat, batch)
        if missing >= _BULK:
            new = np.flatnonzero(codes < 0)
            codes[new] = self._interned(batch.take(arrow_array(new)))
            return codes
        if missing:
            new = np.flatnonzero(codes < 0)
            texts = to_str(batch.take(arrow_array(new)))
            distinct = list(dict.fromkeys(texts))
            found = self._encode_distinct(arrow_array(distinct, type=pa.large_string()))
            code_of = dict(zip(distinct, found.tolist(), strict=True))
            codes[new] = np.fromiter(
                map(code_of.__getitem__, texts), dtype=np.int64, count=len(texts)
            )
        return codes

    def _interned(self, batch: pa.StringArray | pa.LargeStringArray) -> np.ndarray:
        """As `encode`, by the index alone. Pieces grow, as room is made for as many strings."""
        codes = np.empty(len(batch), np.int64)
        done, size, new_ones = 0, _BULK, False
        with self._lock:
            self._finish()
            while done < len(batch):
                piece = batch.slice(done, size)
                found, fresh, ready = self._found_or_entered(piece, new_ones)
                if len(fresh):
                    new = piece if len(fresh) == len(piece) else piece.take(arrow_array(fresh))
                    first = len(self)
                    self._flat = ready if new is piece and ready else self._copied(new)
                    unlisted = self._unlisted + len(self) - first
                    self.__dict__.update(_unlisted=unlisted, _entered=len(self))
                self._index.entered(len(self))
                codes[done : done + len(piece)] = found
                done += len(piece)
                new_ones = 2 * len(fresh) > len(piece)
                size = len(batch) if new_ones else 4 * size
        return codes

    def _found_or_entered(
        self, piece: pa.StringArray | pa.LargeStringArray, new_ones: bool
    ) -> tuple[np.ndarray, np.ndarray, Flat | None]:
        """Codes, and places of the strings that are new, as the index gives them. Of `new_ones`,
        mostly, another thread copies the bytes meanwhile, as if all were new; `flat` as it is then.
        """
        index, flat = self._index, self._flat
        if self._threads.workers == 1 or not new_ones or len(piece) < _SHARED:
            return *index.find_or_enter(*flat, piece), None
        tasks: list[Callable[[], Any]] = [
            lambda: index.find_or_enter(*flat, piece),
            lambda: self._copied(piece),
        ]
        (codes, fresh), ready = self._threads.together(lambda task: task(), tasks)
        return codes, fresh, ready

    def encode_one(self, text: str) -> int:
        """The code of one string, added when new. Raises ValueTypeError for a lone surrogate, which
        UTF-8 cannot hold.
        """
        code = self._codes.get(text)
        return int(self.encode([text])[0]) if code is None else code

    def constant(self, text: str) -> int:
        """The code of a string that a rule names, as `encode_one`; it is never forgotten, as plans
        are kept that have it.
        """
        code = self._constants.get(text)
        if code is None:
            with self.in_use():
                code = self._constants[text] = self.encode_one(text)
        return code

    def lookup(self, text: str) -> int | None:
        """The code of a string, or None when it never entered the dictionary. O(1)."""
        code = self._codes.get(text)
        if code is None:
            code = self._constants.get(text)
        if code is None and (self._first or self._unlisted):
            with self._lock, suppress(ValueTypeError):
                code = int(self._index.find(*self._flat, one_piece([text]))[0][0])
        return None if code is None or code < 0 else code

    def _encode_distinct(self, distinct: pa.Array) -> np.ndarray:
        texts = to_str(distinct)
        with self._lock:
            known = self._codes
            self._finish()
            codes = np.fromiter(map(known.get, texts, repeat(-1)), dtype=np.int64, count=len(texts))
            new = np.flatnonzero(codes < 0)
            if len(new) and (self._first or self._unlisted):
                codes[new] = self._index.find(*self._flat, distinct.take(arrow_array(new)))[0]
                new = np.flatnonzero(codes < 0)
            if len(new):
                first = len(self)
                codes[new] = np.arange(first, first + len(new))
                if len(new) < len(texts):
                    distinct, texts = (
                        distinct.take(arrow_array(new)),
                        [texts[i] for i in new.tolist()],
                    )
                self._append(distinct)
                known.update(zip(texts, range(first, first + len(new)), strict=True))
                self._entered = len(self)
        return codes

    def _finish(self) -> None:
        """Ends what an interrupt (Ctrl-C) left half done: strings whose bytes are published but
        that cannot be looked up yet.
        """
        if self._entered < len(self):
            self._index.extend(*self._flat)
            for code in range(self._entered, len(self)):
                self._codes[self.decode_one(code)] = code
            self._entered = len(self)

    # ── forgetting ────────────────────────────────────────────────────────────────────────────────
    def texts(self) -> Texts:
        """The strings as they are known now, for whoever keeps codes outside of trees. O(1)."""
        return Texts(self._flat, self.meaning)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Keep all strings for the length of a block: for those who encode strings without being
        the one who writes.
        """
        use = _Use()
        with self._lock:
            self._uses.add(use)
        try:
            yield
        finally:
            self._uses.discard(use)

    @property
    def overgrown(self) -> bool:
        """True when strings take so much more than after the last clean-up that it is time to
        `forget` some. O(1).
        """
        return self.bytes_in_use > 2 * self._lasting + _ROOM

    def forget(self, held: Callable[[int], np.ndarray]) -> None:
        """Forget the strings that are in use nowhere, unless they are the smaller part or someone
        else is just using some.

        `held(n)`: one truth value for each of the codes below n, whether it may stand in some row.
        Whoever keeps codes elsewhere keeps `texts` with them, but for constants. O(strings) beside
        what `held` takes, so that it is O(1) for each that came when it is done whenever they are
        `overgrown`.
        """
        with self._lock:
            self._finish()
            if len(self._uses) or self._first:
                return
            used = held(len(self))
            used[list(self._constants.values())] = True
            known = self._index.codes()
            kept = known[used[known]]
            left = _ENTRY * len(kept) + 2 * int(self.lengths(kept).sum())
            if left < _FEW * self.bytes_in_use:
                self.__dict__.update(
                    self._only(kept)
                )  # in one step, so that an interrupt finds all of it as it was, or all of it new
            self._lasting = self.bytes_in_use

    def _only(self, kept: np.ndarray) -> dict[str, Any]:
        """Attributes that change when all strings but those of these codes are forgotten."""
        chosen = np.zeros(len(self), np.bool_)
        chosen[kept] = True
        flat = of_codes(self._flat, chosen)
        index = TextIndex(kept=kept, count=len(self))
        index.extend(*flat)
        among = chosen.tobytes()
        codes = {text: code for text, code in self._codes.items() if among[code]}
        return {
            "_codes": codes,
            "_unlisted": len(kept) - len(codes),
            "_offsets": flat[0],
            "_data": flat[1],
            "_flat": flat,
            "_index": index,
            "meaning": object(),
            "forgotten": np.flatnonzero(~chosen),
        }

    def _append(self, strings: pa.Array) -> None:
        """Adds the bytes of new strings, shows both arrays to readers in one assignment, and enters
        the strings into the index.
        """
        self._flat = self._with(as_large_strings(strings))
        self._index.extend(*self._flat)

    def _copied(self, strings: pa.Array) -> Flat:
        """As `_with`, of strings of which nobody knows that they are Unicode."""
        _check_unicode(strings)
        return self._with(as_large_strings(strings))

    def _with(self, strings: pa.LargeStringArray) -> Flat:
        """Both arrays with new strings behind the known ones, for which nobody else sees a
        difference.
        """
        count, used = len(self), int(self._offsets[len(self)])
        ends = used + np.cumsum(numpy_array(pc.binary_length(strings)).astype(np.int64))
        self._offsets = _with_room(self._offsets, count + 1, count + 1 + len(strings))
        self._data = _with_room(self._data, used, int(ends[-1]))
        self._offsets[count + 1 : count + 1 + len(strings)] = ends
        self._data[used : ends[-1]] = bytes_of(strings)
        return self._offsets[: count + 1 + len(strings)], self._data[: ends[-1]]


def _check_unicode(strings: pa.Array) -> None:
    """Raise ValueTypeError for bytes that are not UTF-8."""
    try:
        strings.validate(full=True)
    except pa.ArrowInvalid:
        to_str(strings)
        raise


class PassingNames(Dictionary):
    """A dictionary for a question, of which no plan is kept: what it names is forgotten like other
    strings. Use while it is `in_use`.
    """

    def __init__(self, dictionary: Dictionary):
        self.__dict__ = dictionary.__dict__  # the same one, but for a method

    def constant(self, text: str) -> int:
        """The code of a string that the question names."""
        return self.encode_one(text)


def _with_room(array: np.ndarray, used: int, needed: int) -> np.ndarray:
    """`array` itself, or a copy of its used part at least twice as long, with room behind what is
    needed now: the one string that follows a large batch is not to copy it. Memory is taken as it
    is written to. Readers may go on with the old one.
    """
    if needed <= len(array):
        return array
    grown = np.empty(max(needed + (needed >> 2), 2 * len(array)), dtype=array.dtype)
    grown[:used] = array[:used]
    return grown
