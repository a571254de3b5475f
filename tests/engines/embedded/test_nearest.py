"""Vectors in memory against a plain computation, exact and quantised, saved and loaded."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from bookwheel.embedders.static import StaticEmbedder
from bookwheel.engines.base import Matrix, Vector
from bookwheel.engines.embedded import nearest
from bookwheel.engines.embedded.nearest import NearestVectors, Part

MADE_FROM: list[object] = ["a catalogue", "a model", 1]
Truth = dict[int, Matrix]


def clustered(count: int, dimensions: int = 256, *, seed: int = 0) -> Matrix:
    """Return vectors of length one as texts have them: in clusters, with a common direction."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(max(1, count // 50), dimensions)) + 0.5
    spread = np.geomspace(1.0, 0.05, dimensions)
    chosen = centres[rng.integers(len(centres), size=count)] * spread
    rows = chosen + 0.6 * rng.normal(size=(count, dimensions)) * spread
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows.astype(np.float16).astype(np.float32)


def by_document(rows: Matrix, chunks: int = 10) -> Truth:
    return {at // chunks + 1: rows[at : at + chunks] for at in range(0, len(rows), chunks)}


def settled(truth: Truth, stamp: int = 7) -> NearestVectors:
    """Return vectors as they are held when there are many."""
    every = np.concatenate(list(truth.values()))
    held = NearestVectors(every.shape[1], stamp)
    held.settle([[Part(key, 1, rows) for key, rows in truth.items()]], every[:4096])
    return held


def fetch_from(truth: Truth) -> nearest.Fetch:
    return lambda keys: {key: truth[key] for key in keys if key in truth}


def brute(
    truth: Truth, query: Vector, limit: int, among: set[int] | None = None
) -> list[tuple[int, int]]:
    """Return what is nearest by comparing everything; equals in order of their keys."""
    keys = [key for key in sorted(truth) if among is None or key in among]
    if not keys:
        return []
    pairs = [(key, at) for key in keys for at in range(1, len(truth[key]) + 1)]
    order = np.argsort(-(np.concatenate([truth[key] for key in keys]) @ query), kind="stable")
    return [pairs[place] for place in order[:limit]]


def asked(
    held: NearestVectors, truth: Truth, query: Vector, limit: int, among: set[int] | None = None
) -> list[tuple[int, int]]:
    found = held.search(query, limit, fetch_from(truth), None if among is None else list(among))
    return [(key, at) for key, at, _ in found]


def recall(held: NearestVectors, truth: Truth, queries: Matrix, among: set[int] | None) -> float:
    """Return the share of the ten nearest chunks that are found."""
    hits = wanted = 0
    for query in queries:
        best = brute(truth, query, 10, among)
        wanted += len(best)
        hits += len(set(best) & set(asked(held, truth, query, 10, among)))
    return hits / wanted


@pytest.mark.parametrize("share", [1.0, 0.1, 0.01])
def test_the_quantised_scan_finds_what_an_exact_one_does(share: float) -> None:
    rows = clustered(26_000)
    truth = by_document(rows[:25_000])
    held = settled(truth)
    among = set(range(1, int(len(truth) * share))) if share < 1 else None
    assert recall(held, truth, rows[25_000::200], among) >= 0.99


def test_the_quantised_scan_finds_texts_of_the_static_model() -> None:
    model = StaticEmbedder()
    words = (Path(__file__).parents[3] / "docs").rglob("*.md")
    vocabulary = sorted({w for path in words for w in path.read_text(encoding="utf-8").split()})
    rng = np.random.default_rng(3)
    topics = rng.integers(len(vocabulary), size=(500, 60))
    texts = [
        " ".join(vocabulary[word] for word in rng.choice(topics[number % 500], 25))
        for number in range(25_100)
    ]
    rows = model.embed(texts).astype(np.float16).astype(np.float32)
    truth = by_document(rows[:25_000])
    assert recall(settled(truth), truth, rows[25_000:], None) >= 0.99


@pytest.mark.parametrize("dimensions", [1, 3, 100, 256])
def test_models_of_any_dimensions_can_be_quantised(dimensions: int) -> None:
    truth = by_document(clustered(300, dimensions))
    held = settled(truth)
    query = truth[3][2]
    best = truth[3][2] @ query
    first = held.search(query, 1, fetch_from(truth))[0]
    assert first[2] == pytest.approx(best, abs=1e-6)


def test_rows_of_nothing_but_zeros_do_no_harm() -> None:
    truth = by_document(clustered(300, 16))
    truth[3] = np.zeros_like(truth[3])
    query = truth[4][0]
    assert asked(settled(truth), truth, query, 5) == brute(truth, query, 5)


def test_it_is_worn_when_much_was_dropped_or_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "EXACT_MOST", 100)
    truth = by_document(clustered(400, 8))
    held = settled(truth)
    assert not held.is_worn
    held.drop(range(1, 11))
    assert not held.is_worn
    held.drop([11])
    assert held.is_worn
    held = settled(truth)
    held.add([(1000 + number, truth[number]) for number in range(1, 12)])
    assert held.is_worn
    few = NearestVectors(8)
    few.add([(number, truth[number]) for number in range(1, 11)])
    assert not few.is_worn
    few.add([(number, truth[number]) for number in range(11, 12)])
    assert few.is_worn


# Saving and loading


def saved(folder: Path) -> tuple[NearestVectors, Truth]:
    truth = by_document(clustered(300, 8))
    held = settled(truth)
    held.save(folder, MADE_FROM)
    return held, truth


