"""The worker pool: whatever a task does to its process, every task has exactly one outcome."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from bookwheel.errors import Internal
from bookwheel.indexing.worker import Failure, Limits, Outcome, Task, WorkerPool
from bookwheel.indexing.worker_child import YOUNG_OBJECTS, decode, encode

ROOT = Path(__file__).resolve().parents[2]
HANDLERS = "tests.indexing.handlers"
BRIEF = Limits(base_seconds=1.0, memory_bytes=256 << 20, message_bytes=64_000_000)
CALM = Limits(memory_bytes=256 << 20, message_bytes=64_000_000)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="counts through /proc")


@pytest.fixture(autouse=True)
def _importable_handlers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A path that exists only once the parent has run a worker's code."""
    return tmp_path_factory.mktemp("evidence") / "pwned"


@pytest.fixture(scope="module")
def troubled(evidence: Path) -> Iterator[WorkerPool]:
    """A pool shared by the tests of trouble, which shows that it survives them all."""
    with _make("make_troublemaker", str(evidence), limits=CALM) as pool:
        yield pool


def _make(
    handler: str, *setup: object, workers: int = 2, limits: Limits | None = None
) -> WorkerPool:
    return WorkerPool(f"{HANDLERS}:{handler}", setup, workers=workers, limits=limits)


def _tasks(*payloads: Any) -> list[Task]:
    return [Task(key, (payload,)) for key, payload in enumerate(payloads)]


def _gather(pool: WorkerPool, tasks: Any) -> dict[int, Outcome]:
    outcomes = list(pool.run(tasks))
    by_key = {outcome.task.key: outcome for outcome in outcomes}
    assert len(by_key) == len(outcomes), "a task had two outcomes"
    return by_key


def _fail(pool: WorkerPool, trouble: str) -> Failure:
    """Return how a task fails, after checking that its two neighbours do not."""
    outcomes = _gather(pool, _tasks("before", trouble, "after"))
    failure = outcomes[1].failure
    assert failure is not None
    assert outcomes[1].result is None
    assert {key: outcomes[key].result for key in (0, 2)} == {0: "before", 2: "after"}
    return failure


def _descriptors() -> set[str]:
    return {entry.name for entry in Path("/proc/self/fd").iterdir()}


def children() -> set[str]:
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


@pytest.mark.parametrize(
    ("trouble", "failure"),
    [
        ("segfault", Failure("crash", "the worker was killed by SIGSEGV")),
        ("kill_itself", Failure("crash", "the worker was killed by SIGKILL")),
        ("abort", Failure("crash", "the worker was killed by SIGABRT")),
        ("abort_like_rust", Failure("memory", "the worker was killed by SIGABRT")),
        ("leave", Failure("crash", "the worker exited with code 7")),
        ("stop_half_way", Failure("crash", "the worker exited with code 0")),
        ("hog", Failure("memory", "needs more memory than a worker may have")),
        ("exit_politely", Failure("error", "SystemExit: enough")),
        ("panic", Failure("error", "BaseException: a Rust panic is no Exception")),
        ("raise_mute", Failure("error", "MuteError: (message lost to RuntimeError)")),
        ("raise_long", Failure("error", "ValueError: " + "x" * 288)),
    ],
)
def test_f16_a_task_that_ends_badly_fails_alone(
    troubled: WorkerPool, trouble: str, failure: Failure
) -> None:
    assert _fail(troubled, trouble) == failure


def test_endless_recursion_is_an_error_of_its_task(troubled: WorkerPool) -> None:
    failure = _fail(troubled, "recurse")
    assert (failure.kind, failure.detail.partition(":")[0]) == ("error", "RecursionError")


@pytest.mark.parametrize(
    ("trouble", "detail"),
    [
        ("give_unpicklable", "TypeError: not a plain value: tests.indexing.handlers.NotPlain"),
        (
            "give_nested",
            "RecursionError: maximum recursion depth exceeded while pickling an object",
        ),
    ],
)
def test_a_result_that_cannot_be_sent_is_an_error_of_its_task(
    troubled: WorkerPool, trouble: str, detail: str
) -> None:
    assert _fail(troubled, trouble) == Failure("error", detail)


