"""A server that is stopped under load, has no descriptors left, or whose clients never end."""

from __future__ import annotations

import http.client
import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from bookwheel.cli.fresh import waiting
from bookwheel.engines.embedded.engine import EmbeddedEngine
from bookwheel.errors import Conflict
from bookwheel.serve.calls import THREADS
from tests.conftest import Shelf
from tests.faults.serving import PATIENCE, Server, ask, serving, wait_for

pytestmark = pytest.mark.timeout(180)
STOP = 5 + 3
"""Seconds that are promised, and some for a busy machine: with ten at work on two cores, it takes
two in all."""


class Askers:
    """Clients that ask without a pause until the server is gone."""

    def __init__(self, server: Server, number: int) -> None:
        self._server = server
        self.seen: Counter[str] = Counter()
        self._threads = [threading.Thread(target=self._ask) for _ in range(number)]
        for thread in self._threads:
            thread.start()

    def _ask(self) -> None:
        connection = self._server.connect()
        try:
            while True:
                status, answer = ask(connection, "get_doc_page", {"path": "0.md"})
                right = "result" in answer and "zebra 0" in answer["result"]["content"][0]["text"]
                self.seen["right" if right else f"status {status}: {answer}"] += 1
        except (OSError, http.client.HTTPException):
            self.seen["closed"] += 1
        finally:
            connection.close()

    def end(self) -> None:
        for thread in self._threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()


def test_f19_told_to_stop_under_load_it_answers_or_refuses_and_leaves_a_sound_index(
    shelf: Shelf,
) -> None:
    shelf.put("0.md", "# Page\n\nzebra 0")
    shelf.update()
    for number in range(1, 400):
        shelf.put(f"{number}.md", f"# Page {number}\n\nzebra {number}")
    with serving(shelf) as server:
        askers = Askers(server, 12)
        wait_for(lambda: askers.seen["right"] > 40)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(STOP) == 0
        askers.end()
        said = server.said
    wrong = [kind for kind in askers.seen if kind not in ("right", "closed")]
    assert [kind for kind in wrong if not kind.startswith("status 503")] == []
    assert askers.seen["closed"] <= 12
    assert "Traceback" not in said
    log = shelf.place / "index" / "catalog.db-wal"
    assert not log.exists() or log.stat().st_size == 0, said
    with shelf.open() as library:
        assert library.check() == []
        library.update()
        assert len(library.paths("notes")) == 400


def test_f17_more_connections_than_descriptors_are_refused_and_others_answered(
    shelf: Shelf,
) -> None:
    shelf.put("a.md", "# A\n\nzebra")
    shelf.update()
    with serving(shelf, before=few(256)) as server:
        kept = server.connect()
        assert server.find("zebra", kept) == ["a.md"]
        crowd = [reach(server) for _ in range(400)]
        try:
            assert refusal(server) == (503, "1")
            assert server.find("zebra", kept) == ["a.md"]
        finally:
            for each in crowd:
                each.close()
        assert server.find("zebra", kept) == ["a.md"]
        wait_for(lambda: server.find("zebra") == ["a.md"])
        kept.close()
        assert "Traceback" not in server.said


def few(descriptors: int) -> tuple[str, ...]:
    """Return what runs a command with so many descriptors at most."""
    return "sh", "-c", f'ulimit -n {descriptors}; exec "$@"', "sh"


def reach(server: Server) -> socket.socket:
    """Begin a request and do not end it."""
    made = socket.create_connection(("127.0.0.1", server.port))
    head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: 99\r\n"
    made.sendall(f"{head}Content-Type: application/json\r\n\r\n{{".encode())
    return made


def refusal(server: Server) -> tuple[int, str | None]:
    """Connect and say nothing; return the status that comes, and when to come again."""
    address = "127.0.0.1", server.port
    with (
        socket.create_connection(address, timeout=PATIENCE) as made,
        http.client.HTTPResponse(made) as answer,
    ):
        answer.begin()
        return answer.status, answer.getheader("retry-after")


