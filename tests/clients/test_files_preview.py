"""openFile: what is shown of a file, how much, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bookwheel.library import Library
from bookwheel.model import Redact
from bookwheel.query import Scope
from tests.clients.assistant import Assistant, assisting
from tests.clients.files_tree import READABLE, SECRET, write_tree
from tests.conftest import Shelf

LETTERS = "".join(f"line {n} ünïcödé 契約書 {'x' * (n % 40)}\n" for n in range(300))


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    shelf = write_tree(tmp_path_factory.mktemp("share"))
    shelf.put("letters.txt", LETTERS)
    shelf.put("one line.txt", "word " * 5000)
    shelf.put("no blank.txt", "x" * 10_000)
    shelf.put("edges.txt", "".join(f"{'y' * n} {SECRET} ann@example.com\n" for n in range(1, 120)))
    hidden = "<!-- Obey me: " + "hidden words " * 300 + "-->"
    shelf.put("comments.md", f"# Seen\n\nBefore.\n\n{hidden}\n\nAfter.\n\n<!-- not closed")
    shelf.put("damaged.docx", b"PK\x03\x04 no archive")
    shelf.update()
    return shelf


@pytest.fixture(scope="module")
def library(shelf: Shelf) -> Iterator[Library]:
    with shelf.open() as library:
        yield library


@pytest.fixture(scope="module")
def assistant(library: Library) -> Iterator[Assistant]:
    with assisting(library, "files") as assistant:
        yield assistant


def show(assistant: Assistant, shelf: Shelf, path: str, **more: Any) -> dict[str, Any]:
    answer = assistant.call("openFile", path=f"{shelf.folder}/{path}", **more)
    assert not answer.is_error, answer.text
    assert answer.structured == answer.json
    shown: dict[str, Any] = answer.json
    assert set(shown) == {"path", "pointer", "preview", "truncated", "mcp_version"}
    assert len(shown["preview"].encode()) <= 2048
    return shown


@pytest.mark.requirement("R-040", "R-041", "R-043")
def test_without_a_pointer_the_beginning_is_shown(assistant: Assistant, shelf: Shelf) -> None:
    short = show(assistant, shelf, "finance/FY2021.txt")
    long = show(assistant, shelf, "site/long.md")

    assert short["preview"] == "Vendor spending, all of it under contract."
    assert (short["truncated"], short["pointer"]) == (False, "line 1")
    assert long["preview"].startswith("# Everything about the vendor\n\n## Part 0\n")
    assert long["truncated"]
    assert len(long["preview"].encode()) > 1900


@pytest.mark.requirement("R-041")
@pytest.mark.parametrize(
    ("path", "pointer", "text"),
    [
        ("contracts/agreement.pdf", "page 3", "sheet number 2 of"),
        ("contracts/vendor_x_summary.pptx", "slide 2", "scope 2"),
        ("finance/figures.xlsx", "sheet 'Q1'", "contract 10"),
        ("finance/figures.xlsx", "sheet 'Q2' rows 40-41", "Lot 40"),
        ("finance/lots.csv", "rows 20-22", "Acme 18"),
        ("letters.txt", "lines 100-101", "line 99 "),
        ("site/long.md", "line 3", "## Part 0"),
    ],
)
def test_the_place_of_the_pointer_is_shown(
    assistant: Assistant, shelf: Shelf, path: str, pointer: str, text: str
) -> None:
    shown = show(assistant, shelf, path, pointer=pointer, before=0, after=0)

    assert text in shown["preview"]
    assert shown["pointer"] == pointer
    assert shown["truncated"]
    assert len(shown["preview"]) < 200


@pytest.mark.requirement("R-039", "R-042")
def test_characters_before_and_after_are_those_asked_for_and_end_at_words(
    assistant: Assistant, shelf: Shelf
) -> None:
    def around(**more: int) -> list[str]:
        shown = show(assistant, shelf, "letters.txt", pointer="line 150", **more)
        before, _, after = shown["preview"].partition("line 149 ünïcödé 契約書")
        return [before, after]

    plain, none, more = around(), around(before=0, after=0), around(before=10**9, after=10**9)
    assert all(120 < len(part) <= 240 for part in plain)
    assert none[0] == ""
    assert "line 150" not in none[1]
    assert all(len(part.encode()) > 900 for part in more)
    assert not any(part.startswith(("ine", "ne ", "e 1", "nïc")) for part in (plain[0], more[0]))


@pytest.mark.requirement("R-005")
def test_every_pointer_that_a_hit_carries_is_accepted(assistant: Assistant, shelf: Shelf) -> None:
    seen: dict[str, set[str]] = {}
    for query in ("vendor", "contract", "lot", "clause", "agreement sheet", "spending", "predicts"):
        for item in assistant.call("searchFiles", query=query, k=100).json["items"]:
            shown = assistant.call("openFile", path=item["path"], pointer=item["pointer"])
            assert not shown.is_error, item
            assert shown.json["path"] == item["path"]
            assert shown.json["preview"]
            seen.setdefault(item["path"], set()).add(item["pointer"])

    assert len(seen) >= len(READABLE)


@settings(max_examples=80)
@given(
    path=st.sampled_from(["letters.txt", "edges.txt", "one line.txt", "no blank.txt"]),
    line=st.integers(1, 119),
    span=st.integers(0, 60),
    before=st.integers(0, 3000),
    after=st.integers(0, 3000),
)
def test_t26_a_preview_is_bounded_whole_in_its_letters_and_never_shows_half_a_secret(
    library: Library, shelf: Shelf, path: str, line: int, span: int, before: int, after: int
) -> None:
    view = library.view(Scope(redact=Redact.ALL, previews=True))
    document = view.file(f"{shelf.folder}/{path}")
    first = line if path in ("letters.txt", "edges.txt") else 1
    shown = view.preview(document, f"lines {first}-{first + span}", before=before, after=after)

    assert len(shown.text.encode()) <= 2048
    assert "\ufffd" not in shown.text
    assert "sk_" not in shown.text
    assert "ann" not in shown.text
    assert shown.text.strip()
    assert shown.is_cut


@pytest.mark.requirement("R-046")
@pytest.mark.parametrize(
    ("path", "pointer", "hint"),
    [
        ("contracts/agreement.pdf", "page 9", "It has page 1, page 2, page 3, page 4, page 5."),
        ("contracts/agreement.pdf", "slide 1", "It has page 1, page 2, page 3, page 4, page 5."),
        ("finance/lots.csv", "rows 900-901", "It has rows 1-51."),
        ("letters.txt", "lines 900-901", "It has lines 1-300."),
        ("letters.txt", "page 3", "It has lines 1-300."),
        ("letters.txt", "nonsense", "It has lines 1-300."),
        ("finance/figures.xlsx", "sheet 'Q9'", "It has sheet 'Q1', sheet 'Q2'."),
    ],
)
def test_a_pointer_to_nothing_is_a_bad_request_with_the_range_there_is(
    assistant: Assistant, shelf: Shelf, path: str, pointer: str, hint: str
) -> None:
    answer = assistant.call("openFile", path=f"{shelf.folder}/{path}", pointer=pointer)

    assert answer.is_error
    assert answer.json["error"]["code"] == "BAD_REQUEST"
    assert answer.json["error"]["details"]["hint"] == hint


@pytest.mark.requirement("R-047")
@pytest.mark.parametrize(
    ("path", "reason"),
    [("locked.pdf", "encrypted"), ("empty.pdf", "no_text"), ("damaged.docx", "unreadable")],
)
def test_a_file_that_cannot_be_read_is_refused_with_the_reason(
    assistant: Assistant, shelf: Shelf, path: str, reason: str
) -> None:
    answer = assistant.call("openFile", path=f"{shelf.folder}/{path}")

    assert answer.is_error
    assert answer.json["error"]["code"] == "NOT_FOUND"
    assert reason in answer.json["error"]["details"]["hint"]


@pytest.mark.requirement("R-045", "R-044")
@pytest.mark.parametrize(
    ("path", "code", "hint"),
    [
        ("{root}/.env", "NOT_FOUND", "key or credential file"),
        ("{root}/finance", "NOT_FOUND", "folder"),
        ("{root}/finance/lot.csv", "NOT_FOUND", "finance/lots.csv"),
        ("{place}/nothing", "FORBIDDEN", "root"),
        ("{place}/index/catalog.db", "FORBIDDEN", "root"),
        ("/etc/passwd", "FORBIDDEN", "root"),
    ],
)
def test_t06_what_is_no_document_and_what_lies_outside_is_refused(
    assistant: Assistant, shelf: Shelf, path: str, code: str, hint: str
) -> None:
    wanted = path.format(root=shelf.folder, place=shelf.place)
    answer = assistant.call("openFile", path=wanted)

    assert answer.is_error
    assert answer.json["error"]["code"] == code
    assert hint in answer.json["error"]["details"]["hint"]
    assert SECRET not in answer.text


@pytest.mark.requirement("R-004")
def test_a_preview_and_a_snippet_are_redacted(assistant: Assistant, shelf: Shelf) -> None:
    shown = show(assistant, shelf, "people/secrets of ann.md")

    assert shown["preview"].startswith("# Ann\n\nReach [redacted:email] with [redacted:")


@pytest.mark.requirement("R-004")
def test_served_alone_no_other_way_leads_to_the_whole_text(shelf: Shelf) -> None:
    with shelf.open(toolsets="files") as library, assisting(library, "documents") as assistant:
        answer = assistant.call(
            "documents_get_document", collection="notes", document="site/long.md"
        )

    assert answer.is_error
    assert "Part 3" not in answer.text


@pytest.mark.parametrize("pointer", [None, "lines 1-5", "line 3", "line 5", "line 7"])
def test_t21_a_comment_is_never_shown_wherever_the_preview_cuts_it(
    assistant: Assistant, shelf: Shelf, pointer: str | None
) -> None:
    shown = show(assistant, shelf, "comments.md", **({"pointer": pointer} if pointer else {}))

    assert not any(word in shown["preview"] for word in ("hidden", "Obey", "-->", "not closed"))
    assert ("After." in shown["preview"]) == (pointer == "line 7")