@pytest.mark.parametrize(
    ("trouble", "complaint"),
    [
        ("send_evil", "refused to load posix.open"),
        ("send_noise", "no plain value"),
        ("send_wrong_shape", "to no question"),
        ("announce_too_much", "a reply of 4,611,686,018,427,387,904 bytes"),
    ],
)
def test_t18_a_worker_that_forges_a_reply_is_killed_and_cannot_run_code_in_the_parent(
    troubled: WorkerPool, evidence: Path, trouble: str, complaint: str
) -> None:
    failure = _fail(troubled, trouble)
    assert failure.kind == "crash"
    assert complaint in failure.detail
    assert not evidence.exists()


def test_a_talkative_handler_hinders_nobody(troubled: WorkerPool) -> None:
    outcomes = _gather(troubled, _tasks("chatter", "other"))
    assert [outcomes[key].result for key in (0, 1)] == ["said", "other"]


def test_a_worker_ignores_ctrl_c_and_holds_no_descriptor_but_its_own(troubled: WorkerPool) -> None:
    (outcome,) = troubled.run(_tasks("report_confinement"))
    ignores_interrupt, descriptors, path = outcome.result
    # Standard input, output and error, two pipes, and the listing itself.
    assert (ignores_interrupt, descriptors) == (True, 6)
    assert "" not in path


