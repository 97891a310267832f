"""While a program is read no cycles are looked for, and afterwards as before."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from lftj.errors import ProgramErrors
from lftj.program.program import Program
from lftj.syntax.parser import parse

FACTS = ".decl e(x: int, s: str)\n" + "".join(f'e({i}, "n{i}").\n' for i in range(3000))


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    enabled = gc.isenabled()
    yield
    (gc.enable if enabled else gc.disable)()


def collections() -> int:
    """Count the runs of the garbage collector while FACTS are read and checked."""
    seen: list[str] = []

    def note(phase: str, info: dict[str, int]) -> None:
        seen.append(phase)

    Program().add(parse(".decl a(x: int) a(1)."))  # what is made at the first use
    gc.collect()
    gc.callbacks.append(note)
    try:
        program, _ = Program().add(parse(FACTS))
    finally:
        gc.callbacks.remove(note)
    assert len(program.facts["e"]) == 3000
    return seen.count("start")


def test_reading_many_facts_looks_for_no_cycles():
    gc.enable()
    assert collections() <= 2  # one may come when the collector goes on, after each of the two
    assert gc.isenabled()


@pytest.mark.parametrize("enabled", [True, False])
@pytest.mark.parametrize("text", [FACTS, "a(1", ".decl a(x: int) a(1). a(y) :- b(x)."])
def test_the_collector_is_as_it_was(text: str, enabled: bool):
    (gc.enable if enabled else gc.disable)()
    try:
        Program().add(parse(text))
    except ProgramErrors:
        assert text is not FACTS
    assert gc.isenabled() is enabled
