"""Metrics: Prometheus can read them, and no label holds a path or a word of a client's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from prometheus_client.parser import text_string_to_metric_families

from bookwheel.contracts.tool import RpcError
from bookwheel.library import Library
from bookwheel.serve.calls import Calls
from bookwheel.serve.toolsets import choose, load_contracts
from bookwheel.telemetry.calls import EndedCall, IndexFigures
from bookwheel.telemetry.metrics import Metrics
from tests.conftest import Shelf
from tests.serve.conftest import within

FIGURES = IndexFigures(12, 3, 45, 6789, 7, 8)


def samples(metrics: Metrics) -> dict[tuple[str, tuple[str, ...]], float]:
    """Return what Prometheus would read, by name and values of labels."""
    text = metrics.write()[0].decode()
    return {
        (sample.name, tuple(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_calls_are_counted_by_tool_and_outcome_with_their_times_and_results() -> None:
    metrics = Metrics("9.9", lambda: FIGURES)
    metrics.observe(EndedCall("ann", "search", {"query": "x"}, "ok", 3, 0.02))
    metrics.observe(EndedCall("ann", "search", {"query": "x"}, "RATE_LIMITED", None, 0.0))
    metrics.count_refusal("host")
    metrics.count_unheard()
    metrics.watch_calls(lambda: 5)

    found = samples(metrics)
    assert found["bookwheel_calls_total", ("ok", "search")] == 1
    assert found["bookwheel_calls_total", ("RATE_LIMITED", "search")] == 1
    assert found["bookwheel_call_seconds_bucket", ("0.025", "search")] == 2
    assert found["bookwheel_call_results_sum", ("search",)] == 3
    assert found["bookwheel_refusals_total", ("host",)] == 1
    assert found["bookwheel_unheard_changes_total", ()] == 1
    assert found["bookwheel_calls_under_way", ()] == 5
    assert found["bookwheel_info", ("9.9",)] == 1
    assert found["bookwheel_index_documents", ()] == 12
    assert found["bookwheel_index_lag_seconds", ()] == 8


def test_an_index_that_cannot_be_read_is_told_as_such() -> None:
    found = samples(Metrics("1", lambda: None))

    assert found["bookwheel_index_up", ()] == 0
    assert ("bookwheel_index_documents", ()) not in found


@pytest.fixture
def library(shelf: Shelf) -> Iterator[Library]:
    shelf.put("secret-plans/zebra.md", "# Zebra\n\nstripes")
    shelf.put("broken.pdf", b"%PDF-no")
    shelf.update()
    with shelf.open() as opened:
        yield opened


@pytest.mark.requirement("R-071")
def test_t06_no_label_holds_a_path_or_a_word_of_a_client(library: Library) -> None:
    metrics = Metrics("1", library.figures)
    calls = Calls(library, witnesses=[metrics.observe])
    offered = choose(load_contracts(), "all")
    asked: list[tuple[str, dict[str, Any]]] = [
        ("search_docs", {"query": "canary-query"}),
        ("get_doc_page", {"path": "secret-plans/zebra.md"}),
        ("documents_search", {"query": "canary-query", "collections": ["canary-collection"]}),
        ('canary-tool\n{}"', {"canary-argument": 1}),
        ("search_documents", {"canary-argument": "canary"}),
    ]

    async def main() -> None:
        for tool, arguments in asked:
            try:
                await calls.call_tool(offered, tool, arguments)
            except RpcError:
                pass

    within(main)
    calls.close()
    text = metrics.write()[0].decode()
    assert not [
        word for word in ("canary", "secret", "zebra", "notes", "/") if word in _labels(text)
    ]
    found = samples(metrics)
    assert found["bookwheel_calls_total", ("error -32602", "(unknown)")] == 1
    assert found["bookwheel_index_documents", ()] == 1
    assert found["bookwheel_index_failures", ()] == 1
    assert found["bookwheel_index_bytes", ()] > 0


def _labels(text: str) -> str:
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return "\n".join(line.partition("{")[2].partition("}")[0] for line in lines)


def test_the_figures_are_read_while_calls_go_on(library: Library) -> None:
    metrics = Metrics("1", library.figures)
    calls = Calls(library, witnesses=[metrics.observe])
    offered = choose(load_contracts(), "all")

    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(calls.call_tool, offered, "search_docs", {"query": "stripes"})
                tasks.start_soon(anyio.to_thread.run_sync, metrics.write)

    within(main)
    calls.close()
    assert samples(metrics)["bookwheel_calls_total", ("ok", "search_docs")] == 20