def test_f17_an_indexing_with_few_descriptors_is_whole(shelf: Shelf) -> None:
    for number in range(150):
        shelf.put(f"{number % 9}/{number}.md", f"# Page {number}\n\nzebra {number}")
    where = [str(shelf.folder), "--index", str(shelf.place / "index")]
    ended = subprocess.run(
        [*few(48), sys.executable, "-m", "bookwheel", "index", *where],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, "Traceback" in ended.stderr) == (0, False), ended.stderr
    with shelf.open() as library:
        assert len(library.paths("notes")) == 150
        assert library.check() == []


def test_f18_who_stalls_drops_or_half_closes_keeps_nobody_waiting(shelf: Shelf) -> None:
    shelf.put("a.md", "# A\n\nzebra")
    shelf.update()
    with serving(shelf) as server:
        stalled = [reach(server) for _ in range(12 * THREADS)]
        for number, each in enumerate(stalled):
            if number % 3 == 1:
                each.shutdown(socket.SHUT_WR)
            elif number % 3 == 2:
                each.close()
        with socket.create_connection(("127.0.0.1", server.port)) as slow:
            slow.sendall(b"GET /healthz HTT")
            for _ in range(5):
                assert server.find("zebra") == ["a.md"]
            # They were answered while these stalled, and not once these were let go of.
            assert [each for each in (slow, *stalled[::3]) if not is_held(each)] == []
        for each in stalled:
            each.close()
        assert server.find("zebra") == ["a.md"]
        assert "Traceback" not in server.said


def is_held(connection: socket.socket) -> bool:
    """Tell whether the server has neither answered on a connection nor closed it."""
    try:
        connection.recv(1, socket.MSG_DONTWAIT)
    except BlockingIOError:
        return True
    except ConnectionResetError:
        pass
    return False


# Events that do not come


PAGE = 4096


