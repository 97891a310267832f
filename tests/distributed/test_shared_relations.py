"""Relations that all parts have whole: the workers of a machine map one file of their pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lftj
from lftj.distributed.partitioning.cuts import ALL
from lftj.distributed.stored import shared_relations
from lftj.distributed.work import worker
from tests.distributed.inline import InlineExecutor, require_equal
from tests.distributed.stored import RULES, graph, opened

PARTS, WORKERS = 4, 2


ALL_SHARED = lftj.Tuning(shared_rows=1)


def segments(path: Path) -> set[str]:
    """The files of pages that no single part has."""
    return {file.name for file in (path / "state").glob("whole-*") if file.suffix != ".sums"}


def mapped(executor: Any) -> list[set[str]]:
    """Of these, what each worker maps."""
    found = [memory.host.arena.mapped for memory in executor._memories]
    return [{name for name in names if name.startswith("whole-")} for names in found]


def both(executor: InlineExecutor, rules: str) -> tuple[Any, Any]:
    """A workspace over parts, and one of this process with the same rows and rules."""
    one = lftj.connect()
    one.relation("e", {"x": int, "y": int})
    one.load("e", graph())
    one.add_rules(RULES[rules])
    return opened(executor, RULES[rules], graph(), tuning=ALL_SHARED), one


def change(*workspaces: Any) -> None:
    for number in range(12):
        for workspace in workspaces:
            with workspace.transaction() as tx:
                tx.insert("e", [(number, 59 - number), (60 + number, number)])
                tx.delete("e", [(number, 7)])


@pytest.mark.parametrize("name", ["triangles", "a projection"])
def test_workers_map_one_file(tmp_path: Path, name: str) -> None:
    executor = InlineExecutor(tmp_path, PARTS, WORKERS)
    many, one = both(executor, name)
    first, second = mapped(executor)
    assert first
    assert first == second
    require_equal(many, one)
    change(many, one)
    require_equal(many, one)
    executor.forget()  # from now on as they were stored
    change(many, one)
    require_equal(many, one)
    assert many.verify() == []
    many.compact()
    change(many, one)
    require_equal(many, one)


def test_the_first_worker_reads_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = list[str]()
    read = worker.read_entries

    def noted(folder: Path, entries: Any, schema: Any, cut: Any, *of: Any) -> Any:
        if cut == ALL and entries:
            whole.append(schema.name)
        return read(folder, entries, schema, cut, *of)

    monkeypatch.setattr(worker, "read_entries", noted)
    executor = InlineExecutor(tmp_path, PARTS, WORKERS)
    many, one = lftj.connect(executor=executor, tuning=ALL_SHARED), lftj.connect()  # type: ignore[arg-type]
    for workspace in (many, one):
        workspace.relation("e", {"x": int, "y": int})
        workspace.load("e", graph())
        workspace.add_rules(RULES["triangles"])
    assert len(whole) == 1
    rows = [(x + 1000, y + 1000) for x, y in graph()]
    for workspace in (many, one):
        workspace.relation("f", {"x": int, "y": int})
        workspace.add_rules(RULES["triangles"].replace("e(", "f(").replace("v(", "u("))
    whole.clear()
    for workspace in (many, one):
        workspace.load("f", rows)  # views are there before the rows
    assert len(whole) == 1
    require_equal(many, one)
    change(many, one)
    require_equal(many, one)


def test_a_file_that_is_gone_is_made_again(tmp_path: Path) -> None:
    executor = InlineExecutor(tmp_path, PARTS, WORKERS)
    many = opened(executor, RULES["triangles"], graph(), tuning=ALL_SHARED)
    before = mapped(executor)[0]
    for name in segments(tmp_path):
        (tmp_path / "state" / name).unlink()
    executor.forget()
    one = opened(InlineExecutor(tmp_path / "other", 1), RULES["triangles"], graph())
    change(many, one)
    require_equal(many, one)
    first, second = mapped(executor)
    assert first
    assert first == second
    assert not first & before


NAMED = """
.decl v(x: symbol, n: number)
.decl named(x: symbol)
v(x, count()) :- e(x, y), e(y, z).
named(x) :- e(x, "s1"), e("s2", x).
"""


def of_names(executor: InlineExecutor) -> tuple[Any, Any]:
    many, one = lftj.connect(executor=executor, tuning=ALL_SHARED), lftj.connect()  # type: ignore[arg-type]
    for workspace in (many, one):
        workspace.relation("e", {"x": str, "y": str})
    return many, one


def names(rows: Any) -> list[tuple[str, str]]:
    return [(f"s{x}", f"s{y}") for x, y in rows]


def change_names(number: int, *workspaces: Any) -> None:
    for workspace in workspaces:
        for step in range(6):
            with workspace.transaction() as tx:
                tx.insert("e", names([(step, 59 - step), (100 * number + step, step)]))
                tx.delete("e", names([(step, 7 + number)]))


@pytest.mark.parametrize("rules_first", [True, False])
def test_workers_map_one_file_of_strings(tmp_path: Path, rules_first: bool) -> None:
    executor = InlineExecutor(tmp_path, PARTS, WORKERS)
    many, one = of_names(executor)
    for workspace in (many, one):
        if rules_first:
            workspace.add_rules(NAMED)
        workspace.load("e", names(graph()))
        if not rules_first:
            workspace.add_rules(NAMED)
    first, second = mapped(executor)
    assert first
    assert first == second
    require_equal(many, one)
    change_names(1, many, one)
    require_equal(many, one)
    executor.forget()
    change_names(2, many, one)
    require_equal(many, one)
    first, second = mapped(executor)
    assert first & second
    assert many.verify() == []
    many.compact()
    change_names(3, many, one)
    require_equal(many, one)


@pytest.mark.parametrize("before", [200, 3_000])
def test_strings_that_came_before_have_other_codes(tmp_path: Path, before: int) -> None:
    """Parts of fewer rows begin anew under the codes of the relation, others at other rules."""
    executor = InlineExecutor(tmp_path, PARTS, WORKERS)
    many, one = of_names(executor)
    for workspace in (many, one):
        workspace.relation("own", {"x": str, "n": int})
        workspace.add_rules(NAMED + ".decl w(x: symbol, n: number) w(x, n) :- own(x, n), v(x, _).")
        workspace.load("own", [(f"s{number}", number) for number in range(before)])
        workspace.load("e", names(graph()))
    first, second = mapped(executor)
    assert bool(first & second) == (before < 400)
    require_equal(many, one)
    change_names(1, many, one)
    require_equal(many, one)
    for workspace in (many, one):
        workspace.add_rules(".decl u(x: symbol) u(x) :- w(x, n), n > 3.")
    first, second = mapped(executor)
    assert first & second
    require_equal(many, one)
    change_names(2, many, one)
    require_equal(many, one)
    assert all(len(memory.checkpoints._hosts) == 1 for memory in executor._memories)
    executor.forget()
    change_names(3, many, one)
    require_equal(many, one)
    assert many.verify() == []


def test_workers_map_one_file_of_a_later_key_order(tmp_path: Path) -> None:
    executor = InlineExecutor(tmp_path, PARTS, WORKERS)
    many, one = both(executor, "triangles")
    rows = mapped(executor)
    change(many, one)
    first, second = mapped(executor)
    assert first == second
    assert len(first) > len(rows[0]), "changes ask for another key order"
    require_equal(many, one)
    executor.forget()
    change(many, one)
    require_equal(many, one)
    assert many.verify() == []


def test_a_key_order_without_a_file_is_made_by_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executor = InlineExecutor(tmp_path, PARTS, WORKERS)
    many, one = both(executor, "triangles")
    before = mapped(executor)

    def full(*of: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shared_relations, "_write", full)
    change(many, one)
    assert mapped(executor) == before
    require_equal(many, one)


def test_two_relations_that_were_shared_under_other_codes(tmp_path: Path) -> None:
    """No worker can map both: each maps one, and makes the other for itself."""
    executor = InlineExecutor(tmp_path, PARTS, WORKERS)
    many, one = of_names(executor)
    rules = NAMED.replace("e(", "f(").replace("v(", "u(").replace("named(", "known(")
    for workspace in (many, one):
        workspace.relation("f", {"x": str, "y": str})
        workspace.add_rules(NAMED)
        workspace.load("e", names(graph()))
    executor.forget()  # others share the next relation, under codes of their own
    for state in (tmp_path / "state").glob("[0-9]*"):
        state.unlink()
    for workspace in (many, one):
        with workspace.transaction() as tx:
            tx.delete("e", names(graph()))
        workspace.add_rules(rules)
        workspace.load("f", [(f"t{x}", f"s{y}") for x, y in graph()])
        workspace.load("e", names(graph(seed=2)))
        workspace.add_rules(".decl w(x: symbol) w(x) :- u(x, n), n > 3.")
    require_equal(many, one)
    change_names(1, many, one)
    require_equal(many, one)
    assert many.verify() == []


def test_a_worker_begins_anew_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a relation's strings are said to be, the second attempt makes it here."""
    executor = InlineExecutor(tmp_path, PARTS, WORKERS)
    many, one = of_names(executor)
    for workspace in (many, one):
        workspace.load("e", names(graph()))
    shared = worker.shared_relation

    def others(path: Path, name: str, schema: Any, rows: Any, *of: Any) -> Any:
        found = shared(path, name, schema, rows, *of)
        if found is not None:
            raise shared_relations.OtherCodesError([])
        return found

    monkeypatch.setattr(worker, "shared_relation", others)
    for workspace in (many, one):
        workspace.add_rules(NAMED)
    require_equal(many, one)
    change_names(1, many, one)
    require_equal(many, one)
    assert many.verify() == []
