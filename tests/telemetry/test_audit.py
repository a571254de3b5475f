"""The audit: one line for each call, whatever it holds, and no line can be altered unseen."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import random
import string
from collections.abc import Callable
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.errors import BadRequest, NotFound
from bookwheel.telemetry.audit import Audit, files_of, head_of, key_of
from bookwheel.telemetry.calls import EndedCall
from bookwheel.telemetry.verify import verify

HOSTILE = "\n\r\x00\x1b[2J\x7f\x85\u2028\u2029\ud800\"\\',}]\ufeff\u202e"


def opened(file: Path, *, queries: str = "text", most_bytes: int = 10_000_000) -> Audit:
    return Audit(file, key=None, queries=queries, most_bytes=most_bytes)


def ended(query: str = "zebra", caller: str = "ann") -> EndedCall:
    return EndedCall(caller, "searchFiles", {"query": query}, "ok", 3, 0.0123)


def written(file: Path, number: int = 9, **options: Any) -> Path:
    audit = opened(file, **options)
    for each in range(number):
        audit.write(ended(f"zebra {each}"))
    audit.close()
    return file


def lines_of(file: Path) -> list[str]:
    return file.read_text(encoding="ascii").splitlines()


def findings(file: Path) -> list[tuple[str, str]]:
    return [(each.where, each.what) for each in verify(file).findings]


@pytest.mark.requirement("R-067")
def test_a_line_tells_who_called_what_when_and_how_it_ended(tmp_path: Path) -> None:
    (line,) = lines_of(written(tmp_path / "audit", 1))
    entry = json.loads(line)

    assert {name: entry[name] for name in ("caller", "tool", "outcome", "results", "ms")} == {
        "caller": "ann",
        "tool": "searchFiles",
        "outcome": "ok",
        "results": 3,
        "ms": 12.3,
    }
    assert entry["arguments"] == {"query": "zebra 0"}
    assert entry["time"].endswith("Z")


@pytest.mark.requirement("R-068")
@pytest.mark.parametrize("queries", ["hash", "none"])
def test_a_setting_keeps_what_was_asked_out_of_the_audit(tmp_path: Path, queries: str) -> None:
    file = tmp_path / "audit"
    audit = opened(file, queries=queries)
    for query in ("my salary", "my salary", "other"):
        audit.write(ended(query))
    audit.close()
    entries = [json.loads(line) for line in lines_of(file)]

    assert not any("salary" in line or "arguments" in json.loads(line) for line in lines_of(file))
    if queries == "hash":  # who knows the key can tell equal questions from others
        hashes = [entry["arguments_hash"] for entry in entries]
        assert hashes[0] == hashes[1] != hashes[2]


@pytest.mark.requirement("R-069")
def test_t28_ten_thousand_hostile_strings_give_ten_thousand_lines(tmp_path: Path) -> None:
    file, letters = tmp_path / "audit", random.Random(28)
    audit = opened(file)
    for _ in range(10_000):
        text = "".join(letters.choices(HOSTILE + string.printable, k=12))
        audit.write(ended(text, caller="ann"))
    audit.close()
    raw = file.read_bytes()

    assert raw.count(b"\n") == 10_000
    assert all(32 <= byte < 127 or byte == 10 for byte in set(raw))
    assert verify(file) == (10_000, [])


@settings(max_examples=50)
@given(st.text(), st.dictionaries(st.text(max_size=5), st.text() | st.integers() | st.none()))
def test_t28_whatever_a_client_sends_is_one_line_that_verifies(text: str, more: Any) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "audit"
        audit = opened(file)
        audit.write(EndedCall(text, "tool", {"query": text, **more}, "ok", None, 0.0))
        audit.close()
        assert verify(file) == (1, [])
        assert len(file.read_text(encoding="utf-8").splitlines()) == 1


def change(lines: list[str]) -> list[str]:
    return [*lines[:4], lines[4].replace("zebra", "giraffe"), *lines[5:]]


def take_out(lines: list[str]) -> list[str]:
    return [*lines[:4], *lines[5:]]


def move(lines: list[str]) -> list[str]:
    return [*lines[:4], *lines[5:8], lines[4], *lines[8:]]


def put_in(lines: list[str]) -> list[str]:
    return [*lines[:4], lines[3].replace('"number":4', '"number":5'), *lines[4:]]


def put_in_again(lines: list[str]) -> list[str]:
    return [*lines[:4], lines[2], *lines[4:]]


def take_out_and_change(lines: list[str]) -> list[str]:
    return [*lines[:3], "?", *lines[6:]]


def change_line_ends(lines: list[str]) -> list[str]:
    return [*lines[:4], lines[4] + "\r", *lines[5:]]


def cut_off(lines: list[str]) -> list[str]:
    return lines[:-2]


def behead(lines: list[str]) -> list[str]:
    return lines[3:]


@pytest.mark.requirement("R-069")
@pytest.mark.parametrize(
    ("alter", "where", "what"),
    [
        (change, "audit:5", "was changed: its seal is wrong"),
        (take_out, "audit:5", "follows a gap: line 5 was taken out"),
        (change_line_ends, "audit:5", "was changed: its seal is wrong"),
        (move, "audit:8", "was moved: line 5 stands behind line 8"),
        (put_in, "audit:5", "was put in: its seal is wrong"),
        (put_in_again, "audit:5", "was put in: it is line 3 a second time"),
        (cut_off, "audit.head", "says that the audit ends at line 9: 2 were cut off"),
        (behead, "audit.head", "says that the audit begins at line 1, not at 4"),
    ],
)
def test_t28_an_altered_audit_is_told_with_the_place(
    tmp_path: Path, alter: Callable[[list[str]], list[str]], where: str, what: str
) -> None:
    file = written(tmp_path / "audit")
    file.write_text("\n".join(alter(lines_of(file))) + "\n", encoding="ascii")

    assert findings(file) == [(where, what)]


@pytest.mark.parametrize("at", [3, 5])
def test_t28_lines_put_in_do_not_stand_for_those_cut_off(tmp_path: Path, at: int) -> None:
    file = written(tmp_path / "audit")
    lines = lines_of(file)
    file.write_text("\n".join([*lines[:at], "?", "?", *lines[at:-2]]) + "\n", encoding="ascii")

    assert findings(file) == [
        (f"audit:{at + 1}", "was put in: its seal is wrong"),
        (f"audit:{at + 2}", "was put in: its seal is wrong"),
        ("audit.head", "says that the audit ends at line 9: 2 were cut off"),
    ]


def test_t28_of_lines_taken_out_those_that_were_changed_are_told_apart(tmp_path: Path) -> None:
    file = written(tmp_path / "audit")
    file.write_text("\n".join(take_out_and_change(lines_of(file))) + "\n", encoding="ascii")

    assert findings(file) == [
        ("audit:4", "was changed: its seal is wrong"),
        ("audit:5", "follows a gap: 2 of lines 4 to 6 were taken out"),
    ]


def test_t28_bytes_that_are_no_text_are_told_like_any_other_change(tmp_path: Path) -> None:
    file = written(tmp_path / "audit")
    lines = file.read_bytes().split(b"\n")
    file.write_bytes(b"\n".join([*lines[:4], lines[4][:-8] + b"\xff" + lines[4][-7:], *lines[5:]]))
    head_of(file).write_bytes('[1, 9, "x", 3, "\N{SNOWMAN}"]'.encode())

    assert [where for where, _ in findings(file)] == ["audit:5", "audit.head"]


def test_t28_calls_go_on_after_the_head_was_spoilt_and_the_loss_stays_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = written(tmp_path / "audit")
    file.write_text("\n".join(lines_of(file)[:-2]) + "\n", encoding="ascii")
    head_of(file).write_bytes('[1, 9, "x", 3, "\N{SNOWMAN}"]'.encode())

    written(file, 2)

    assert "was lost or changed" in caplog.text
    assert findings(file) == [("audit:8", "follows a gap: line 8 was taken out")]


def test_t28_lines_of_another_audit_of_the_same_key_are_told(tmp_path: Path) -> None:
    file = written(tmp_path / "audit")
    other = tmp_path / "other"
    other.mkdir()
    key_of(other / "audit").write_bytes(key_of(file).read_bytes())
    key_of(other / "audit").chmod(0o600)
    begun = opened(other / "audit")
    begun.write(ended("otter"))  # else two audits of one millisecond are the same
    begun.close()
    foreign = lines_of(written(other / "audit", 8))
    lines = lines_of(file)
    file.write_text("\n".join([*lines[:4], foreign[4], *lines[5:]]) + "\n", encoding="ascii")

    assert [where for where, _ in findings(file)] == ["audit:5", "audit:6"]


def test_t28_without_its_head_a_lost_tail_cannot_be_excluded(tmp_path: Path) -> None:
    file = written(tmp_path / "audit")
    head_of(file).unlink()

    assert "missing" in findings(file)[0][1]


def test_files_are_of_bounded_size_and_the_oldest_go(tmp_path: Path) -> None:
    file = written(tmp_path / "audit", 100, most_bytes=3000)

    assert [each.name for each in files_of(file)] == [
        *(f"audit.{age}" for age in (4, 3, 2, 1)),
        "audit",
    ]
    assert all(each.stat().st_size <= 3000 for each in files_of(file))
    assert verify(file).findings == []
    files_of(file)[0].unlink()
    assert "begins at line" in findings(file)[0][1]
    written(file, 100, most_bytes=3000)
    assert verify(file).findings == []


def _write_some(file: Path, number: int) -> None:
    written(file, number, most_bytes=20_000)


def _start(file: Path, together: Barrier) -> None:
    together.wait(30)
    opened(file).close()


def test_of_servers_that_start_together_one_makes_the_key(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    for number in range(15):
        together = context.Barrier(4)
        arguments = (tmp_path / str(number), together)
        processes = [context.Process(target=_start, args=arguments) for _ in range(4)]
        for process in processes:
            process.start()
        for process in processes:
            process.join(30)

        assert [process.exitcode for process in processes] == [0] * 4


def test_who_is_killed_while_making_the_key_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(_: int) -> None:
        raise KeyboardInterrupt

    file = tmp_path / "audit"
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", die)
        with pytest.raises(KeyboardInterrupt):
            opened(file)
    assert not key_of(file).exists()

    written(file, 2)
    assert verify(file) == (2, [])


def test_several_processes_write_one_chain(tmp_path: Path) -> None:
    file = tmp_path / "audit"
    opened(file).close()
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_write_some, args=(file, 60)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(30)

    verdict = verify(file)
    assert verdict == (240, [])
    assert len(files_of(file)) > 1


def test_a_writer_that_was_killed_between_line_and_head_is_followed(tmp_path: Path) -> None:
    file = written(tmp_path / "audit", 3)
    before = head_of(file).read_bytes()
    written(file, 1)
    head_of(file).write_bytes(before)

    written(file, 2)

    assert verify(file) == (6, [])


def test_a_line_that_was_torn_is_told_and_the_next_stands_by_itself(tmp_path: Path) -> None:
    file = written(tmp_path / "audit", 3)
    with file.open("ab") as torn:
        torn.write(b'{"number":4,"ti')
    written(file, 1)

    assert findings(file) == [("audit:4", "was put in: its seal is wrong")]


def test_the_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    file = written(tmp_path / "audit")

    for each in (file, key_of(file), head_of(file)):
        assert each.stat().st_mode & 0o777 == 0o600
    key_of(file).chmod(0o644)
    with pytest.raises(BadRequest, match="Others may read"):
        opened(file)


def test_what_cannot_be_written_is_logged_once_and_calls_go_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "audit"
    audit = opened(file)
    audit.write(ended())
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, raw: write(fd, raw[:10]))
    audit.write(ended())
    audit.write(ended())
    monkeypatch.undo()
    audit.write(ended())
    audit.close()

    assert caplog.text.count("cannot be written") == 1
    assert verify(file) == (2, [])


def test_a_folder_that_is_gone_costs_no_descriptor_of_others_and_its_lines_go_on_when_it_is_back(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder, away = tmp_path / "folder", tmp_path / "away"
    folder.mkdir()
    audit = opened(folder / "audit")
    audit.write(ended())
    folder.rename(away)
    audit.write(ended())
    ours = [os.open(tmp_path, os.O_RDONLY) for _ in range(3)]
    audit.write(ended())
    for each in ours:
        os.close(each)
    away.rename(folder)
    audit.write(ended())
    audit.close()

    assert caplog.text.count("cannot be written: No such file") == 1
    assert verify(folder / "audit") == (2, [])


def test_an_audit_whose_folder_cannot_be_reached_is_closed_without_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    audit = opened(folder / "audit")
    folder.rename(tmp_path / "away")
    audit.write(ended())

    audit.close()


@pytest.mark.requirement("R-069")
def test_t28_an_audit_whose_folder_was_made_anew_goes_on_there_and_the_loss_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    audit = opened(folder / "audit")
    audit.write(ended())
    folder.rename(tmp_path / "away")
    folder.mkdir()
    audit.write(ended())
    written(folder / "audit", 1)
    audit.write(ended())
    audit.close()

    assert "was lost or changed: lines may be gone" in caplog.text
    assert findings(folder / "audit") == [
        ("audit.head", "says that the audit begins at line 1, not at 2"),
    ]
    assert verify(tmp_path / "away" / "audit") == (1, [])


def test_a_full_file_is_put_aside_only_once_the_next_one_can_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path / "audit", 100, most_bytes=3000)
    audit = opened(file, most_bytes=3000)

    def refuse(*_: Any) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "open", refuse)
    for _ in range(20):
        audit.write(ended())
    monkeypatch.undo()
    assert verify(file).findings == []
    audit.write(ended())
    audit.close()

    assert verify(file).findings == []


def test_t28_an_audit_without_calls_is_sound_and_an_emptied_one_is_not(tmp_path: Path) -> None:
    file = written(tmp_path / "audit", 0)
    assert verify(file) == (0, [])
    written(file, 3)
    file.write_bytes(b"")
    assert findings(file) == [
        ("audit.head", "says that the audit ends at line 3: 3 were cut off"),
    ]
    head_of(file).write_bytes(b"")
    assert [where for where, _ in findings(file)] == ["audit.head"]


def test_a_key_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    file = written(tmp_path / "audit", 1)
    key_of(file).unlink()
    key_of(file).mkdir()

    with pytest.raises(BadRequest, match=r"audit\.key cannot be read"):
        verify(file)


def test_an_audit_that_is_not_there_cannot_be_looked_through(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        verify(tmp_path / "audit")
