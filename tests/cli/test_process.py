"""The program as a process of its own: signals, pipes, terminals, shells."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from bench.clocks import children

from bookwheel.cli import COMMANDS
from bookwheel.library import Library
from tests.conftest import Shelf
from tests.waiting import wait_until

BOOKWHEEL = [sys.executable, "-m", "bookwheel"]
PATIENCE = 30.0
FILES = 2000


def run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*BOOKWHEEL, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def descendants(pid: int) -> set[int]:
    """Return the processes that a process started, and those that they started."""
    started = children(pid)
    return set(started).union(*map(descendants, started))


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return state.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize(
    ("stop", "whom", "code"),
    [
        (signal.SIGINT, "the program", 130),
        (signal.SIGINT, "its whole group, as a terminal does", 130),
        (signal.SIGTERM, "the program", 143),
        (signal.SIGTERM, "its whole group, as a service is stopped", 143),
    ],
)
def test_a_stop_keeps_what_was_indexed_says_so_and_leaves_no_process_behind(
    shelf: Shelf, stop: signal.Signals, whom: str, code: int
) -> None:
    for number in range(FILES):
        shelf.put(f"{number % 20}/{number}.md", f"# Page {number}\n\n" + "zebra and otter " * 60)
    database = shelf.place / "index" / "catalog.db"
    where = [str(shelf.folder), "--index", str(database.parent)]
    with subprocess.Popen(
        [*BOOKWHEEL, "index", *where],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        with shelf.open() as library:
            wait_until(lambda: library.exists and documents(library) > 100, PATIENCE)
        children = descendants(process.pid)
        if whom == "the program":
            process.send_signal(stop)
        else:
            os.killpg(process.pid, stop)
        out, err = process.communicate(timeout=PATIENCE)

    assert (process.returncode, out) == (code, "")
    assert err == "bookwheel: stopped; what was indexed so far is kept.\n"
    assert children
    wait_until(lambda: not any(map(is_alive, children)), PATIENCE)
    with shelf.open() as library:
        kept = documents(library)
        assert 100 < kept < FILES
        assert library.check() == []
        (report,) = library.update()
        assert (report.indexed, report.unchanged) == (FILES - kept, kept)
        assert library.check() == []


def documents(library: Library) -> int:
    return sum(state.documents for state in library.states())


@pytest.mark.requirement("P-052")
def test_a_new_process_finds_the_existing_index_and_reads_no_document(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    where = [shelf.folder, "--index", shelf.place / "index", "--json"]
    assert json.loads(run("index", *where).stdout)[0]["indexed"] == 1
    shelf.put("a.md", "otter")  # same size, same time: only who reads it could know

    again = json.loads(run("index", *where).stdout)
    assert [(row["indexed"], row["unchanged"]) for row in again] == [(0, 1)]
    assert json.loads(run("search", "zebra", *where).stdout)["total"] == 1
    assert json.loads(run("doctor", *where).stdout)["problems"] == []


@pytest.mark.parametrize("command", [["list"], ["search", "zebra"], ["--help"]])
def test_a_reader_that_has_seen_enough_is_no_error(shelf: Shelf, command: list[str]) -> None:
    for number in range(300):
        shelf.put(f"{number}.md", f"# A rather long title for page {number}\n\nzebra")
    where = [] if command == ["--help"] else [str(shelf.folder), "--index", str(shelf.place / "i")]
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [*BOOKWHEEL, *command, *where],
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(writer)

    assert done.returncode == 0
    assert "Error" not in done.stderr
    assert "Exception" not in done.stderr


def test_output_in_an_encoding_that_lacks_letters_is_still_an_answer(shelf: Shelf) -> None:
    shelf.put("Straße.md", "# Größe 🦓\n\nzebra")
    where = [shelf.folder, "--index", shelf.place / "index"]

    plain = run("list", *where, PYTHONIOENCODING="ascii")
    as_json = run("list", *where, "--json", PYTHONIOENCODING="ascii")

    assert plain.stdout == "Stra\\xdfe.md\tGr\\xf6\\xdfe \\U0001f993\n"
    assert json.loads(as_json.stdout)[0]["documents"][0]["title"] == "Größe 🦓"


def in_terminal(*arguments: object) -> tuple[int, str]:
    """Run with a terminal for output; return the exit code and what was shown."""
    main, terminal = pty.openpty()
    try:
        with subprocess.Popen(
            [*BOOKWHEEL, *map(str, arguments)],
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"},
        ) as process:
            os.close(terminal)
            terminal = -1
            shown = bytearray()
            while True:
                try:
                    part = os.read(main, 65536)
                except OSError:  # how Linux tells that the terminal has no user left
                    break
                if not part:
                    break
                shown += part
            return process.wait(PATIENCE), shown.decode()
    finally:
        os.close(main)
        if terminal >= 0:
            os.close(terminal)


def test_a_terminal_gets_a_progress_bar_and_colours_and_a_pipe_neither(shelf: Shelf) -> None:
    for number in range(200):
        shelf.put(f"{number}.md", "zebra")
    where = [shelf.folder, "--index", shelf.place / "index"]

    code, shown = in_terminal("index", *where)
    assert code == 0
    assert "Indexing notes" in shown
    assert "200/200" in shown
    code, shown = in_terminal("search", "zebra", *where, "-n", "1")
    assert code == 0
    assert re.search("\x1b\\[[0-9;]*mzebra", shown)
    piped = run("index", *where, "--full")
    assert (piped.returncode, piped.stderr) == (0, "")
    assert "\x1b" not in piped.stdout + run("search", "zebra", *where).stdout


def test_json_on_a_terminal_is_without_colours(shelf: Shelf) -> None:
    shelf.put("a.md", "zebra")
    where = [shelf.folder, "--index", shelf.place / "index"]
    run("index", *where)

    code, shown = in_terminal("search", "zebra", *where, "--json")

    assert (code, json.loads(shown)["total"]) == (0, 1)


def test_bash_gets_a_completion_script_that_completes_commands_and_options() -> None:
    program = Path(sys.executable).with_name("bookwheel")
    script = subprocess.run(
        ["bash", "-c", f"{program} --show-completion; exit $?"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "complete -o default -F _bookwheel_completion bookwheel" in script

    def asked_for(line: str, word: int) -> dict[str, str]:
        asked = {"COMP_WORDS": line, "COMP_CWORD": str(word)}
        return {**asked, "_BOOKWHEEL_COMPLETE": "complete_bash"}

    def complete(line: str, word: int) -> list[str]:
        return run(**asked_for(line, word)).stdout.split()

    assert complete("bookwheel ", 1)[: len(COMMANDS)] == list(COMMANDS)
    assert complete("bookwheel sea", 1) == ["search"]
    assert complete("bookwheel search --js", 2) == ["--json"]
    assert run(**asked_for("bookwheel nonsense ", 2)).stderr == ""
