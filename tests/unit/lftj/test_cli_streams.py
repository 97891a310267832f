"""`lftj` among streams and files that are closed, full, read twice, of another locale or not to be
written.
"""

from __future__ import annotations

import io
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from lftj.cli import main
from tests.unit.lftj.programs import PATHS, program

ROOT = str(Path(__file__).resolve().parents[3])


def test_program_from_standard_input(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(PATHS.encode())))
    assert main(["run", "-"]) == 0
    assert (folder / "path.csv").exists()


def test_an_interrupt_has_its_own_code(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*args: object, **rest: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lftj.cli.run.run", interrupted)
    assert main(["run", "paths.dl"]) == 130


def test_a_reader_that_goes_away_is_no_reason_to_complain(folder: Path) -> None:
    (folder / "edge.facts").write_text("".join(f"{2 * i}\t{2 * i + 1}\n" for i in range(30_000)))
    command = [sys.executable, "-m", "lftj", "run", "paths.dl", "-D", "-"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": ROOT},
    ) as lftj:
        assert lftj.stdout is not None
        assert lftj.stderr is not None
        assert lftj.stdout.readline() == b"---------------\n"
        lftj.stdout.close()
        assert (lftj.wait(), lftj.stderr.read()) == (1, b"")


def test_a_program_from_standard_input_is_utf_8(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = '.decl a(x: symbol) a("ä"). .output a'.encode("latin-1")
    monkeypatch.setattr(
        "sys.stdin", io.TextIOWrapper(io.BytesIO(text), encoding="utf-8", errors="surrogateescape")
    )
    assert main(["run", "-", "-D", "-"]) == 1
    assert capsys.readouterr() == (
        "",
        "error[E232]: <stdin>, line 1: the text is not UTF-8\n  help: save the file as UTF-8\n",
    )


def test_output_into_what_is_no_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "paths.dl", "-D", "edge.facts"]) == 1
    assert capsys.readouterr().err.startswith(
        "error[E232]: -D edge.facts is no folder\n  help: name a folder"
    )


def test_an_output_folder_that_cannot_be_made(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "paths.dl", "-D", "edge.facts/out"]) == 1
    assert capsys.readouterr().err.startswith(
        "error[E232]: the folder edge.facts/out cannot be made: Not a directory"
    )


@pytest.mark.parametrize("file", ["path.csv", "path.csv.gz", "path.parquet", "path.arrow"])
def test_a_file_that_cannot_be_written_whole_stays_as_it_was(
    folder: Path, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parameters = (
        f'filename="{file}", compress=true' if file.endswith(".gz") else f'filename="{file}"'
    )
    path = program(folder, PATHS.replace(".output path", f".output path({parameters})"))
    (folder / "edge.facts").write_text(
        "".join(f"{i}\t{i * i * 7919 % 10**9 + 10**6}\n" for i in range(3000))
    )
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    for before in (None, b"from yesterday"):
        if before is not None:
            (folder / file).write_bytes(before)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
        try:
            assert main(["run", path]) == 1
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert f"error[E232]: {file} cannot be written: " in capsys.readouterr().err
        assert {p.name for p in folder.iterdir()} == {"paths.dl", "edge.facts", "program.dl"} | (
            {file} if before else set()
        )
        assert before is None or (folder / file).read_bytes() == before


def test_a_file_that_is_replaced_keeps_its_mode_and_its_links(folder: Path) -> None:
    (folder / "real.csv").write_text("old")
    (folder / "real.csv").chmod(0o600)
    (folder / "path.csv").symlink_to("real.csv")
    assert main(["run", "paths.dl"]) == 0
    assert (folder / "path.csv").is_symlink()
    assert (folder / "real.csv").read_text() == "1\t2\n1\t3\n2\t3\n"
    assert (folder / "real.csv").stat().st_mode & 0o777 == 0o600
    assert (
        main(
            [
                "run",
                program(
                    folder, PATHS.replace(".output path", '.output path(filename="/dev/null")')
                ),
                "--allow-paths",
            ]
        )
        == 0
    )


def test_standard_output_is_utf_8_whatever_the_locale_says(folder: Path) -> None:
    path = program(folder, '.decl a(x: symbol) a("é→"). .output a(IO=stdout)')
    environment = os.environ | {"PYTHONPATH": ROOT, "PYTHONIOENCODING": "ascii"}
    ended = subprocess.run(
        [sys.executable, "-m", "lftj", "run", path],
        capture_output=True,
        cwd=folder,
        env=environment,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert "é→" in ended.stdout.decode()


@pytest.mark.parametrize("stream", ["stdin", "stdout"])
def test_streams_that_are_closed(
    folder: Path, stream: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reads = program(folder, PATHS.replace(".input edge", ".input edge(IO=stdin)"))
    monkeypatch.setattr(f"sys.{stream}", None)
    for arguments in (
        [["run", "-"], ["run", reads]] if stream == "stdin" else [["run", "paths.dl", "-D", "-"]]
    ):
        assert main(arguments) == 1
        told = capsys.readouterr().err
        assert f"error[E232]: standard {stream[3:]}put is closed" in told
        assert told.count("error[") == 1
    assert main(["run", "paths.dl"]) == 0


def test_where_standard_error_is_closed_errors_and_warnings_go_nowhere(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr", None)
    assert main(["run", "paths.dl", "-D", "there"]) == 0
    assert (folder / "there" / "path.csv").exists()
    assert main(["run", program(folder, ".decl a(x: number) a(1).")]) == 0
    assert main(["run", "nowhere.dl"]) == 1
    assert capsys.readouterr().out == ""


def test_standard_input_is_read_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PATHS.replace(".input edge", ".input edge(IO=stdin)")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main(["run", "-"]) == 1
    assert (
        "3:1: error[E231]: .input edge: standard input is read by the program already"
        in capsys.readouterr().err
    )
    assert main(["run", program(folder, text + ".decl b(x: number)\n.input b(IO=stdin)")]) == 1
    assert (
        "error[E231]: .input b: standard input is read by .input edge already"
        in capsys.readouterr().err
    )


def test_two_relations_in_one_file_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PATHS.replace(
        ".output path",
        '.output path(filename="x.csv")\n.output edge(filename="x.csv")\n.output path',
    )
    for command in ("run", "check"):
        assert main([command, program(folder, text)]) == 1
        assert (
            "6:1: error[E231]: .output edge: x.csv is written by .output path already"
            in capsys.readouterr().err
        )


@pytest.mark.parametrize(
    ("directive", "hint"),
    [(".output edge(IO=stdin)", "IO=stdout"), (".input edge(IO=stdout)", "IO=stdin")],
)
def test_streams_the_wrong_way_round(
    folder: Path, directive: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", program(folder, PATHS.replace(".output path", directive))]) == 1
    assert f"use IO=file or {hint}" in capsys.readouterr().err
