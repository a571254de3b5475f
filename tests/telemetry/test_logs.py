"""The log: lines for people or JSON for collectors, and nobody else writes lines in it."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator

import pytest

from bookwheel.telemetry.calls import EndedCall
from bookwheel.telemetry.logs import fields, log_call, set_up_logs


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def said(capsys: pytest.CaptureFixture[str], format: str, *args: object, **named: object) -> str:
    set_up_logs(format)
    logging.getLogger("bookwheel.test").warning(*args, **named)  # type: ignore[arg-type]
    return capsys.readouterr().err


def test_t28_a_line_of_text_cannot_be_faked(capsys: pytest.CaptureFixture[str]) -> None:
    line = said(capsys, "text", "no %s", "x\nbookwheel: all is well\x1b[2J\u2028\x85\x7f")

    assert line == "bookwheel: no x\\x0abookwheel: all is well\\x1b[2J\\x2028\\x85\\x7f\n"


@pytest.mark.parametrize("what", ["resources/read", "api", "page"])
def test_what_is_no_tool_is_not_logged_as_one(
    capsys: pytest.CaptureFixture[str], what: str
) -> None:
    call = EndedCall("ann", what, {"uri": "docs://salary"}, "ok", None, 0.0125)
    set_up_logs("text")
    log_call(call)
    set_up_logs("json")
    log_call(call)
    text, line = capsys.readouterr().err.splitlines()

    assert text == f"bookwheel: {what} ok 12 ms"
    assert json.loads(line)["method"] == what
    assert "tool" not in json.loads(line)


@pytest.mark.requirement("P-076")
def test_a_json_line_is_one_object_with_what_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        raise ValueError("of a defect")
    except ValueError:
        line = said(
            capsys,
            "json",
            "no %s",
            "x\ny\u2028",
            extra=fields(tool="search", results=3),
            exc_info=sys.exc_info(),
        )

    assert line.count("\n") == 1
    entry = json.loads(line)
    assert entry.pop("time").endswith("Z")
    assert "of a defect" in entry.pop("exception")
    assert entry == {
        "level": "warning",
        "logger": "bookwheel.test",
        "message": "no x\ny\u2028",
        "tool": "search",
        "results": 3,
    }


@pytest.mark.requirement("P-076")
def test_a_call_is_logged_with_its_method_tool_and_number_of_results(
    capsys: pytest.CaptureFixture[str],
) -> None:
    call = EndedCall("ann", "search", {"query": "salary"}, "ok", 3, 0.0125)
    set_up_logs("text")
    log_call(call)
    set_up_logs("json")
    log_call(call)
    text, line = capsys.readouterr().err.splitlines()

    assert text == "bookwheel: tools/call search ok results=3 12 ms"
    entry = json.loads(line)
    assert (entry["method"], entry["tool"], entry["results"], entry["ms"]) == (
        "tools/call",
        "search",
        3,
        12.5,
    )
    assert "salary" not in line
