"""Workspaces over parts whose files are objects of a store: a server that speaks S3, in order or
not.
"""

from __future__ import annotations

import itertools
import random
import shutil
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import lftj
from bench.partition.between import BUSY, DONE_BUSY, LATE, LOST, PASS, Between, between
from bench.partition.seaweed import BUCKET, options, seaweed
from lftj.distributed.files import manifest, manifest_files, runs
from lftj.distributed.files.manifest import Manifest
from lftj.distributed.objects import object_store
from lftj.distributed.objects.file_store import FileStore, store_of
from lftj.distributed.objects.mounts import mount, unmount
from lftj.distributed.objects.object_store import ObjectStore
from lftj.distributed.stored.stored_files import sweep_shared
from lftj.partition.address import CACHE, Address
from tests.distributed.inline import InlineExecutor, require_equal

RULES = """
  .decl triangles(x: number, n: number)
  triangles(x, count()) :- edge(x, y, _), edge(y, z, _), edge(x, z, _).
  .decl reach(x: number, y: number)
  reach(x, y) :- edge(x, y, _). reach(x, z) :- reach(x, y), edge(y, z, _).
"""
_numbers = itertools.count()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with seaweed(tmp_path_factory.mktemp("seaweed")) as found:
        yield found


@pytest.fixture
def faulty(server: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Between]:
    monkeypatch.setattr(object_store, "_PAUSES", (0.01, 0.02))
    backoff = {"init_backoff": timedelta(seconds=0.002), "max_backoff": timedelta(seconds=0.01)}
    monkeypatch.setattr(object_store, "_RETRIES", {"max_retries": 2, "backoff": backoff})
    with between(server["endpoint"]) as found:
        yield found


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Callable[[dict[str, str]], Address]]:
    """The address of one place of the store, as a machine of its own sees it: with a new cache."""
    name, made = f"s3://{BUCKET}/flights{next(_numbers)}", list[Address]()

    def at(given: dict[str, str]) -> Address:
        cache = str(tmp_path / f"cache{len(made)}")
        made.append(Address(name, tuple(sorted(given.items())), cache))
        return made[-1]

    yield at
    for each in made:
        unmount(each)


def opened(address: Address, **options: Any) -> lftj.Workspace:
    executor: Any = InlineExecutor(address, **options)
    return lftj.connect(executor=executor)


def begun(workspace: lftj.Workspace) -> lftj.Workspace:
    workspace.relation("edge", {"x": int, "y": int, "name": str})
    workspace.add_rules(RULES)
    return workspace


def history(seed: int, commits: int) -> Iterator[tuple[list[Any], list[Any]]]:
    """Rows that come, and rows that go, of one commit after the other."""
    draw, there = random.Random(seed), list[tuple[int, int, str]]()
    for number in range(commits):
        gone = draw.sample(there, min(len(there), draw.choice((0, 0, 1, 3))))
        came = [(draw.randrange(9), draw.randrange(9), f"s{number % 4}") for _ in range(3)]
        there = list({*there, *came}.difference(set(gone).difference(came)))
        yield came, gone


def change(workspace: lftj.Workspace, came: list[Any], gone: list[Any] | None = None) -> None:
    with workspace.transaction() as tx:
        tx.delete("edge", gone or [])
        tx.insert("edge", came)


# ── the store ─────────────────────────────────────────────────────────────────────────────────────
@pytest.fixture(params=["folder", "file:", "s3"])
def kept(request: pytest.FixtureRequest, tmp_path: Path, machine: Any) -> tuple[FileStore, Path]:
    """A store, and the folder of its files."""
    if request.param == "folder":
        return store_of(tmp_path), tmp_path
    if request.param == "file:":
        (tmp_path / "objects").mkdir()
        folder = mount(Address((tmp_path / "objects").as_uri(), cache=str(tmp_path / "cache")))
    else:
        folder = mount(machine(request.getfixturevalue("server")))
    return store_of(folder), folder


