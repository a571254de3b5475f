"""Figures for Prometheus: calls, refusals, and the state of the index.

Labels hold names of tools, outcomes and reasons that we know, never a path or a word of a client's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from bookwheel.telemetry.calls import EndedCall, IndexFigures

disable_created_metrics()  # type: ignore[no-untyped-call] # a second series for each, that nobody looks at
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_RESULTS = (0, 1, 2, 5, 10, 20, 50, 100)
REASONS = ("rate", "token", "host", "origin")
"""For which requests are refused before they become calls."""


class Metrics:
    """The figures of one server, in a registry of their own."""

    def __init__(self, version: str, index: Callable[[], IndexFigures | None]) -> None:
        self._registry = CollectorRegistry()
        self._calls = Counter(
            "bookwheel_calls",
            "Calls that have ended, by tool or method of the protocol, and how they ended.",
            ["tool", "outcome"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "bookwheel_call_seconds",
            "How long calls took, with the time that they waited.",
            ["tool"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._results = Histogram(
            "bookwheel_call_results",
            "How many results calls gave.",
            ["tool"],
            buckets=_RESULTS,
            registry=self._registry,
        )
        self._refusals = Counter(
            "bookwheel_refusals",
            "HTTP requests that were refused before they became calls, by reason.",
            ["reason"],
            registry=self._registry,
        )
        self._unheard = Counter(
            "bookwheel_unheard_changes",
            "Looks through the folders that found changes of which the system had not told.",
            registry=self._registry,
        )
        self._under_way = Gauge(
            "bookwheel_calls_under_way",
            "Calls that are at work or wait.",
            registry=self._registry,
        )
        about = Gauge(
            "bookwheel_info", "The version that runs.", ["version"], registry=self._registry
        )
        about.labels(version).set(1)
        for reason in REASONS:
            self._refusals.labels(reason)
        self._registry.register(_Index(index))
        ProcessCollector(registry=self._registry)

    def observe(self, call: EndedCall) -> None:
        """Count a call."""
        self._calls.labels(call.tool, call.outcome).inc()
        self._seconds.labels(call.tool).observe(call.seconds)
        if call.results is not None:
            self._results.labels(call.tool).observe(call.results)

    def count_refusal(self, reason: str) -> None:
        """Count a request that was refused."""
        self._refusals.labels(reason).inc()

    def count_unheard(self) -> None:
        """Count a look that found what no event told of: some were lost, or none come."""
        self._unheard.inc()

    def watch_calls(self, count: Callable[[], int]) -> None:
        """Take the number of calls under way from whoever knows it."""
        self._under_way.set_function(count)

    def write(self) -> tuple[bytes, str]:
        """Return the figures as they are now, and their content type."""
        return generate_latest(self._registry), CONTENT_TYPE_LATEST

    def describe(self) -> list[tuple[str, str, str, list[str]]]:
        """Return name, type, help and labels of each figure of ours, for the documentation."""
        labels = {
            "bookwheel_calls": ["tool", "outcome"],
            "bookwheel_call_seconds": ["tool"],
            "bookwheel_call_results": ["tool"],
            "bookwheel_refusals": ["reason"],
            "bookwheel_info": ["version"],
        }
        return [
            (
                each.name + ("_total" if each.type == "counter" else ""),
                each.type,
                each.documentation,
                labels.get(each.name, []),
            )
            for each in self._registry.collect()
            if each.name.startswith("bookwheel_")
        ]


class _Index(Collector):
    """Reads the figures of the index when they are asked for; none where it cannot be read."""

    def __init__(self, read: Callable[[], IndexFigures | None]) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        figures = self._read()
        rows = (
            ("up", "Whether the index can be read.", int(figures is not None)),
            *(_rows(figures) if figures else ()),
        )
        for name, help, value in rows:
            if value is not None:
                yield GaugeMetricFamily(f"bookwheel_index_{name}", help, value=value)


def _rows(figures: IndexFigures) -> list[tuple[str, str, int | None]]:
    return [
        ("documents", "Documents that can be found.", figures.documents),
        ("failures", "Files that could not be read.", figures.failures),
        ("chunks", "Passages that can be found.", figures.chunks),
        ("bytes", "What the index takes on the disk.", figures.bytes),
        ("generation", "The number of the index's last change.", figures.generation),
        ("lag_seconds", "Seconds since all folders were last looked through.", figures.lag),
    ]
