"""`.input` and `.output` name files in the folders given for them, and with leave only
in others.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

import lftj
from lftj.cli import main
from lftj.frames import confined, open_folder
from lftj.frames.confined import open_file
from tests.distributed.inline import InlineExecutor
from tests.unit.lftj.programs import program

READS = '.decl p(x: number)\n.input p(filename="{}")\n.output p(filename="out.csv")\n'
WRITES = '.decl p(x: number)\np(1).\n.output p(filename="{}")\n'
Outside = Callable[[Path, Path], str]


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """The folder given for files, with one file, and another beside it, with one too."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        (folder / "deep").mkdir(parents=True)
        (folder / "deep" / "p.facts").write_text("1\n")
        pyarrow.parquet.write_table(pa.table({"x": [1]}), folder / "p.parquet")
    return inside, outside


def _by_steps(inside: Path, outside: Path) -> str:
    return "../outside/deep/p.facts"


def _absolute(inside: Path, outside: Path) -> str:
    return str(outside / "deep" / "p.facts")


def _by_a_link(inside: Path, outside: Path) -> str:
    (inside / "link.facts").symlink_to(outside / "deep" / "p.facts")
    return "link.facts"


def _by_a_linked_folder(inside: Path, outside: Path) -> str:
    (inside / "linked").symlink_to(outside / "deep")
    return "linked/p.facts"


def _a_linked_table(inside: Path, outside: Path) -> str:
    (inside / "link.parquet").symlink_to(outside / "p.parquet")
    return "link.parquet"


def _a_table_with_linked_files(inside: Path, outside: Path) -> str:
    (inside / "many.parquet").mkdir()
    (inside / "many.parquet" / "part.parquet").symlink_to(outside / "p.parquet")
    return "many.parquet"


WAYS = [
    _by_steps,
    _absolute,
    _by_a_link,
    _by_a_linked_folder,
    _a_linked_table,
    _a_table_with_linked_files,
]


@pytest.mark.parametrize("way", WAYS)
def test_input_does_not_lead_out_of_its_folder(way: Outside, folders: tuple[Path, Path]) -> None:
    text = READS.format(way(*folders))
    ws = lftj.connect()
    with pytest.raises(lftj.PathOutsideError) as caught:
        ws.add_rules(text, facts=folders[0])
    error = caught.value
    assert (error.code, error.span and error.span.line) == ("E233", 2)
    assert ".input p: " in error.message
    assert error.hint is not None
    assert "allow_paths=True" in error.hint
    assert ws.rules == []
    ws.add_rules(text, facts=folders[0], allow_paths=True)
    assert ws["p"].fetchall() == [(1,)]


@pytest.mark.parametrize("way", WAYS)
def test_nor_over_parts(way: Outside, folders: tuple[Path, Path], tmp_path: Path) -> None:
    text = READS.format(way(*folders))
    with lftj.connect(executor=InlineExecutor(tmp_path / "parts", 2)) as ws:
        with pytest.raises(lftj.PathOutsideError, match=r"\.input p: "):
            ws.add_rules(text, facts=folders[0])
        ws.add_rules(text, facts=folders[0], allow_paths=True)
        assert ws["p"].fetchall() == [(1,)]


@pytest.mark.parametrize("way", WAYS)
def test_nor_in_a_run(
    way: Outside,
    folders: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    path = program(tmp_path, READS.format(way(*folders)))
    assert main(["run", path, "-F", "inside", "-D", "made"]) == 1
    shown = capsys.readouterr().err
    assert "E233" in shown
    assert "program.dl:2" in shown
    assert "--allow-paths" in shown
    assert not (tmp_path / "made").exists()
    assert main(["run", path, "-F", "inside", "-D", "made", "--allow-paths"]) == 0
    assert (tmp_path / "made" / "out.csv").read_text() == "1\n"


@pytest.mark.parametrize("way", WAYS[:4])
def test_output_does_not_lead_out_of_its_folder(
    way: Outside,
    folders: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    path = program(tmp_path, WRITES.format(way(*folders)))
    written = folders[1] / "deep" / "p.facts"
    written.write_text("kept\n")
    assert main(["run", path, "-D", "inside"]) == 1
    assert "E233" in capsys.readouterr().err
    assert written.read_text() == "kept\n"
    assert main(["run", path, "-D", "inside", "--allow-paths"]) == 0
    assert written.read_text() == "1\n"


def test_a_folder_that_would_be_made_outside_is_not(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    path = program(tmp_path, WRITES.format("../new/p.csv"))
    assert main(["run", path, "-D", str(folders[0])]) == 1
    assert not (tmp_path / "new").exists()


def test_links_and_steps_that_stay_inside_are_followed(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    inside, _ = folders
    (inside / "link").symlink_to("deep")
    (tmp_path / "given").symlink_to(inside)
    path = program(tmp_path, READS.format("link/../deep/../link/p.facts"))
    assert (
        main(["run", path, "-F", str(tmp_path / "given"), "-D", str(inside / "new" / "deep")]) == 0
    )
    assert (inside / "new" / "deep" / "out.csv").read_text() == "1\n"
    assert main(["run", program(tmp_path, WRITES.format("a/b/p.csv")), "-D", str(inside)]) == 0
    assert (inside / "a" / "b" / "p.csv").read_text() == "1\n"


def test_a_link_put_in_place_after_the_look_is_not_followed(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, outside = folders
    opened, looked = os.open, inside / "deep"

    def swapped(path: str, *rest: int, **named: int | None) -> int:
        """As `os.open`, after somebody has put a link in place of the folder."""
        if path == "deep" and not looked.is_symlink():
            looked.rename(inside / "away")
            looked.symlink_to(outside / "deep")
        return opened(path, *rest, **named)

    with confined(inside), open_file(looked / "p.facts") as file:
        assert file.read() == b"1\n"
    monkeypatch.setattr(os, "open", swapped)
    with confined(inside), pytest.raises(OSError, match=r"symbolic links|Not a directory"):
        open_file(looked / "p.facts")
    assert looked.is_symlink()
    looked.unlink()
    (inside / "away").rename(looked)
    with (
        confined(inside),
        pytest.raises(OSError, match=r"symbolic links|Not a directory"),
        open_folder(looked, make=True),
    ):
        pass


def test_files_that_python_names_are_where_it_says(folders: tuple[Path, Path]) -> None:
    ws = lftj.connect()
    ws.relation("p", {"x": int})
    ws.load("p", folders[1] / "deep" / "p.facts")
    assert ws["p"].fetchall() == [(1,)]


def test_links_beside_the_output_do_not_matter(
    folders: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A folder of work holds an environment whose links lead anywhere."""
    monkeypatch.chdir(tmp_path)
    inside, outside = folders
    (inside / "environment").mkdir()
    (inside / "environment" / "python").symlink_to(outside / "p.parquet")
    assert main(["run", program(tmp_path, WRITES.format("p.csv")), "-D", "inside"]) == 0
    assert (inside / "p.csv").read_text() == "1\n"
