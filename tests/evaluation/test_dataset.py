"""Test sets: what is read, what is left out, and what a mistake in a file is answered with."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bookwheel.errors import BadRequest, NotFound
from bookwheel.evaluation.dataset import Dataset, Row, is_dataset, name_datasets, read_dataset
from bookwheel.evaluation.questions import Question
from tests.evaluation.small import CORPUS, QRELS, QUERIES, put_dataset


def test_a_set_is_read_whole(tmp_path: Path) -> None:
    folder = put_dataset(tmp_path / "small")

    assert read_dataset(folder, "small") == Dataset(
        "small",
        folder,
        (
            Row("z", "Zebras", "Zebras have stripes."),
            Row("o", "Otters", "Otters swim."),
            Row("7", "", "A lynx sits in the snow."),
        ),
        (
            Question("1", "striped animals", {"z": 2.0, "o": 0.0}),
            Question("2", "lynx", {"7": 1.0, "gone": 1.0}),
        ),
        left_out=2,
        unknown=2,
    )


def test_what_was_left_out_is_said(tmp_path: Path) -> None:
    assert read_dataset(put_dataset(tmp_path), "small").notes == [
        "2 queries without a relevant document are left out",
        "2 judgements name a query or document that is not in the set; "
        "such queries are ignored, such documents count as not found",
    ]


def test_judgements_may_lie_where_beir_has_them_and_lack_a_header(tmp_path: Path) -> None:
    plain = read_dataset(put_dataset(tmp_path / "a"), "same")
    beir = put_dataset(tmp_path / "b", qrels="\ufeff" + QRELS.split("\n", 1)[1] + "\r\n")
    (beir / "qrels").mkdir()
    (beir / "qrels.tsv").rename(beir / "qrels" / "test.tsv")

    assert read_dataset(beir, "same").questions == plain.questions


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
def test_a_missing_file_is_named_with_what_a_set_holds(tmp_path: Path, name: str) -> None:
    folder = put_dataset(tmp_path)
    (folder / name).unlink()

    with pytest.raises(NotFound, match=f"has no {name}") as caught:
        read_dataset(folder, "small")

    assert "A test set is a folder with corpus.jsonl" in caught.value.advice
    assert is_dataset(folder)


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("corpus", CORPUS + "{nonsense\n", "corpus.jsonl:5: this is not JSON: Expecting"),
        ("corpus", "[1]\n", "corpus.jsonl:1: this is not a JSON object."),
        ("corpus", '{"text": "x"}', 'corpus.jsonl:1: "_id" is missing.'),
        ("corpus", '{"_id": " ", "text": "x"}', 'corpus.jsonl:1: "_id" must be a text.'),
        ("corpus", '\n\n{"_id": "a"}', 'corpus.jsonl:3: "text" is missing.'),
        ("corpus", '{"_id": "a", "text": 3}', 'corpus.jsonl:1: "text" must be a text.'),
        ("corpus", '{"_id": "a", "text": "", "title": []}', '"title" must be a text.'),
        ("corpus", CORPUS + '{"_id": 7, "text": ""}', "corpus.jsonl:5: the id '7' stands at"),
        ("queries", '{"_id": "1"}', 'queries.jsonl:1: "text" is missing.'),
        ("qrels", QRELS + "1\tz\n", "qrels.tsv:8: 2 columns where 3 should be."),
        ("qrels", "1 z 1\n", "qrels.tsv:1: 1 columns where 3 should be."),
        ("qrels", QRELS + "1\tz\tyes\n", "qrels.tsv:8: the score 'yes' is no number."),
        ("qrels", QRELS + "1\tz\tnan\n", "qrels.tsv:8: the score 'nan' is no number."),
        ("qrels", "query-id\tcorpus-id\tscore\n", "No query of"),
    ],
)
def test_a_line_that_cannot_be_used_is_named(
    tmp_path: Path, file: str, content: str, said: str
) -> None:
    folder = put_dataset(tmp_path, **{file: content})

    with pytest.raises(BadRequest) as caught:
        read_dataset(folder, "small")

    assert said in caught.value.message


def test_a_set_without_documents_is_refused(tmp_path: Path) -> None:
    folder = put_dataset(tmp_path, corpus="\n")
    with pytest.raises(BadRequest, match=r"corpus\.jsonl holds no document"):
        read_dataset(folder, "small")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    folder = put_dataset(tmp_path)
    (folder / "queries.jsonl").chmod(0)
    before = os.geteuid()
    try:
        if not before:
            os.seteuid(65534)  # root may read any file
        with pytest.raises(BadRequest, match=r"jsonl cannot be read: Permission denied"):
            read_dataset(folder, "small")
    finally:
        if not before:
            os.seteuid(before)


def test_a_line_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    folder = put_dataset(tmp_path)
    (folder / "queries.jsonl").write_bytes(QUERIES.encode() + b'{"_id": "9", "text": "\xff"}')

    with pytest.raises(BadRequest, match=r"queries\.jsonl:5: this is not UTF-8"):
        read_dataset(folder, "small")


def test_half_a_character_does_not_get_into_the_index(tmp_path: Path) -> None:
    folder = put_dataset(tmp_path, corpus=CORPUS + '{"_id": "h", "text": "half \\ud83e"}')

    assert read_dataset(folder, "small").rows[-1] == Row("h", "", "half ?")


def test_sets_of_the_same_name_are_told_apart_by_path() -> None:
    assert name_datasets(["a/small", "b/small/", "c/large"]) == ["a/small", "b/small/", "large"]