def test_folders_and_objects_are_one_kind_of_store(kept: tuple[FileStore, Path]) -> None:
    store, folder = kept
    rows = folder / "rows"
    rows.mkdir()
    with pytest.raises(FileNotFoundError):
        store.read(folder / "manifest-0.json")
    store.create(folder / "manifest-0.json", b"one")
    with pytest.raises(FileExistsError):
        store.create(folder / "manifest-0.json", b"other")
    assert store.read(folder / "manifest-0.json") == b"one"
    assert store.names(folder, "manifest-", ".json") == {"manifest-0.json"}
    for name in ("1-a.arrow", "1-b.arrow", "2-a.arrow"):
        (rows / name).write_text(name)
    store.publish(rows / name for name in ("1-a.arrow", "1-b.arrow", "2-a.arrow"))
    assert store.names(rows, "1-") == {"1-a.arrow", "1-b.arrow"}
    assert store.exists(rows / "2-a.arrow")
    ages = store.ages(rows)
    assert ages.keys() == {"1-a.arrow", "1-b.arrow", "2-a.arrow"}
    assert all(-2.0 < age < 60.0 for age in ages.values())  # clocks may tell whole seconds
    assert store.ages(folder / "none") == {}
    store.remove([rows / "1-b.arrow", rows / "3-never.arrow"])
    assert not store.exists(rows / "1-b.arrow")
    assert not (rows / "1-b.arrow").exists()
    if not store.shared:  # the cache may be emptied
        shutil.rmtree(folder)
        store.fetch(rows / "1-a.arrow")
    assert (rows / "1-a.arrow").read_text() == "1-a.arrow"
    (folder / "beside" / "rows").mkdir(parents=True)
    store.copy(rows / "1-a.arrow", folder / "beside" / "rows" / "1-a.arrow")
    assert store.names(folder / "beside" / "rows") == {"1-a.arrow"}
    store.clear(folder / "beside")
    assert store.names(folder / "beside" / "rows") == set()
    assert store.get_all([rows / "1-a.arrow", rows / "2-a.arrow"]) == [b"1-a.arrow", b"2-a.arrow"]


def test_the_cache_is_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE, str(tmp_path))
    one, other = Address("s3://b/one", (("secret", "x"),)), Address("s3://b/other")
    assert one.folder.parent == other.folder.parent == tmp_path
    assert one.folder != other.folder
    assert one.folder == Address("s3://b/one").folder  # options may change
    assert "secret" not in repr(one)


# ── workspaces ────────────────────────────────────────────────────────────────────────────────────
def test_a_workspace_lives_in_objects(server: dict[str, str], machine: Any) -> None:
    single = begun(lftj.connect())
    address = machine(server)
    workspace = begun(opened(address, workers=2))
    for number, (came, gone) in enumerate(history(58, 14)):
        if number == 7:  # a machine that knows nothing
            workspace.compact()
            workspace.close()
            address = machine(server)
            workspace = opened(address, workers=2)
        change(single, came, gone)
        change(workspace, came, gone)
        require_equal(workspace, single)
    assert not workspace.verify()
    assert workspace.query("reach(1, y)").fetchall()
    with pytest.raises(lftj.DistributedError, match=r"s3://parts/flights\d+ is in use") as caught:
        opened(address)
    assert caught.value.code == "E402"
    assert "s3://parts/flights" in repr(workspace)
    workspace.close()


def test_parts_are_opened_from_objects(server: dict[str, str], machine: Any) -> None:
    for address in (machine(server), machine(server), machine(server)):
        with opened(address) as workspace:
            if not workspace.rules:
                begun(workspace)
                change(workspace, [(x, x + 1, f"s{x}") for x in range(200)])
                continue
            change(workspace, [(1000, 1001, f"of {address.cache}")])
            [figures] = workspace.profile().df().to_dict("records")
            assert (figures["opened"], figures["built"]) == (figures["tasks"], 0)
            # what came since the part was stored, and not all rows
            assert figures["read"] < 20


