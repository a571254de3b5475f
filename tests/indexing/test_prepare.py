"""What the worker makes of one file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import pytest

from bookwheel.indexing.prepare import document_date, make_prepare, prepare_file
from bookwheel.indexing.wire import pack
from bookwheel.model import Collection, Draft, FileState, Status
from bookwheel.safety.opener import Root

LONG_AGO = 1_700_000_000_000_000_000  # 2023-11-14
MB = 1_000_000


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Root]:
    with Root.open(tmp_path) as opened:
        yield opened


def prepare(
    root: Root, path: str, content: str | bytes | None, *, digest: bytes = b"", **said: str
) -> Draft | FileState:
    if content is not None:
        file = Path(root.path, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        os.utime(file, ns=(LONG_AGO, LONG_AGO))
    collection = Collection("notes", root.path, **said)  # type: ignore[arg-type] # texts only here
    return prepare_file(root, collection, path, digest, MB)


def digest_of(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()


def test_f08_a_file_that_vanished_meanwhile_is_listed_as_such(root: Root) -> None:
    assert prepare(root, "a.md", None) == Draft(
        "notes",
        "a.md",
        ".md",
        "text/markdown",
        FileState(0, 0, b""),
        Status.VANISHED,
        "it does not exist",
    )


def test_t02_a_link_is_refused_even_when_it_comes_after_the_scan(root: Root) -> None:
    Path(root.path, "a.md").symlink_to("/etc/hostname")

    found = prepare(root, "a.md", None)

    assert isinstance(found, Draft)
    assert (found.status, found.reason) == (Status.UNREADABLE, "it is a link or lies behind one")


def test_content_that_is_what_it_was_is_not_parsed_again(root: Root) -> None:
    state = FileState(5, LONG_AGO, digest_of("zebra"))

    assert prepare(root, "a.md", "zebra", digest=digest_of("zebra")) == state


@pytest.mark.requirement("X-030")
@pytest.mark.parametrize("name", ["A.MD", "b.HtMl", "c.TXT"])
def test_the_case_of_an_extension_does_not_matter_and_content_is_checked_first(
    root: Root, name: str
) -> None:
    good = prepare(root, name, "zebra")
    assert isinstance(good, Draft)
    assert (good.status, good.extension) == (Status.OK, name[1:].lower())

    image = prepare(root, name, b"\x89PNG\r\n\x1a\n\0\0")
    assert isinstance(image, Draft)
    assert (image.status, image.reason) == (
        Status.BINARY,
        f"a PNG image named {name[1:].lower()}",
    )


def test_a_file_read_right_after_it_was_written_is_marked(root: Root) -> None:
    Path(root.path, "a.md").write_text("zebra", encoding="utf-8")

    found = prepare(root, "a.md", None)

    assert isinstance(found, Draft)
    assert found.state.racy
    assert not prepare_state(root).racy


def prepare_state(root: Root) -> FileState:
    found = prepare(root, "old.md", "zebra")
    assert isinstance(found, Draft)
    return found.state


def test_an_empty_file_is_a_document_without_text(root: Root) -> None:
    found = prepare(root, "empty.md", "")

    assert isinstance(found, Draft)
    assert (found.status, found.words, found.chunks) == (Status.OK, 0, ())


@pytest.mark.requirement("X-003")
def test_the_source_is_the_documents_own_then_the_collections_label_then_its_name(
    root: Root,
) -> None:
    own = prepare(root, "a.md", "---\nsource: own\n---\nx", source="label")
    label = prepare(root, "b.md", "x", source="label")
    name = prepare(root, "c.md", "x")

    assert [each.source for each in (own, label, name) if isinstance(each, Draft)] == [
        "own",
        "label",
        "notes",
    ]


def test_the_language_said_of_the_collection_wins_over_the_documents(root: Root) -> None:
    text = "---\nlang: fr\n---\nThe quick brown fox jumps over the lazy dog and runs away."

    told = prepare(root, "a.md", text, language="de-AT")
    own = prepare(root, "b.md", text)

    assert [each.language for each in (told, own) if isinstance(each, Draft)] == ["de", "fr"]


@pytest.mark.parametrize(
    ("stated", "path", "date"),
    [
        ("2024-02-30", "a.md", "2023-11-14"),
        ("2024-02-29T10:00", "2020-01-01/a.md", "2024-02-29"),
        (None, "minutes/2025-05-20/a.md", "2025-05-20"),
        (None, "20250520-a.md", "2025-05-20"),
        (None, "120250520.md", "2023-11-14"),
        (None, "9999-99-99/2021_03_04.md", "2021-03-04"),
        (None, "a.md", "2023-11-14"),
    ],
)
def test_the_date_is_the_documents_own_then_the_paths_then_when_it_was_modified(
    stated: str | None, path: str, date: str
) -> None:
    assert document_date(stated, path, LONG_AGO) == date


def test_the_worker_answers_in_plain_values(root: Root) -> None:
    expected = prepare(root, "a.md", "# Title\n\nzebra")

    assert make_prepare("notes", root.path, None, None, MB)("a.md", b"") == pack(expected)
