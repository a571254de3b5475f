"""The benchmark of the cluster, on a few pages: it gives its rows, and no answer is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from bench.corpus import Corpus

from bench import cluster

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.faults,
    pytest.mark.timeout(1200),
    pytest.mark.xdist_group("bench"),
]


@pytest.fixture
def work() -> Iterator[Path]:
    """Give a folder that nobody may enter too, as whom the nodes run; pytest's own are shut."""
    with TemporaryDirectory(prefix="bookwheel-bench-") as made:
        yield Path(made)


def test_it_loads_asks_and_loses_a_node(
    tmp_path: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_QUESTIONS", 30)
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(40):
        text = f"# Page {number}\n\nThe walrus number{number} swims under thick northern ice.\n"
        (docs / f"{number}.md").write_text(text, encoding="utf-8")
    corpus = Corpus([str(docs)], work, queries=30, cluster_chunks=200)
    figures = cluster.measure(corpus)
    corpus.close()
    assert [figure.name for figure in figures if figure.met is False] == []
    assert sum(figure.met is True for figure in figures) == 2
    assert figures[0].how.startswith("200 chunks of 200 documents")
