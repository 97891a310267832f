"""Draws histories for the record: the tests of `tests/oracle` run as they are, and what they do to
a workspace and its model is taped.

Hypothesis draws anew when it, or the tests, or constants in the engine change. So what it drew is
kept, and drawn again on demand only: when tests for new constructs came.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.pair import Pair
from tests.record.taped import GRANULARITIES, Taped, spec_of
from tests.strategies.histories import Step
from tests.strategies.schemas import Spec

ORACLE = Path(__file__).parents[1] / "oracle"
EACH = 40
"""Histories of a test function, all its parameters together."""
SETTING_OF = {
    "test_oracle_states_by_an_update_from_nothing_equal_a_bootstrap": "from nothing",
    "test_oracle_aggregates_drawn_into_joins": "values repeat",
    "test_oracle_rules_added_before_their_rows": "few rows tell",
}
LEFT_OUT = frozenset(
    {
        # drawn while rules are planned; those of each granularity are there
        "test_oracle_random_granularities",
        "test_forgetting_strings_changes_nothing",  # those of test_histories again
        "test_oracle_supports_do_not_depend_on_the_history",  # those of the test before it again
    }
)


class Tape:
    """A plugin of pytest that tapes what each test does."""

    def __init__(self) -> None:
        self.taped: dict[str, list[Taped]] = {}
        self._function = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: Any) -> None:
        """Note which test it is."""
        self._function = item.originalname

    def begin(self, pair: Any, specs: list[Spec]) -> None:
        """Begin a history."""
        engine = pair.workspace._backend
        name = self._function.removeprefix("test_").removeprefix("oracle_")
        taped = Taped(
            name,
            [spec_of(spec) for spec in specs],
            elastic=engine.fraction,
            setting=SETTING_OF.get(self._function, ""),
        )
        if (override := engine.trace_override) is not None:
            kind = (
                str(override.granularity(None))
                if self._function not in LEFT_OUT
                else next(iter(GRANULARITIES))
            )
            taped.trace = kind + "+first" * override.first_proof
        self.taped.setdefault(self._function, []).append(taped)
        pair.taped = taped

    def chosen(self) -> list[Taped]:
        """The longest of every test, without those that are there already, in the order they were
        drawn, numbered.
        """
        found: list[Taped] = []
        for function, drawn in self.taped.items():
            if function not in LEFT_OUT:
                for number, taped in enumerate(
                    _longest({each.line: each for each in drawn}.values(), EACH), 1
                ):
                    taped.name = f"{taped.name}/{number}"
                    found.append(taped)
        return found


def _longest(drawn: Iterable[Taped], most: int) -> list[Taped]:
    listed = list(drawn)
    places = sorted(range(len(listed)), key=lambda place: -len(listed[place].line))[:most]
    return [listed[place] for place in sorted(places)]


def draw() -> list[Taped]:
    """Run the tests, and return the histories. Raises RuntimeError when a test fails."""
    tape, begin, step = Tape(), Pair.__init__, Pair.step

    def beginning(pair: Any, specs: Iterable[Spec], workspace: Any = None) -> None:
        listed = list(specs)
        begin(pair, listed, workspace)
        tape.begin(pair, listed)

    def stepping(pair: Any, each: Step) -> None:
        pair.taped.add(each)
        step(pair, each)

    files = [
        str(path)
        for path in sorted(ORACLE.glob("test_*.py"))
        if re.search(r"\bPair\b|pair import", path.read_text("utf-8"))
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pair, "__init__", beginning)
        patch.setattr(Pair, "step", stepping)
        if pytest.main(["-q", "-n", "0", "-p", "no:cacheprovider", *files], plugins=[tape]):
            raise RuntimeError("histories are drawn by tests that pass")
    return tape.chosen()