@pytest.mark.parametrize("folder", ["pages", "state"])
def test_lost_objects_of_stored_parts_are_made_again(
    server: dict[str, str], machine: Any, folder: str
) -> None:
    single, address = begun(lftj.connect()), machine(server)
    executor: Any = InlineExecutor(address)
    with begun(lftj.connect(executor=executor)) as workspace:
        for number, (came, gone) in enumerate(history(7, 12)):
            if number in (4, 8):
                _lose(address, folder, every=1 + number // 8)
                executor.forget()
            change(single, came, gone)
            change(workspace, came, gone)
            require_equal(workspace, single)
    with opened(machine(server)) as workspace:
        change(single, [(0, 8, "s")])
        change(workspace, [(0, 8, "s")])
        require_equal(workspace, single)
        [figures] = workspace.profile().df().to_dict("records")
        assert (figures["opened"], figures["built"]) == (figures["tasks"], 0)


def _lose(address: Address, folder: str, every: int) -> None:
    """Have objects be gone, and all copies of them on this machine."""
    store = store_of(address.folder)
    assert isinstance(store, ObjectStore)
    names = sorted(name for name, _ in store.listed(folder))
    assert names
    store.delete(names[::every])
    shutil.rmtree(address.folder / "state")


def test_another_number_of_parts(server: dict[str, str], machine: Any) -> None:
    single, address = begun(lftj.connect()), machine(server)
    with begun(opened(address, partitions=3)) as workspace:
        for number, (came, gone) in enumerate(history(4, 9)):
            if number % 3 == 2:
                past, before = workspace.snapshot(), sorted(single["reach"].fetchall())
                assert workspace.repartition((5, 2, 4)[number // 3])
                require_equal(workspace, single)
            change(single, came, gone)
            change(workspace, came, gone)
            require_equal(workspace, single)
        assert sorted(past["reach"].fetchall()) == before
        workspace.compact()
        assert not workspace.verify()
    with opened(machine(server), partitions=4) as workspace:  # a machine that knows nothing
        change(single, [(1, 8, "s")])
        change(workspace, [(1, 8, "s")])
        require_equal(workspace, single)


def test_of_two_drivers_one_makes_each_version(server: dict[str, str], machine: Any) -> None:
    one = begun(opened(machine(server)))
    for number in range(3):
        other = opened(machine(server))
        winner, loser = (one, other) if number % 2 else (other, one)
        change(winner, [(number, number, "won")])
        with pytest.raises(lftj.DistributedError, match="another workspace has written") as caught:
            change(loser, [(number, number, "lost")])
        assert caught.value.code == "E406"
        loser.close()
        one = winner
    assert one["edge"].fetchall() == [(number, number, "won") for number in range(3)]
    one.close()


# ── a store that is not in order ──────────────────────────────────────────────────────────────────
@pytest.fixture
def small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of two additions, and merges of two runs."""
    for module in (manifest, manifest_files, runs):
        monkeypatch.setattr(module, "SUMMED", 2)
    monkeypatch.setattr(runs, "_MERGED", 2)


@pytest.mark.usefixtures("small_runs")
def test_errors_delays_and_lagging_lists_change_nothing(faulty: Between, machine: Any) -> None:
    single, given = begun(lftj.connect()), options(faulty.endpoint)
    draw, calls = random.Random(3), itertools.count()

    def fate(method: str, path: str) -> str:
        next(calls)
        return draw.choice((PASS,) * 12 + (LATE, BUSY, LOST if method != "POST" else BUSY))

    workspace = begun(opened(machine(given)))
    faulty.lagging, faulty.fate = True, fate
    for number, (came, gone) in enumerate(history(7, 12)):
        if number and number % 4 == 0:
            workspace.close()
            workspace = opened(machine(given))
        change(single, came, gone)
        change(workspace, came, gone)
    require_equal(workspace, single)
    assert next(calls) > 200
    assert faulty.listings
    workspace.close()


@pytest.mark.usefixtures("small_runs")
def test_a_store_that_fails_between_any_two_requests_has_old_or_new(
    faulty: Between, machine: Any
) -> None:
    """From the first, second … request on that changes anything, until a commit is through."""
    given, kept = options(faulty.endpoint), list[tuple[int, int, str]]()
    codes = set[str]()
    number, broken = -1, [True]
    while broken:
        number += 1
        with begun_small(opened(machine(given))) if not number else opened(machine(given)) as ws:
            assert sorted(ws["edge"].fetchall()) == sorted(kept)
            left = iter(range(number))
            broken = []

            def fate(
                method: str, path: str, left: Iterator[int] = left, broken: list[bool] = broken
            ) -> str:
                if broken or (method != "GET" and method != "HEAD" and next(left, None) is None):
                    broken.append(True)
                return BUSY if broken else PASS

            row = (number, number, "s")
            faulty.fate = fate
            try:
                change(ws, [row])
                kept.append(row)
            except lftj.DistributedError as reason:
                codes.add(reason.code)
            faulty.fate = lambda method, path: PASS
    assert 3 < number < 40
    assert codes == {"E405", "E407"}


def _manifests(fate: str, *, reads: str = PASS) -> Callable[[str, str], str]:
    """Fates of requests that make a manifest, and of those that read one."""
    return lambda method, path: (
        PASS if "/manifest-" not in path else fate if method == "PUT" else reads
    )


def test_a_lost_acknowledgement_is_looked_up(faulty: Between, machine: Any) -> None:
    with begun(opened(machine(options(faulty.endpoint)))) as workspace:
        version = workspace.version
        for fate in (LOST, DONE_BUSY):
            faulty.fate = _manifests(fate)
            change(workspace, [(1, 1, fate)])
            faulty.fate = _manifests(PASS)
            assert workspace["edge"].fetchall()[-1][2] in (LOST, DONE_BUSY)
        assert workspace.version == version + 2


@pytest.mark.parametrize("landed", [True, False])
def test_an_unknown_outcome_is_said_to_be_unknown(
    faulty: Between, machine: Any, landed: bool
) -> None:
    given = options(faulty.endpoint)
    workspace = begun(opened(machine(given)))
    change(workspace, [(1, 2, "before")])
    faulty.fate = _manifests(DONE_BUSY if landed else BUSY, reads=BUSY)
    asked = len(faulty.asked)
    faulty.fate = _after_the_check(faulty, faulty.fate, asked)
    with pytest.raises(lftj.DistributedError, match="it is not known whether") as caught:
        change(workspace, [(2, 3, "perhaps")])
    assert caught.value.code == "E407"
    faulty.fate = lambda method, path: PASS
    if landed:
        with pytest.raises(lftj.DistributedError) as refused:
            change(workspace, [(3, 4, "on what is past")])
        assert refused.value.code == "E406"
    workspace.close()
    with opened(machine(given)) as workspace:
        names = {name for *_, name in workspace["edge"].fetchall()}
        assert names == ({"before", "perhaps"} if landed else {"before"})
        change(workspace, [(5, 6, "after")])
        assert not workspace.verify()


def _after_the_check(
    faulty: Between, fate: Callable[[str, str], str], since: int
) -> Callable[[str, str], str]:
    """The fate of requests from the first on that makes a manifest."""
    return lambda method, path: (
        fate(method, path)
        if any(m == "PUT" and "/manifest-" in p for m, p in faulty.asked[since:])
        else PASS
    )


# ── room ──────────────────────────────────────────────────────────────────────────────────────────
def _bytes(address: Address, within: str) -> int:
    store: Any = store_of(address.folder)
    client = store._client()
    return sum(each["size"] for page in store._api().list(client, within) for each in page)


def test_compacting_gives_back_what_is_of_the_past(
    server: dict[str, str], machine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lftj.distributed.stored import stored_files

    monkeypatch.setattr(stored_files, "_PATIENCE", -2.0)  # clocks may tell whole seconds
    rows = [(x, x * 7 % 500, f"s{x % 20}") for x in range(1000)]
    sizes = dict[str, int]()
    for name in ("followed", "fresh"):
        address = Address(
            f"s3://{BUCKET}/{name}{next(_numbers)}",
            tuple(sorted(server.items())),
            machine(server).cache,
        )
        with begun_small(opened(address)) as workspace:
            change(workspace, rows)
            if name == "followed":
                for number in range(40):
                    change(workspace, [(number, 501, "s1")])
                    change(workspace, [], [(number, 501, "s1")])
            workspace.compact()
            sizes[name] = _bytes(address, "pages") + _bytes(address, "state")
        unmount(address)
    assert sizes["followed"] <= 1.5 * sizes["fresh"]


def begun_small(workspace: lftj.Workspace) -> lftj.Workspace:
    workspace.relation("edge", {"x": int, "y": int, "name": str})
    workspace.add_rules(".decl deg(x: number, n: number) deg(x, count()) :- edge(x, _, _).")
    return workspace


@pytest.mark.parametrize("room", [True, False])
def test_what_a_machine_fetched_long_ago_leaves_its_cache(
    server: dict[str, str], machine: Any, monkeypatch: pytest.MonkeyPatch, *, room: bool
) -> None:
    """Sooner where the disk has little room left."""
    from lftj.distributed.stored import stored_files

    if not room:
        usage = SimpleNamespace(free=0)
        monkeypatch.setattr(stored_files.shutil, "disk_usage", lambda path: usage)
    age = "_CACHED" if room else "_CACHED_WITHOUT_ROOM"
    single, address = begun(lftj.connect()), machine(server)
    with begun(opened(address)) as workspace:
        for number, (came, gone) in enumerate(history(9, 4)):
            monkeypatch.setattr(stored_files, age, (3600.0, -1.0)[number % 2])
            sweep_shared(address.folder)
            left = [*address.folder.glob("rows/*"), *address.folder.glob("state/*.json")]
            assert bool(left) == (number % 2 == 0)
            change(single, came, gone)
            change(workspace, came, gone)
            require_equal(workspace, single)


def test_what_nobody_names_is_swept(server: dict[str, str], machine: Any) -> None:
    address = machine(server)
    with begun(opened(address)) as workspace:
        change(workspace, [(1, 2, "a")])
        store = store_of(address.folder)
        stray = address.folder / "rows" / "7-attempt-that-nobody-took.arrow"
        stray.write_text("rows")
        store.publish([stray])
        store.put_all([(address.folder / "pages" / "part0" / "stray", b"pages")])
        epochs = Manifest.load(address.folder)
    again = machine(server)
    with opened(again) as workspace:
        store, folder = store_of(again.folder), again.folder
        assert not store.exists(folder / "rows" / stray.name)
        assert not store.exists(folder / "pages" / "part0" / "stray")
        assert epochs is not None
        later = Manifest.load(folder)
        assert later is not None
        assert later.epoch == epochs.epoch + 1
        assert workspace["edge"].fetchall() == [(1, 2, "a")]
