"""Folders that do not answer: they are let be, and asked again when they do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bookwheel.indexing.hanging import Hanging, Shares
from bookwheel.indexing.scan import Scan
from bookwheel.indexing.watch import watch
from bookwheel.safety.opener import Root

PATIENCE = 10.0


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    with Root.open(tmp_path) as opened:
        yield opened


class Stuck:
    """A look that comes to no end until it is let go."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.threads: list[threading.Thread] = []

    def scan(self, _: Callable[[], bool]) -> Scan:
        self.threads.append(threading.current_thread())
        self.go.wait(PATIENCE)
        return Scan()

    def end(self) -> None:
        self.go.set()
        for thread in self.threads:
            thread.join(PATIENCE)


def test_f14_a_folder_that_hangs_is_said_to_until_it_answers(root: Root) -> None:
    shares, stuck = Shares(seconds=0), Stuck()
    with pytest.raises(Hanging, match="hangs"):
        shares.look(root, stuck.scan, should_stop=lambda: False)
    with pytest.raises(Hanging, match="hangs"):
        shares.require_answer(root.path)
    assert shares.hangs(root.path)
    stuck.end()
    assert not shares.hangs(root.path)
    assert shares.look(root, stuck.scan, should_stop=lambda: False) == Scan()


def test_f14_whoever_is_told_to_stop_does_not_wait_for_a_folder_that_hangs(root: Root) -> None:
    shares, stuck = Shares(seconds=PATIENCE * 100), Stuck()
    found = shares.look(root, stuck.scan, should_stop=lambda: bool(stuck.threads))
    assert found == Scan(stopped=True)
    stuck.end()


def test_f14_a_folder_that_is_merely_slow_is_waited_for(root: Root) -> None:
    """Each time that the clock is looked at, another name has come."""
    stuck = Stuck()
    times: list[int] = []

    def clock() -> float:
        root.steps += 1
        times.append(1)
        if len(times) == 5:
            stuck.go.set()
        return 100.0 * len(times)

    shares = Shares(seconds=1, clock=clock)
    assert shares.look(root, stuck.scan, should_stop=lambda: False) == Scan()


def test_f14_what_goes_wrong_in_a_look_is_raised_to_whoever_waits(root: Root) -> None:
    def fail(_: Callable[[], bool]) -> Scan:
        raise MemoryError

    with pytest.raises(MemoryError):
        Shares().look(root, fail, should_stop=lambda: False)


def test_f14_a_folder_that_hangs_is_not_listened_to_until_it_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard_in: list[tuple[str, ...]] = []
    looks: list[int] = []

    def listen(*paths: str, stop_event: threading.Event, **_: object) -> Iterator[set[object]]:
        heard_in.append(paths)
        while not stop_event.is_set():
            yield set()

    def update() -> bool:
        looks.append(1)
        return False

    monkeypatch.setattr("watchfiles.watch", listen)
    watch(
        [str(tmp_path)],
        update=update,
        should_stop=lambda: len(looks) == 3,
        reconcile_seconds=0,
        hangs=lambda _: len(looks) < 2,
    )
    assert heard_in == [(), (str(tmp_path),)]