def scribble_over(database: Path) -> None:
    """Damage every page of a database but the first."""
    with database.open("r+b") as file:
        for page in range(1, database.stat().st_size // PAGE):
            file.seek(page * PAGE + 100)
            file.write(os.urandom(64))


def put_pages(shelf: Shelf) -> None:
    """Index some pages."""
    for number in range(40):
        shelf.put(f"{number}.md", f"# Page {number}\n\nzebra {number} " + "word " * 200)
    shelf.update()


def test_f06_a_server_whose_index_is_damaged_makes_it_anew_once_a_question_meets_that(
    shelf: Shelf,
) -> None:
    put_pages(shelf)
    with serving(shelf) as server:
        wait_for(lambda: "7.md" in server.find("zebra 7"))
        wait_for(lambda: "read for meaning" in server.said)  # it now follows the folder, no more
        scribble_over(shelf.place / "index" / "catalog.db")
        numbers = itertools.cycle(range(40))
        # Who next updates the index meets the damage too, and sets it aside without these words.
        done = "mending the index: It was set aside"
        wait_for(lambda: is_found(server, next(numbers)) and done in server.said)
        for number in range(40):
            wait_for(partial(is_found, server, number))
        assert "Traceback" not in server.said, server.said
    with shelf.open() as library:
        assert library.check() == []


def is_found(server: Server, number: int) -> bool:
    """Tell whether a page is found; an answer without it must say that more may be found."""
    connection = server.connect()
    try:
        _, answer = ask(connection, "search_docs", {"query": f"zebra {number}"})
    finally:
        connection.close()
    if "error" in answer:
        return False
    text = answer["result"]["content"][0]["text"]
    assert f"{number}.md" in text or "Indexing is under way" in text, text
    return f"{number}.md" in text


def test_a_server_answers_from_the_index_that_another_process_has_put_in_the_place_of_its_own(
    shelf: Shelf,
) -> None:
    put_pages(shelf)
    with serving(shelf) as server:
        wait_for(lambda: "7.md" in server.find("zebra 7"))
        other = EmbeddedEngine(shelf.place / "index" / "catalog.db")
        wait_for(lambda: is_set_aside(other))
        shelf.put("0.md", "# New\n\nwalrus")
        with shelf.open() as library:
            waiting(library, library.update, is_enough=lambda: False)
        wait_for(lambda: server.find("walrus") == ["0.md"])
        assert "7.md" in server.find("zebra 7")


def is_set_aside(engine: EmbeddedEngine) -> bool:
    """Set an index aside unless somebody writes it; tell whether that was done."""
    try:
        return engine.set_aside() is not None
    except Conflict:
        return False


def is_allowed(*command: str) -> bool:
    """Tell whether a command may be run here."""
    return not subprocess.run([*command], check=False, capture_output=True).returncode


@pytest.mark.parametrize("name", ["max_inotify_watches", "max_inotify_instances"])
def test_f11_where_the_system_grants_no_events_changes_are_found_by_looking(
    shelf: Shelf, name: str
) -> None:
    set_limit = f"echo 0 > /proc/sys/user/{name}"
    if not is_allowed("unshare", "-Ur", "sh", "-c", set_limit):
        pytest.skip("a user namespace is not permitted here")
    none = ("unshare", "-Ur", "sh", "-c", f'{set_limit}; exec "$@"', "sh")
    shelf.put("a.md", "# A\n\nzebra")
    with serving(shelf, before=none, BOOKWHEEL_RECONCILE_SECONDS="1") as server:
        wait_for(lambda: server.find("zebra") == ["a.md"])
        shelf.put("b.md", "# B\n\nwalrus")
        wait_for(lambda: server.find("walrus") == ["b.md"])
        shelf.put("c.md", "# C\n\notter")  # the first may have been there before it listened
        wait_for(lambda: server.find("otter") == ["c.md"])
        wait_for(lambda: server.count("bookwheel_unheard_changes_total") >= 1)
        assert "Traceback" not in server.said


def test_f11_changes_whose_events_the_system_dropped_are_found_by_looking_and_counted(
    shelf: Shelf,
) -> None:
    """Its queue is full of what happened to the index, which is no news: only a look can tell."""
    shelf.put("a.md", "# A\n\nzebra")
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text(encoding="ascii"))
    index = shelf.folder / "index"
    noise = [index / "catalog.db-x", index / "catalog.db-y"]
    with serving(shelf, "--index", str(index), BOOKWHEEL_RECONCILE_SECONDS="2") as server:
        wait_for(lambda: server.find("zebra") == ["a.md"])
        wait_for_looks(shelf, index, 2)  # those at the start are over, and it listens
        assert server.count("bookwheel_unheard_changes_total") == 0
        pause(server)
        for number in range(most // 2 + 100):  # each writing is heard of at least twice
            noise[number % 2].write_bytes(b"x")
        shelf.put("b.md", "# B\n\nwalrus")
        server.process.send_signal(signal.SIGCONT)
        wait_for(lambda: server.find("walrus") == ["b.md"])
        wait_for(lambda: server.count("bookwheel_unheard_changes_total") == 1)
        assert "Traceback" not in server.said


def wait_for_looks(shelf: Shelf, index: Path, number: int) -> None:
    """Wait until the folder was looked through so often again."""
    seen = set()
    with shelf.open(index=str(index)) as library:

        def has_seen_enough() -> bool:
            seen.add(library.states()[0].scanned_at)
            return len(seen) > number

        wait_for(has_seen_enough)


def pause(server: Server) -> None:
    """Stop all threads of a server where they are."""
    server.process.send_signal(signal.SIGSTOP)
    tasks = Path(f"/proc/{server.process.pid}/task")
    wait_for(lambda: all(") T " in (each / "stat").read_text() for each in tasks.iterdir()))
