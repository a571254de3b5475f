"""Rows of a test set are indexed as files with the same content would be."""

from __future__ import annotations

from pathlib import Path

from bookwheel.evaluation.dataset import Row
from bookwheel.evaluation.rows import make_draft, row_paths
from bookwheel.indexing.prepare import prepare_file
from bookwheel.model import Collection, Draft, Status
from bookwheel.safety.opener import Root

TEXT = "Stripes, see [the otter](otter.md).\n\n## Where\n\nIn grassland.\n\n## Food\n\nGrass."


def test_a_row_gives_what_a_file_would(tmp_path: Path) -> None:
    collection = Collection("animals", str(tmp_path))
    (tmp_path / "zebra.md").write_text(f"# The zebra\n\n{TEXT}", encoding="utf-8")
    with Root.open(tmp_path) as root:
        file = prepare_file(root, collection, "zebra.md", b"", 10**6)

    row = make_draft(collection, "zebra.md", Row("zebra", " The\nzebra ", TEXT))

    assert isinstance(file, Draft)
    assert row == file._replace(state=row.state, date=row.date)
    assert row.state.digest == file.state.digest
    assert row.terms is not None


def test_a_row_without_title_takes_its_id_and_a_row_without_text_is_its_title() -> None:
    collection = Collection("animals", "animals")
    untitled = make_draft(collection, "p0.md", Row("p0", "", "Grass."))
    empty = make_draft(collection, "p1.md", Row("p1", "Grass", ""))

    assert untitled.parsed is not None
    assert (untitled.parsed.title, untitled.parsed.text) == ("p0", "Grass.")
    assert empty.parsed is not None
    assert (empty.parsed.title, empty.parsed.text) == ("Grass", "# Grass\n\n")


def test_a_row_that_no_reader_takes_is_entered_with_the_reason() -> None:
    row = make_draft(Collection("a", "a"), "a.md", Row("a", "", "GIF89a and so on"))

    assert row.status is Status.BINARY
    assert row.reason.endswith("named .md")


def test_no_two_ids_get_the_same_path() -> None:
    assert row_paths([Row("a", "", ""), Row("a.md", "", "")]) == {"a": "a.md", "a.md": "a.md.md"}
    assert row_paths([Row("b/a.md", "", "")]) == {"b/a.md": "b/a.md"}
