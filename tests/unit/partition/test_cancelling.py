"""Jobs are cancelled when their block fails or takes too long, and nothing of the block stays
behind.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from lftj.partition.cancelling import cancelled


class FakeContext:
    """Tags of a SparkContext. `cancelled` is set with a job's tag."""

    def __init__(self) -> None:
        self.tags: list[str] = []
        self.gone: list[str] = []
        self.cancelled = threading.Event()

    def addJobTag(self, tag: str) -> None:
        self.tags.append(tag)

    def removeJobTag(self, tag: str) -> None:
        self.tags.remove(tag)

    def cancelJobsWithTag(self, tag: str) -> None:
        self.gone.append(tag)
        self.cancelled.set()


@pytest.fixture(autouse=True)
def no_timer_is_left() -> Iterator[None]:
    yield
    timers = [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]
    for timer in timers:
        timer.join(10)
    assert not any(timer.is_alive() for timer in timers)


def test_a_block_that_ends_has_its_jobs_under_a_tag_and_cancels_none() -> None:
    context = FakeContext()
    for seconds in (60, None):
        with cancelled(context, seconds):
            assert len(context.tags) == 1
    assert (context.tags, context.gone) == ([], [])


def ends_by(context: FakeContext, seconds: float, ending: BaseException) -> None:
    """A block that waits until its jobs are cancelled for being late, if `seconds` are few, and
    ends by an exception.
    """
    with cancelled(context, seconds):
        assert len(context.tags) == 1
        assert seconds > 1 or context.cancelled.wait(10)
        raise ending


@pytest.mark.parametrize("ending", [KeyboardInterrupt(), RuntimeError()], ids=repr)
def test_what_ends_a_block_cancels_its_jobs_and_goes_on(ending: BaseException) -> None:
    context = FakeContext()
    with pytest.raises(type(ending)):
        ends_by(context, 60, ending)
    assert (len(context.gone), context.tags) == (1, [])


def test_jobs_that_are_late_are_cancelled_and_their_failure_says_so() -> None:
    context = FakeContext()
    with pytest.raises(TimeoutError, match=r"after 0\.01 s"):
        ends_by(context, 0.01, RuntimeError("cancelled"))
    with pytest.raises(KeyboardInterrupt):
        ends_by(context, 0.01, KeyboardInterrupt())
    assert context.tags == []


def fail_for_an_interrupt(context: FakeContext) -> None:
    """As a job does where Py4J is interrupted at an unlucky moment."""
    with cancelled(context, None):
        try:
            try:
                raise KeyboardInterrupt
            except KeyboardInterrupt:
                raise RuntimeError("Gateway must be connected")  # noqa: B904 — as Py4J raises it
        except RuntimeError as error:
            raise RuntimeError("the job failed") from error


def fail_while_an_interrupt_is_handled() -> None:
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        with cancelled(FakeContext(), None):
            raise RuntimeError("the job failed")  # noqa: B904 — as what a job raises


def test_what_fails_for_an_interrupt_is_the_interrupt() -> None:
    context = FakeContext()
    with pytest.raises(KeyboardInterrupt):
        fail_for_an_interrupt(context)
    assert len(context.gone) == 1


def test_what_fails_while_an_interrupt_is_handled_is_a_failure() -> None:
    with pytest.raises(RuntimeError, match="the job failed"):
        fail_while_an_interrupt_is_handled()