def test_what_was_saved_answers_as_before(tmp_path: Path) -> None:
    held, truth = saved(tmp_path / "v")
    held.drop([2])
    held.save(tmp_path / "v", MADE_FROM)
    again = NearestVectors.load(tmp_path / "v", MADE_FROM, 8)
    assert again is not None
    assert (again.stamp, again.settled_stamp, again.is_settled) == (7, 7, True)
    assert again.is_saved
    query = truth[2][0]
    del truth[2]
    assert asked(again, truth, query, 20) == brute(truth, query, 20)


def test_a_newer_save_leaves_nothing_of_the_older_behind(tmp_path: Path) -> None:
    _, truth = saved(tmp_path)
    newer = settled(truth, stamp=9)
    assert not newer.is_saved
    newer.save(tmp_path, MADE_FROM)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["9.npz", "9.tv", "made-from.json"]


@pytest.mark.parametrize("other", [["another catalogue", "a model", 1], ["a catalogue", "x", 1]])
def test_what_was_made_from_something_else_is_not_loaded(
    tmp_path: Path, other: list[object]
) -> None:
    saved(tmp_path)
    assert NearestVectors.load(tmp_path, other, 8) is None


@pytest.mark.parametrize("name", ["7.tv", "7.npz", "made-from.json"])
@pytest.mark.parametrize("harm", ["gone", "empty", "cut", "flipped", "nonsense", "a folder"])
def test_what_is_damaged_or_half_written_is_not_loaded(
    tmp_path: Path, name: str, harm: str
) -> None:
    saved(tmp_path)
    file = tmp_path / name
    data = bytearray(file.read_bytes())
    file.unlink()
    match harm:
        case "empty":
            file.touch()
        case "cut":
            file.write_bytes(data[: len(data) // 2])
        case "flipped":
            data[len(data) // 2] ^= 0xFF
            file.write_bytes(data)
        case "nonsense":
            file.write_bytes(b'{"stamp": []}')
        case "a folder":
            file.mkdir()
    assert NearestVectors.load(tmp_path, MADE_FROM, 8) is None


# Any history


def test_what_is_replaced_again_and_again_takes_no_more_room() -> None:
    held = NearestVectors(8)
    for _ in range(400):
        held.add([(key, clustered(2, 8, seed=key)) for key in (1, 2, 3)])
    assert len(held) < 600
    assert len(held._exact) == len(held)
    assert len(held.search(clustered(1, 8, seed=1)[0], 100, lambda _: {})) == 6


@pytest.fixture(autouse=True)
def _dead_rows_go_soon(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let histories of a few rows show what becomes of many."""
    if request.cls is not None:
        monkeypatch.setattr("bookwheel.engines.embedded.nearest._FEW", 3)


KEYS = st.integers(1, 12)  # at most 108 chunks: all of them are proposed for exact scoring
_ROWS = clustered(200, 8, seed=5)


class Histories(RuleBasedStateMachine):
    """After any history the answers are those of a plain computation."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="bookwheel-test-"))
        self.truth: Truth = {}
        self.held = NearestVectors(8)
        self.since_settled: set[int] = set()
        self.since_saved: set[int] | None = None

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    def note(self, *keys: int) -> None:
        self.since_settled.update(keys)
        if self.since_saved is not None:
            self.since_saved.update(keys)

    @rule(key=KEYS, start=st.integers(0, 190), count=st.integers(1, 9))
    def put(self, key: int, start: int, count: int) -> None:
        self.truth[key] = _ROWS[start : start + count]
        self.held.add([(key, self.truth[key])])
        self.note(key)

    @rule(keys=st.lists(KEYS, max_size=4))
    def drop(self, keys: list[int]) -> None:
        self.held.drop(keys)
        for key in keys:
            self.truth.pop(key, None)
        self.note(*keys)

    @precondition(lambda self: sum(map(len, self.truth.values())) > 1)
    @rule()
    def settle(self) -> None:
        self.held = settled(self.truth, stamp=self.held.stamp + 1)
        self.since_settled = set()

    @precondition(lambda self: self.held.is_settled)
    @rule()
    def save(self) -> None:
        self.held.save(self.folder, MADE_FROM)
        self.since_saved = set(self.since_settled)

    @precondition(lambda self: self.since_saved is not None)
    @rule()
    def load(self) -> None:
        """Load, and replay what changed since then as the catalogue tells it."""
        assert self.since_saved is not None
        loaded = NearestVectors.load(self.folder, MADE_FROM, 8)
        assert loaded is not None
        loaded.drop(list(self.since_saved))
        loaded.add((key, self.truth[key]) for key in self.since_saved if key in self.truth)
        self.held, self.since_settled = loaded, set(self.since_saved)

    @invariant()
    def answers_are_true(self) -> None:
        for query, among in ((_ROWS[0], None), (_ROWS[77], {1, 2, 3, 4}), (_ROWS[150], None)):
            for limit in (1, 10):
                found = asked(self.held, self.truth, query, limit, among)
                best = brute(self.truth, query, limit, among)
                assert scores(self.truth, found, query) == scores(self.truth, best, query)
                assert len(set(found)) == len(best)


def scores(truth: Truth, pairs: list[tuple[int, int]], query: Vector) -> list[float]:
    """Return scores, for equal chunks may stand in any order."""
    return [round(float(truth[key][at - 1] @ query), 5) for key, at in pairs]


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=25, stateful_step_count=20)
