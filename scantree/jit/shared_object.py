# SPDX-License-Identifier: Apache-2.0
"""A linker for the machine code of kernels: objects as LLVM makes them to one ELF shared object.

Machines that install a package need not have a linker, and kernels need little of one: their
objects refer to their own code and data, to C's `memcpy` and its like, and to Python's C interface.
So three kinds of relocation do, and one table of imports. What objects define with global binding
is exported. The layout is that of any shared object: a part that is read, one that is run, one that
is written (System V ABI, AMD64 supplement; "Tool Interface Standard: ELF", 1995).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_PAGE = 0x1000
_PROGBITS, _SYMTAB, _STRTAB, _RELA, _HASH, _DYNAMIC, _NOBITS, _DYNSYM = 1, 2, 3, 4, 5, 6, 8, 11
_WRITE, _ALLOCATE, _EXECUTE, _THREAD_LOCAL = 1, 2, 4, 0x400
_ABSOLUTE, _RELATIVE_TO_PC, _BY_STUB, _IMPORT = 1, 2, 4, 6
_RELATIVE = 8
_GLOBAL = 1
_SYMBOL, _RELOCATION, _SECTION = "<IBBHQQ", "<QQq", "<IIQQQQIIQQ"
_STUB = b"\xff\x25"  # jmp *offset(%rip)
_STUB_SIZE = 8
_LIBRARIES = ("libc.so.6", "libm.so.6")
_RANDOM_ORDER = 31  # a number of hash chains


class LinkError(Exception):
    """An object holds what this linker does not know; the message says what."""


@dataclass(eq=False)
class _Section:
    """A section of an object, and where it came to lie."""

    name: str
    flags: int
    align: int
    size: int
    content: bytes
    address: int = 0


@dataclass
class _Symbol:
    name: str
    section: _Section | None
    value: int
    exported: bool
    function: bool

    @property
    def address(self) -> int:
        """The address of the symbol in the shared object."""
        return self.value + (0 if self.section is None else self.section.address)


@dataclass
class _Object:
    """One object: sections that are loaded, and the relocations in them."""

    sections: list[_Section]
    symbols: list[_Symbol]
    relocations: list[tuple[_Section, int, int, _Symbol, int]] = field(default_factory=list)


def link(objects: Iterable[bytes], name: str) -> bytes:
    """The content of a shared object called `name`, made of relocatable objects for x86-64.

    Raises LinkError.
    """
    return _Image([_parse(each) for each in objects], name).content()


# ── reading objects ───────────────────────────────────────────────────────────────────────────────
def _parse(data: bytes) -> _Object:
    if data[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<HH", data, 16) != (1, 62):
        raise LinkError("this is no relocatable object for x86-64")
    (start,) = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from(_SECTION, data, start + size * each) for each in range(count)]
    sections: dict[int, _Section] = {}
    for number, (at, kind, flags, _, offset, length, _, _, align, _) in enumerate(headers):
        section = _string(data, headers[names][4] + at)
        if flags & _THREAD_LOCAL:
            raise LinkError(f"{section} is a section for each thread")
        if flags & _ALLOCATE and kind in (_PROGBITS, _NOBITS) and section != ".eh_frame":
            content = b"" if kind == _NOBITS else data[offset : offset + length]
            sections[number] = _Section(section, flags, max(align, 1), length, content)
    made = _Object(list(sections.values()), [])
    for header in headers:
        if header[1] == _SYMTAB:
            made.symbols = list(_symbols(data, header, headers[header[6]][4], sections))
    for _, kind, _, _, offset, length, _, target, _, _ in headers:
        if kind == _RELA and target in sections:
            for place, info, addend in struct.iter_unpack(
                _RELOCATION, data[offset : offset + length]
            ):
                symbol = made.symbols[info >> 32]
                made.relocations.append(
                    (sections[target], place, info & 0xFFFFFFFF, symbol, addend)
                )
    return made


def _symbols(
    data: bytes, header: tuple[int, ...], strings: int, sections: dict[int, _Section]
) -> Iterator[_Symbol]:
    for at, info, _, section, value, _ in struct.iter_unpack(
        _SYMBOL, data[header[4] : header[4] + header[5]]
    ):
        found = sections.get(section)
        exported = info >> 4 == _GLOBAL and found is not None
        yield _Symbol(_string(data, strings + at), found, value, exported, info & 15 == 2)


def _string(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()


# ── writing the shared object ─────────────────────────────────────────────────────────────────────
class _Strings:
    """A table of strings, each followed by a zero."""

    def __init__(self) -> None:
        self.content = b"\0"

    def add(self, text: str) -> int:
        """The offset of a text that is appended."""
        self.content += text.encode() + b"\0"
        return len(self.content) - len(text.encode()) - 1


class _Image:
    """The shared object while it is made: parts in the order of their addresses, which are offsets
    in the file too, but for what is zero at the end.
    """

    def __init__(self, objects: list[_Object], name: str) -> None:
        self.objects = objects
        self.strings = _Strings()
        self.needed = [self.strings.add(each) for each in _LIBRARIES]
        self.name = self.strings.add(name)
        self.exports = [each for one in objects for each in one.symbols if each.exported]
        imported = {
            symbol.name
            for one in objects
            for *_, symbol, _ in one.relocations
            if symbol.section is None
        }
        unknown = sorted(each for each in imported if each.startswith(("NRT", "_Z", "numba")))
        if unknown:
            raise LinkError(f"nothing has {', '.join(unknown)}")
        self.imports = {name: number for number, name in enumerate(sorted(imported))}
        self.absolute = sum(
            kind == _ABSOLUTE for one in objects for _, _, kind, _, _ in one.relocations
        )
        self.headers: list[tuple[str, int, int, int, int, int, int, int]] = []
        self.parts: list[tuple[int, bytes]] = []
        self._place()

    def _place(self) -> None:
        """Give everything its address."""
        symbols = len(self.imports) + len(self.exports) + 1
        names = [*self.imports, *(each.name for each in self.exports)]
        self.offsets = [self.strings.add(each) for each in names]
        at = 64 + 56 * 5
        self.symbols_at = at = _aligned(at, 8)
        self.hash_at = at = at + 24 * symbols
        self.strings_at = at = at + 4 * (2 + _RANDOM_ORDER + symbols)
        self.relocations_at = at = _aligned(at + len(self.strings.content), 8)
        at += 24 * (len(self.imports) + self.absolute)
        at = self._place_sections(at, 0)
        self.code_at = at = _aligned(at, _PAGE)
        self.stubs_at = at
        at = self._place_sections(at + _STUB_SIZE * len(self.imports), _EXECUTE)
        self.data_at = at = _aligned(at, _PAGE)
        self.dynamic_at = at
        self.imports_at = at = at + 16 * (len(self.needed) + 10)
        self.file_end = at = self._place_sections(at + 8 * len(self.imports), _WRITE)
        self.end = self._place_sections(at, _WRITE, empty=True)

    def _place_sections(self, at: int, flags: int, empty: bool = False) -> int:
        for section in (each for one in self.objects for each in one.sections):
            if section.flags & (_WRITE | _EXECUTE) == flags and (not section.content) == empty:
                section.address = at = _aligned(at, section.align)
                at += section.size
        return at

    def content(self) -> bytes:
        """The bytes of the file."""
        image = bytearray(self.file_end)
        for section in (each for one in self.objects for each in one.sections):
            if section.content:
                image[section.address : section.address + section.size] = section.content
        for number in range(len(self.imports)):
            stub = self.stubs_at + _STUB_SIZE * number
            offset = self.imports_at + 8 * number - stub - 6
            image[stub : stub + 6] = _STUB + struct.pack("<i", offset)
        self._put(image, self.relocations_at, b"".join(self._relocations(image)))
        self._put(image, self.symbols_at, b"".join(self._symbol_table()))
        self._put(image, self.hash_at, self._hash_table())
        self._put(image, self.strings_at, self.strings.content)
        self._put(image, self.dynamic_at, self._dynamic())
        return self._with_headers(image)

    @staticmethod
    def _put(image: bytearray, at: int, content: bytes) -> None:
        image[at : at + len(content)] = content

    def _relocations(self, image: bytearray) -> Iterator[bytes]:
        """The relocations that are left to the loader; all others are done here."""
        for number in self.imports.values():
            yield struct.pack(
                _RELOCATION, self.imports_at + 8 * number, (number + 1) << 32 | _IMPORT, 0
            )
        for one in self.objects:
            for section, place, kind, symbol, addend in one.relocations:
                at = section.address + place
                if kind == _ABSOLUTE:
                    if symbol.section is None or not section.flags & _WRITE:
                        raise LinkError(f"{section.name} holds the address of {symbol.name}")
                    yield struct.pack(_RELOCATION, at, _RELATIVE, symbol.address + addend)
                else:
                    offset = self._target(kind, symbol) + addend - at
                    struct.pack_into("<i", image, at, offset)

    def _target(self, kind: int, symbol: _Symbol) -> int:
        if kind in (_RELATIVE_TO_PC, _BY_STUB):
            if symbol.section is not None:
                return symbol.address
            if kind == _BY_STUB:
                return self.stubs_at + _STUB_SIZE * self.imports[symbol.name]
        raise LinkError(f"a relocation of kind {kind} for {symbol.name}")

    def _symbol_table(self) -> Iterator[bytes]:
        yield bytes(24)
        for offset in self.offsets[: len(self.imports)]:
            yield struct.pack(_SYMBOL, offset, _GLOBAL << 4, 0, 0, 0, 0)
        for offset, each in zip(self.offsets[len(self.imports) :], self.exports, strict=True):
            assert each.section is not None
            number = 6 if each.section.flags & _EXECUTE else 7  # in the list of section headers
            kind = 2 if each.function else 1
            yield struct.pack(_SYMBOL, offset, _GLOBAL << 4 | kind, 0, number, each.address, 8)

    def _hash_table(self) -> bytes:
        names = ["", *self.imports, *(each.name for each in self.exports)]
        buckets, chains = [0] * _RANDOM_ORDER, [0] * len(names)
        for number, name in enumerate(names[1:], 1):
            bucket = _hashed(name) % _RANDOM_ORDER
            chains[number], buckets[bucket] = buckets[bucket], number
        return struct.pack(
            f"<{2 + len(buckets) + len(chains)}I", len(buckets), len(chains), *buckets, *chains
        )

    def _dynamic(self) -> bytes:
        relocations = 24 * (len(self.imports) + self.absolute)
        entries = [
            *((1, each) for each in self.needed), (14, self.name), (4, self.hash_at),
            (5, self.strings_at), (6, self.symbols_at), (10, len(self.strings.content)), (11, 24),
            (7, self.relocations_at), (8, relocations), (9, 24), (0, 0),
        ]  # fmt: skip
        return b"".join(struct.pack("<qQ", *entry) for entry in entries)

    def _with_headers(self, image: bytearray) -> bytes:
        symbols = len(self.imports) + len(self.exports) + 1
        data_size = self.file_end - self.data_at
        dynamic_size = self.imports_at - self.dynamic_at
        relocations = 24 * (len(self.imports) + self.absolute)
        parts = [
            (".dynsym", _DYNSYM, 2, self.symbols_at, 24 * symbols, 3, 1, 24),
            (".hash", _HASH, 2, self.hash_at, self.strings_at - self.hash_at, 1, 0, 4),
            (".dynstr", _STRTAB, 2, self.strings_at, len(self.strings.content), 0, 0, 0),
            (".rela.dyn", _RELA, 2, self.relocations_at, relocations, 1, 0, 24),
            (".dynamic", _DYNAMIC, 3, self.dynamic_at, dynamic_size, 3, 0, 16),
            (".text", _PROGBITS, 6, self.code_at, self.data_at - self.code_at, 0, 0, 0),
            (".data", _PROGBITS, 3, self.imports_at, self.file_end - self.imports_at, 0, 0, 0),
        ]
        names, sections = _Strings(), [bytes(64)]
        for name, kind, flags, at, size, link, info, entry in parts:
            sections.append(
                struct.pack(
                    _SECTION, names.add(name), kind, flags, at, at, size, link, info, 8, entry
                )
            )
        own = names.add(".shstrtab")
        names_at = len(image)
        image += names.content
        sections.append(
            struct.pack(_SECTION, own, _STRTAB, 0, 0, names_at, len(names.content), 0, 0, 1, 0)
        )
        image += bytes(-len(image) % 8)
        sections_at = len(image)
        image += b"".join(sections)
        self._put(
            image, 0,
            b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack(
                "<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, sections_at, 0, 64, 56, 5, 64, len(sections),
                len(sections) - 1,
            ),
        )  # fmt: skip
        segments = [
            (1, 4, 0, self.code_at, self.code_at, _PAGE),
            (1, 5, self.code_at, self.data_at - self.code_at, self.data_at - self.code_at, _PAGE),
            (1, 6, self.data_at, data_size, self.end - self.data_at, _PAGE),
            (2, 6, self.dynamic_at, dynamic_size, dynamic_size, 8),
            (0x6474E551, 6, 0, 0, 0, 16),  # the stack is not executable
        ]
        for number, (kind, flags, at, stored, size, align) in enumerate(segments):
            header = struct.pack("<IIQQQQQQ", kind, flags, at, at, at, stored, size, align)
            self._put(image, 64 + 56 * number, header)
        return bytes(image)


def _aligned(at: int, size: int) -> int:
    return at + -at % size


def _hashed(name: str) -> int:
    """System V's hash of a symbol's name."""
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high & 0xFFFFFFFF
    return value
