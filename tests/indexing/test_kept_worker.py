"""The worker that is kept between two runs: it saves its start, and is never left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bookwheel.errors import Internal
from bookwheel.indexing.kept_worker import KeptWorker
from bookwheel.indexing.worker import Failure, Limits, Task, WorkerPool
from tests.conftest import Shelf
from tests.indexing.test_worker import HANDLERS, ROOT, children, ends

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="counts through /proc")


@pytest.fixture(autouse=True)
def _importable_handlers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.fixture
def kept() -> Iterator[KeptWorker]:
    before = children()
    kept = KeptWorker()
    yield kept
    kept.close()
    assert children() == before


def run(
    kept: KeptWorker | None,
    handler: str = "make_process_name",
    *payloads: Any,
    setup: tuple[Any, ...] = (),
    limits: Limits | None = None,
    workers: int = 1,
) -> list[Any]:
    """Return the results of a run, or the failure of each task that has none."""
    tasks = [Task(key, each) for key, each in enumerate(payloads or ((),))]
    with WorkerPool(
        f"{HANDLERS}:{handler}", setup, workers=workers, limits=limits, kept=kept
    ) as pool:
        outcomes = sorted(pool.run(tasks), key=lambda outcome: outcome.task.key)
    return [outcome.failure or outcome.result for outcome in outcomes]


def test_the_next_run_is_the_same_process_with_another_handler(kept: KeptWorker) -> None:
    first = run(kept)
    assert run(kept, "make_echo", ("b",), setup=("a",)) == [("a", "b")]
    assert run(kept, "make_echo", ("b",), setup=("c",)) == [("c", "b")]
    assert run(kept) == first


def test_of_several_one_is_kept(kept: KeptWorker) -> None:
    before = children()
    heavy = [Task(key, (), weight=1_000_000) for key in range(8)]
    with WorkerPool(f"{HANDLERS}:make_process_name", workers=2, kept=kept) as pool:
        names = {outcome.result for outcome in pool.run(heavy)}
    (left,) = children() - before
    assert (len(names), int(left) in names) == (2, True)


def test_at_rest_it_holds_nothing_that_its_handler_held(kept: KeptWorker, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("walrus", encoding="utf-8")
    (name,) = run(kept)
    setup = ("notes", str(tmp_path), None, None, 1_000)
    with WorkerPool("bookwheel.indexing.prepare:make_prepare", setup, workers=1, kept=kept) as pool:
        (outcome,) = pool.run([Task(0, ("a.md", b""))])
        held = opened(name)
    assert outcome.failure is None
    assert str(tmp_path) in held
    # Answered after it was laid down, so that it has been.
    assert run(kept) == [name]
    assert str(tmp_path) not in opened(name)


def test_what_its_handlers_leave_behind_does_not_add_up(kept: KeptWorker) -> None:
    """A worker that was kept for thousands of runs had grown with every one of them."""
    assert [run(kept, "make_knots") for _ in range(3)] == [[1], [1], [1]]


def opened(process: int) -> set[str]:
    return {str(each.readlink()) for each in Path(f"/proc/{process}/fd").iterdir()}


def test_it_ends_by_itself_when_nobody_needs_it() -> None:
    before = children()
    kept = KeptWorker(seconds=1)
    (name,) = run(kept)
    assert ends(name)
    kept.look()
    assert children() == before
    assert run(kept) != [name]
    kept.close()


def test_one_that_was_killed_at_rest_is_replaced_without_blame(kept: KeptWorker) -> None:
    (name,) = run(kept)
    os.kill(name, signal.SIGKILL)
    assert ends(name)
    (other,) = run(kept)
    assert isinstance(other, int)
    assert other != name


def test_one_that_ends_just_when_it_is_needed_is_replaced_without_blame(
    kept: KeptWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    (name,) = run(kept)
    monkeypatch.setattr(KeptWorker, "look", lambda self: None)
    os.kill(name, signal.SIGKILL)
    assert ends(name)
    (other,) = run(kept)
    assert isinstance(other, int)
    assert other != name


def test_it_keeps_to_its_deadlines_and_limits(kept: KeptWorker) -> None:
    limits = Limits(base_seconds=1.0, memory_bytes=256 << 20)
    (name,) = run(kept, limits=limits)
    troubles = [("hang",), ("a",), ("hog",)]
    late, good, starved = run(kept, "make_troublemaker", *troubles, setup=("",), limits=limits)
    assert late == Failure("timeout", "no answer within the time allowed")
    assert (good, starved.kind) == ("a", "memory")
    assert ends(name)


def test_it_is_replaced_after_its_share_of_tasks(kept: KeptWorker) -> None:
    limits = Limits(recycle_tasks=3)
    names = [run(kept, limits=limits)[0] for _ in range(7)]
    assert [names.count(name) for name in dict.fromkeys(names)] == [3, 3, 1]


def test_one_that_has_grown_is_not_kept(kept: KeptWorker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bookwheel.indexing.kept_worker.LARGEST_BYTES", 1_000)
    before = children()
    run(kept)
    assert children() == before


def test_one_that_was_started_with_other_limits_is_not_used(kept: KeptWorker) -> None:
    (name,) = run(kept)
    assert run(kept, limits=Limits(memory_bytes=1 << 30)) != [name]


def test_another_thread_does_not_use_it_since_it_may_end_with_the_first(kept: KeptWorker) -> None:
    names: list[Any] = []
    thread = threading.Thread(target=lambda: names.extend(run(kept)))
    thread.start()
    thread.join()
    names += run(kept)
    names += run(kept)
    assert (names[0] != names[1], names[1] == names[2]) == (True, True)


def test_a_run_that_is_broken_off_keeps_none(kept: KeptWorker) -> None:
    before = children()
    with WorkerPool(f"{HANDLERS}:make_echo", workers=2, kept=kept) as pool:
        next(pool.run(Task(key, (key,)) for key in range(10_000)))
    assert children() == before


def test_a_handler_that_cannot_be_set_up_is_told_and_its_worker_not_kept(kept: KeptWorker) -> None:
    before = children()
    (name,) = run(kept)
    with pytest.raises(Internal, match="no such folder"):
        run(kept, "make_failure", setup=("no such folder",))
    assert ends(name)
    assert children() == before


@pytest.mark.parametrize("end", ["SIGKILL", "SIGTERM"])
def test_f16_a_resting_worker_dies_with_its_parent(end: str) -> None:
    script = f"""
        import os, signal
        from bookwheel.indexing.kept_worker import KeptWorker
        from bookwheel.indexing.worker import Task, WorkerPool
        kept = KeptWorker()
        with WorkerPool("{HANDLERS}:make_process_name", workers=1, kept=kept) as pool:
            (outcome,) = pool.run([Task(0, ())])
        print(outcome.result, flush=True)
        os.kill(os.getpid(), signal.{end})
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    parent = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (parent.returncode, parent.stderr) == (-signal.Signals[end], "")
    assert ends(int(parent.stdout))


def test_a_library_reads_one_change_after_another_in_one_process_and_ends_it_when_closed(
    shelf: Shelf,
) -> None:
    shelf.put("a.md", "walrus")
    before = children()
    seen: list[set[str]] = []
    with shelf.open(workers=1) as library:
        for word in ("zebra", "zebra heron"):
            library.update()
            seen.append(children() - before)
            shelf.put("a.md", word)
        library.update()
        seen.append(children() - before)
        assert library.paths("notes") == ["a.md"]
    assert (len(seen[0]), seen) == (1, [seen[0]] * 3)
    assert children() == before
