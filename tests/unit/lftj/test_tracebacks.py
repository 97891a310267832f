"""Errors in notebooks: the message first, and no frames of the engine."""

from __future__ import annotations

import pytest

import lftj


def _wrong(ws: lftj.Workspace) -> None:
    ws.query("nothing(x)")


def test_the_message_comes_first_and_own_frames_are_hidden() -> None:
    with pytest.raises(lftj.ProgramErrors) as caught:
        _wrong(lftj.connect())
    lines = caught.value._render_traceback_()
    assert lines[0].startswith("ProgramErrors: <query>:1:1: error[E110]: unknown relation")
    shown = "\n".join(lines)
    assert str(caught.value) in shown
    assert 'ws.query("nothing(x)")' in shown
    own = [line for line in lines if line.strip().startswith("File") and "/tests/" not in line]
    assert own == []
    assert all("\n" not in line for line in lines[1:])


def test_every_problem_of_a_program_is_shown() -> None:
    with pytest.raises(lftj.ProgramErrors) as caught:
        lftj.connect().add_rules("p(x) :- q(x).\nr(y) :- s(z).")
    shown = "\n".join(caught.value._render_traceback_())
    assert all(str(each) in shown for each in caught.value.errors)


def test_an_error_that_was_never_raised_has_its_message() -> None:
    assert lftj.LftjError("no")._render_traceback_() == ["LftjError: error[E000]: no"]