def test_t18_a_task_that_hangs_is_killed_at_its_deadline_and_the_others_are_answered() -> None:
    with _make("make_troublemaker", "", limits=BRIEF) as pool:
        outcomes = _gather(pool, _tasks("a", "hang", "b", "spin", "c"))
    late = Failure("timeout", "no answer within the time allowed")
    assert {key: outcome.failure for key, outcome in outcomes.items() if outcome.failure} == {
        1: late,
        3: late,
    }
    assert [outcomes[key].result for key in (0, 2, 4)] == ["a", "b", "c"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what others have used")
def test_a_task_that_others_keep_from_the_processor_gets_more_time() -> None:
    with _make("make_troublemaker", "", limits=BRIEF) as pool:
        outcomes = _gather(pool, _tasks("plod", "a"))
    assert [outcomes[key].result for key in (0, 1)] == ["plodded", "a"]


def test_f16_bad_tasks_among_two_hundred_good_ones_are_the_only_ones_to_fail() -> None:
    payloads = [str(number) for number in range(200)]
    bad = {
        3: "segfault",
        50: "hang",
        51: "leave",
        97: "ask_too_much",
        98: "panic",
        199: "kill_itself",
    }
    for place, trouble in bad.items():
        payloads[place] = trouble
    with _make("make_troublemaker", "", limits=BRIEF) as pool:
        outcomes = _gather(pool, _tasks(*payloads))
    failed = {key: outcome.failure.kind for key, outcome in outcomes.items() if outcome.failure}
    assert failed == {
        3: "crash",
        50: "timeout",
        51: "crash",
        97: "memory",
        98: "error",
        199: "crash",
    }
    good = {key: outcome.result for key, outcome in outcomes.items() if not outcome.failure}
    assert good == {key: str(key) for key in range(200) if key not in bad}


def test_big_batches_and_big_replies_pass_each_other_without_deadlock() -> None:
    block = bytes(3_000_000)
    limits = Limits(batch_tasks=2)
    with _make("make_echo", limits=limits, workers=1) as pool:
        sizes = [len(outcome.result[0]) for outcome in pool.run(_tasks(*[block] * 10))]
    assert sizes == [len(block)] * 10


def test_a_reply_that_lay_in_the_pipe_while_the_caller_was_busy_is_not_late() -> None:
    now = 0.0
    tasks = [Task(0, ("x", 1)), Task(1, ("x", 5_000_000))]
    limits = Limits(batch_tasks=1)
    with WorkerPool(
        f"{HANDLERS}:make_stretch", workers=1, limits=limits, clock=lambda: now
    ) as pool:
        run = pool.run(tasks)
        assert next(run).result == "x"
        if pool._children[0].batches:
            select.select([pool._children[0].reader], [], [], 30)
        now += 1_000.0
        (outcome,) = run
    assert (outcome.failure, len(outcome.result)) == (None, 5_000_000)


def test_a_reply_over_the_cap_is_a_crash_of_the_task_that_caused_it() -> None:
    tasks = [Task(0, ("x", 10)), Task(1, ("x", 2_000_000)), Task(2, ("y", 10))]
    with _make("make_stretch", limits=Limits(message_bytes=1_000_000)) as pool:
        outcomes = _gather(pool, tasks)
    assert [outcomes[key].result for key in (0, 1, 2)] == ["x" * 10, None, "y" * 10]
    failure = outcomes[1].failure
    assert failure is not None
    assert (failure.kind, "sent a reply of" in failure.detail) == ("crash", True)


def test_a_handler_that_cannot_be_imported_is_told_to_the_caller() -> None:
    with WorkerPool("bookwheel.no_such_module:make") as pool, pytest.raises(Internal) as caught:
        list(pool.run(_tasks("a")))
    assert "No module named 'bookwheel.no_such_module'" in caught.value.message


def test_a_handler_whose_setup_fails_is_told_to_the_caller() -> None:
    with _make("make_failure", "no such folder") as pool, pytest.raises(Internal) as caught:
        list(pool.run(_tasks("a")))
    assert caught.value.message == (
        "A worker process could not be set up: ValueError: no such folder"
    )


def test_workers_that_die_at_start_end_the_run_instead_of_being_started_for_ever() -> None:
    with _make("make_dead_at_start", 9) as pool, pytest.raises(Internal) as caught:
        list(pool.run(_tasks("a")))
    assert caught.value.message == (
        "Worker processes end before they start: the worker exited with code 9."
    )


def test_setup_and_payload_reach_the_handler_and_every_plain_value_comes_back() -> None:
    values = (None, True, -(2**70), 1.5, "ü\ud800", b"\0", ("t",), ["l"], {"d": {1: 2}})
    with _make("make_echo", "setup", 7) as pool:
        (outcome,) = pool.run([Task(4, values, weight=12)])
    assert outcome == Outcome(Task(4, values, weight=12), ("setup", 7, *values), None)


def test_a_payload_that_is_no_plain_value_is_refused() -> None:
    with _make("make_echo") as pool, pytest.raises(TypeError, match="PosixPath"):
        list(pool.run(_tasks(Path("/"))))


def test_nothing_starts_before_the_first_task(tmp_path: Path) -> None:
    mark = tmp_path / "started"
    with _make("make_mark", str(mark)) as pool:
        assert list(pool.run([])) == []
        assert not mark.exists()
        assert len(list(pool.run(_tasks("a")))) == 1
        assert mark.exists()


def test_tasks_are_taken_from_a_generator_only_as_needed() -> None:
    taken = 0

    def produce() -> Iterator[Task]:
        nonlocal taken
        for key in range(5_000):
            taken = key + 1
            yield Task(key, (key,))

    with _make("make_echo") as pool:
        furthest = 0
        for count, _ in enumerate(pool.run(produce()), start=1):
            furthest = max(furthest, taken - count)
    assert (count, taken) == (5_000, 5_000)
    # Two workers with two batches each, as many answered at the same moment, and one in hand.
    assert furthest <= 32 * 9


def test_heavy_tasks_go_alone_and_to_every_worker() -> None:
    tasks = [Task(key, (), weight=1_000_000) for key in range(8)]
    with _make("make_process_name") as pool:
        processes = {outcome.result for outcome in pool.run(tasks)}
    assert len(processes) == 2


def test_a_worker_is_replaced_after_its_share_of_tasks() -> None:
    limits = Limits(batch_tasks=1, recycle_tasks=10)
    with _make("make_process_name", limits=limits, workers=1) as pool:
        processes = {outcome.result for outcome in pool.run([Task(key, ()) for key in range(40)])}
    assert len(processes) in (3, 4)  # a batch that waits already is still answered


def test_a_worker_is_replaced_when_it_has_grown_too_big() -> None:
    limits = Limits(batch_tasks=1, recycle_bytes=1)
    with _make("make_process_name", limits=limits, workers=1) as pool:
        processes = {outcome.result for outcome in pool.run([Task(key, ()) for key in range(6)])}
    assert len(processes) >= 3


def test_a_worker_looks_for_cycles_seldom_and_not_in_what_it_imported() -> None:
    with _make("make_collector") as pool:
        assert _gather(pool, _tasks(0))[0].result == (YOUNG_OBJECTS, True)


def test_a_second_run_uses_the_same_workers() -> None:
    with _make("make_process_name", workers=1) as pool:
        first = [outcome.result for outcome in pool.run([Task(0, ())])]
        second = [outcome.result for outcome in pool.run([Task(0, ())])]
    assert first == second


def test_a_worker_that_died_between_two_runs_is_replaced_without_blame() -> None:
    with _make("make_process_name", workers=1) as pool:
        (first,) = pool.run([Task(0, ())])
        os.kill(first.result, signal.SIGKILL)
        os.waitid(os.P_PID, first.result, os.WEXITED | os.WNOWAIT)
        (second,) = pool.run([Task(0, ())])
    assert (first.result != second.result, second.failure) == (True, None)


def test_an_abandoned_run_ends_its_workers_and_the_pool_can_run_again() -> None:
    descriptors, processes = _descriptors(), children()
    with _make("make_echo") as pool:
        run = pool.run(Task(key, (key,)) for key in range(10_000))
        assert next(run).failure is None
        del run
        assert (_descriptors(), children()) == (descriptors, processes)
        assert [outcome.result for outcome in pool.run(_tasks("again"))] == [("again",)]


def test_an_error_in_the_source_of_tasks_ends_the_workers_and_is_passed_on() -> None:
    descriptors, processes = _descriptors(), children()

    def produce() -> Iterator[Task]:
        yield from _tasks(*range(100))
        raise KeyboardInterrupt

    with _make("make_echo") as pool, pytest.raises(KeyboardInterrupt):
        list(pool.run(produce()))
    assert (_descriptors(), children()) == (descriptors, processes)


def test_no_descriptor_and_no_process_outlives_the_pool() -> None:
    descriptors, processes = _descriptors(), children()
    limits = Limits(base_seconds=0.3, memory_bytes=256 << 20, recycle_tasks=5, batch_tasks=4)
    with _make("make_troublemaker", "", limits=limits) as pool:
        outcomes = _gather(pool, _tasks("a", "segfault", *"bcdefghijk", "hang", *"lmnop"))
        assert len(outcomes) == 18
    assert (_descriptors(), children()) == (descriptors, processes)


def test_a_closed_pool_refuses_to_run() -> None:
    pool = _make("make_echo")
    pool.close()
    with pytest.raises(Internal):
        list(pool.run(_tasks("a")))


def test_two_runs_at_once_are_refused() -> None:
    with _make("make_echo") as pool:
        first = pool.run(_tasks("a", "b"))
        next(first)
        with pytest.raises(Internal):
            next(iter(pool.run(_tasks("c"))))
        assert next(first).result == ("b",)


def test_f16_a_hanging_worker_dies_with_its_parent() -> None:
    script = f"""
        import os, signal
        from pathlib import Path
        from bookwheel.indexing.worker import Task, WorkerPool
        pool = WorkerPool("{HANDLERS}:make_troublemaker", ("",), workers=1)
        list(pool.run([Task(0, ("a",))]))
        child = Path(f"/proc/self/task/{{os.getpid()}}/children").read_text()
        print(child, flush=True)
        def interrupt(*_): os.kill(os.getpid(), signal.SIGKILL)
        signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        list(pool.run([Task(0, ("hang",))]))
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    parent = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (parent.returncode, parent.stderr) == (-signal.SIGKILL, "")
    assert ends(int(parent.stdout))


def ends(identity: int) -> bool:
    try:
        descriptor = os.pidfd_open(identity)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 30)[0])
    finally:
        os.close(descriptor)


def test_frames_hold_their_length_and_their_value() -> None:
    frame = bytes(encode(("a", [1, {"b": b"c"}])))
    assert int.from_bytes(frame[:8], "little") == len(frame) - 8
    assert decode(BytesIO(frame[8:])) == ("a", [1, {"b": b"c"}])
