"""Finding secrets: its share of what reading a document costs, and its time on hostile texts.

All in this process and in turn, so that the ratios hold on a busy machine too.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.corpus import Corpus
from bench.figures import Figure, at_least, at_most
from bench.hostile import hostile_texts
from bookwheel.formats.base import Unreadable
from bookwheel.formats.registry import read
from bookwheel.indexing.prepare import draft
from bookwheel.model import Collection, FileState, Redact
from bookwheel.safety.finding import find_spans, redact_text
from bookwheel.safety.opener import FileBytes
from bookwheel.safety.redact import cover, in_bytes

SHARE = 0.10
SPEED = 20.0
HOSTILE_MS = 500.0
PREVIEW_MS = 1.0
_FLOOR = re.compile(r"[\w.+-]+@[\w-]+\.\w+")
_MOST = 20_000_000
_SEEDS = 120
_SCREEN = 10_000
_SLOWEST = 8


def measure(corpus: Corpus) -> list[Figure]:
    """Measure finding against reading, against a bare pattern, and on hostile texts."""
    texts, reading = _read_all(corpus)
    size = sum(len(text.encode()) for text in texts) / 1e6
    for text in texts[:50]:
        find_spans(text)  # the patterns are made ready once for a worker's life
    finding = _seconds(lambda: [find_spans(text) for text in texts])
    floor = _seconds(lambda: [_FLOOR.sub("", text) for text in texts])
    slowest = {name: _seconds(partial(find_spans, text)) for name, text in _worst().items()}
    worst = max(slowest, key=lambda name: slowest[name])
    return [
        at_most(
            "redaction, share of preparing a document",
            *(finding / reading, SHARE),
            shown=f"{100 * finding / reading:.1f} %",
            target=f"<= {100 * SHARE:.0f} %",
            how=f"CPU of finding by that of all that a worker does; {size:.1f} MB of text",
        ),
        at_least(
            "redaction, speed on documents",
            *(size / finding, SPEED),
            shown=f"{size / finding:.0f} MB/s",
            target=f">= {SPEED:.0f} MB/s",
            how=f"of CPU; one pattern of `re` for e-mail alone: {size / floor:.0f} MB/s",
        ),
        at_most(
            "redaction, 1 MB of hostile text",
            *(1000 * slowest[worst], HOSTILE_MS),
            shown=f"{1000 * slowest[worst]:.0f} ms",
            target=f"< {HOSTILE_MS:.0f} ms",
            how=f"CPU, the slowest of {len(slowest)}: {worst}",
        ),
        _preview(),
    ]


def _worst() -> dict[str, str]:
    """Return the hostile texts that are slowest by their first bytes, and all that are noise."""
    every = dict(hostile_texts(_SEEDS))
    screened = {name: _seconds(partial(find_spans, text[:_SCREEN])) for name, text in every.items()}
    slow = sorted(screened, key=lambda name: screened[name], reverse=True)[:_SLOWEST]
    return {name: every[name] for name in (*slow, *list(every)[-18:])}


def _preview() -> Figure:
    text = "Write to bob@example.com; the password is hunter2. Nothing else here. " * 30
    spans = in_bytes(text, find_spans(text))
    data = text.encode()
    rounds = 200
    each = 1000 * _seconds(lambda: [cover(data, spans) for _ in range(rounds)]) / rounds
    found = (
        1000 * _seconds(lambda: [redact_text(f"{at} {text}", Redact.ALL) for at in range(20)]) / 20
    )
    return at_most(
        "redaction, a preview of 2 kB",
        *(each, PREVIEW_MS),
        shown=f"{each:.3f} ms",
        target=f"< {PREVIEW_MS:.0f} ms",
        how=f"CPU, from stored spans; with finding them anew {found:.2f} ms",
    )


def _read_all(corpus: Corpus) -> tuple[list[str], float]:
    """Return texts of the corpus, and the CPU seconds that preparing them took, with finding."""
    texts: list[str] = []
    seconds = 0.0
    total = 0
    collection = Collection(name="bench", path="/")
    for folder in corpus.folders:
        for path in sorted(Path(folder).rglob("*.md")):
            data = path.read_bytes()
            start = time.process_time()
            try:
                parsed = read(data, path.name)
            except Unreadable:
                continue
            file = FileBytes(data, len(data), 0)
            draft(collection, path.name, file, FileState(len(data), 0, b""), parsed)
            seconds += time.process_time() - start
            texts.append(parsed.text)
            total += len(data)
            if total > _MOST:
                return texts, seconds
    return texts, seconds


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return max(time.process_time() - start, 1e-9)
