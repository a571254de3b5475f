"""A test set of three documents, with something in it that must be left out."""

from __future__ import annotations

from pathlib import Path

CORPUS = """\
{"_id": "z", "title": "Zebras", "text": "Zebras have stripes."}

{"_id": "o", "title": "Otters", "text": "Otters swim.", "metadata": {}}
{"_id": 7, "text": "A lynx sits in the snow."}
"""
QUERIES = """\
{"_id": "1", "text": "striped animals"}
{"_id": "2", "text": "lynx"}
{"_id": "3", "text": "judged, but nothing is relevant"}
{"_id": "4", "text": "never judged"}
"""
QRELS = """\
query-id\tcorpus-id\tscore
1\tz\t2
1\to\t0
2\t7\t1
2\tgone\t1
3\tz\t0
nobody\tz\t1
"""


def put_dataset(
    folder: Path, *, corpus: str = CORPUS, queries: str = QUERIES, qrels: str = QRELS
) -> Path:
    """Write a test set; return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (
        ("corpus.jsonl", corpus),
        ("queries.jsonl", queries),
        ("qrels.tsv", qrels),
    ):
        (folder / name).write_text(content, encoding="utf-8")
    return folder
