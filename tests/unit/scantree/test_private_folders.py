"""Folders that others could change are refused, whatever leads to them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lftj.scantree.process.private_folders import UnsafeFolderError, private_folder

NOBODY = 65534


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A folder that nobody else may write."""
    tmp_path.chmod(0o755)
    return tmp_path


def test_a_new_folder_and_its_parents_are_the_users_alone(base: Path) -> None:
    before = os.umask(0)
    try:
        made = private_folder(base / "a" / "b")
    finally:
        os.umask(before)
    assert made == base / "a" / "b"
    assert [path.stat().st_mode & 0o777 for path in (base / "a", made)] == [0o700, 0o700]
    assert private_folder(made) == made


def test_a_folder_that_others_read_is_closed(base: Path) -> None:
    (base / "a").mkdir(mode=0o755)
    assert private_folder(base / "a").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o775, 0o757, 0o777, 0o1777])
def test_a_folder_that_others_write_is_refused(base: Path, mode: int) -> None:
    (base / "a").mkdir()
    (base / "a").chmod(mode)
    with pytest.raises(UnsafeFolderError, match=r"others may write in .*/a"):
        private_folder(base / "a")


@pytest.mark.parametrize("mode", [0o775, 0o777])
def test_a_parent_in_which_others_could_put_another_is_refused(base: Path, mode: int) -> None:
    (base / "open").mkdir()
    (base / "open").chmod(mode)
    with pytest.raises(UnsafeFolderError, match=r"others may write in .*/open"):
        private_folder(base / "open" / "deep" / "a")
    assert not list((base / "open").iterdir())


def test_a_parent_whose_entries_belong_to_their_owners_is_not(base: Path) -> None:
    (base / "sticky").mkdir()
    (base / "sticky").chmod(0o1777)
    assert private_folder(base / "sticky" / "a") == base / "sticky" / "a"


def test_a_link_leads_to_what_is_looked_at_too(base: Path) -> None:
    (base / "open").mkdir()
    (base / "open").chmod(0o777)
    (base / "open" / "mine").mkdir(mode=0o700)
    (base / "link").symlink_to("open/mine")
    with pytest.raises(UnsafeFolderError, match="/open"):
        private_folder(base / "link")
    (base / "open").chmod(0o755)
    assert private_folder(base / "link") == base / "open" / "mine"
    (base / "open").chmod(0o777)
    (base / "open" / "back").symlink_to(base / "shut")
    with pytest.raises(UnsafeFolderError, match="/open"):
        private_folder(base / "open" / "back")


def test_links_in_a_circle_and_files_are_no_folders(base: Path) -> None:
    (base / "a").symlink_to("b")
    (base / "b").symlink_to("a")
    (base / "file").write_text("")
    for path in ("a", "file", "file/a"):
        with pytest.raises(OSError, match=r"too many links|no folder"):
            private_folder(base / path)


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("owned", ["a", "a/b", "link"])
def test_what_belongs_to_another_user_is_refused(base: Path, owned: str) -> None:
    (base / "a" / "b").mkdir(parents=True, mode=0o755)
    (base / "link").symlink_to("a/b")
    os.chown(base / owned, NOBODY, NOBODY, follow_symlinks=False)
    with pytest.raises(UnsafeFolderError, match="belongs to another user"):
        private_folder(base / ("link" if owned == "link" else "a/b"))
