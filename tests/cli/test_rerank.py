"""`--rerank`: a second look from the command line, off unless asked for or set."""

from __future__ import annotations

import sys

import pytest

from bookwheel.embedders.minilm import MiniLMEmbedder
from tests.cli.conftest import Call
from tests.conftest import Shelf


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    shelf = Shelf(tmp_path_factory.mktemp("rerank").resolve())
    shelf.put("a.md", "Password password: a password is a word.")
    shelf.put("b.md", "To choose a new password, open the account settings.")
    return ["password", str(shelf.folder), "--index", str(shelf.place / "index")]


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[MiniLMEmbedder]:
    """The models that were loaded since."""
    found: list[MiniLMEmbedder] = []
    load = MiniLMEmbedder.__init__

    def note(self: MiniLMEmbedder) -> None:
        found.append(self)
        load(self)

    monkeypatch.setattr(MiniLMEmbedder, "__init__", note)
    return found


def test_there_is_no_second_look_by_default(
    call: Call, here: list[str], loaded: list[MiniLMEmbedder]
) -> None:
    assert call("search", *here, "--json").code == 0
    assert loaded == []


@pytest.mark.parametrize(
    ("setting", "flags", "count"),
    [
        ("none", ["--rerank", "minilm"], 1),
        ("minilm", [], 1),
        ("minilm", ["--rerank", "none"], 0),
    ],
)
def test_the_flag_wins_over_the_setting(
    call: Call,
    here: list[str],
    loaded: list[MiniLMEmbedder],
    monkeypatch: pytest.MonkeyPatch,
    setting: str,
    flags: list[str],
    count: int,
) -> None:
    monkeypatch.setenv("BOOKWHEEL_RERANK", setting)
    answer = call("search", *here, *flags, "--json")

    assert len(loaded) == count
    assert sorted(hit["document"] for hit in answer.value["results"]) == ["a.md", "b.md"]


def test_explain_tells_what_the_second_look_saw(call: Call, here: list[str]) -> None:
    lines = call("search", *here, "--rerank", "minilm", "--explain").out.splitlines()
    hits = call("search", *here, "--rerank", "minilm", "--explain", "--json").value["results"]
    cosines = [hit["why"]["second_look"] for hit in hits]
    (usual, _) = call("search", *here, "--explain", "--json").value["results"]

    assert all(-1 <= cosine <= 1 for cosine in cosines)
    said = [f" · second look: cosine {cosine:.2f} · passage 1 of 1" for cosine in cosines]
    assert [line[-len(said[0]) :] for line in lines if "ranked by" in line] == said
    assert usual["why"]["second_look"] is None


def test_an_extra_that_is_not_installed_is_named(
    call: Call, here: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = call("search", *here, "--json").value
    monkeypatch.setitem(sys.modules, "bookwheel.embedders.minilm", None)
    plain = call("search", *here, "--rerank", "minilm")
    answer = call("search", *here, "--rerank", "minilm", "--json").value

    assert answer["results"] == usual["results"]
    assert "pip install 'bookwheel[minilm]'" in answer["remarks"][0]
    assert answer["remarks"][0] in plain.err


def test_another_model_is_refused(call: Call, here: list[str]) -> None:
    assert call("search", *here, "--rerank", "other").code == 2
