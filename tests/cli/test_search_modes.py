"""`search --mode` and `--explain`: by words, by meaning, by both, and why."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest

from bookwheel.cli import fresh
from tests.cli.conftest import Call
from tests.embedders.endpoints import Answer, Asked, serving, vectors

CARS = "# Vehicles\n\nThe automobile needs petrol and oil; its engine must be serviced."


@pytest.fixture
def cars(notes: Path) -> Path:
    (notes / "garage.md").write_text(CARS, encoding="utf-8")
    (notes / "bread.md").write_text("# Baking\n\nKnead the dough.", encoding="utf-8")
    return notes


def test_a_search_finds_by_meaning_at_the_first_call(call: Call, cars: Path) -> None:
    found = call("search", "car maintenance", cars, "--json").value
    assert [hit["document"] for hit in found["results"]] == ["garage.md"]
    assert "why" not in found["results"][0]


@pytest.mark.parametrize(
    ("mode", "documents"),
    [("lexical", []), ("semantic", ["garage.md", "bread.md"]), ("hybrid", ["garage.md"])],
)
def test_the_mode_says_by_what_is_found(
    call: Call, cars: Path, mode: str, documents: list[str]
) -> None:
    answer = call("search", "car maintenance", cars, "--mode", mode, "--json")
    results = answer.value["results"]
    assert (answer.code, [hit["document"] for hit in results]) == (0, documents)


def test_an_unknown_mode_is_refused(call: Call, cars: Path) -> None:
    answer = call("search", "car", cars, "--mode", "psychic")
    assert answer.code == 2
    assert "psychic" in answer.err


def test_by_meaning_alone_without_a_model_is_a_clear_error(
    call: Call, cars: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOOKWHEEL_EMBEDDER", "none")
    answer = call("search", "petrol", cars, "--mode", "semantic")
    assert answer.code != 0
    assert "Nothing can be found by meaning: the embedder is `none`." in answer.err
    assert call("search", "petrol", cars, "--json").value["total"] == 1


@pytest.mark.parametrize("text", [None, ""])
@pytest.mark.parametrize("mode", ["lexical", "semantic", "hybrid"])
def test_where_there_is_no_text_every_mode_finds_none(
    call: Call, tmp_path: Path, mode: str, text: str | None
) -> None:
    (folder := tmp_path / "empty").mkdir()
    if text is not None:
        (folder / "a.md").write_text(text, encoding="utf-8")
    answer = call("search", "petrol", folder, "--mode", mode)
    assert answer.code == 0
    assert ("there are no documents yet" in answer.out + answer.err) == (text is None)


def test_by_meaning_alone_a_model_that_cannot_be_had_is_told_of_once(
    call: Call, cars: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOOKWHEEL_EMBEDDER", "model2vec:/nowhere")
    answer = call("search", "petrol", cars, "--mode", "semantic")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.count("cannot be loaded") == 1
    assert "words alone" not in answer.err
    assert len(answer.err.splitlines()) == 2


def test_by_meaning_alone_what_the_model_refused_to_read_is_said(
    call: Call, cars: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse_dough(asked: Asked) -> Answer:
        refused = any("dough" in text for text in asked.body["input"])
        return Answer(b"too doughy", status=400) if refused else see_petrol(asked)

    with serving(refuse_dough) as service:
        use_endpoint(monkeypatch, service.url)
        monkeypatch.setenv("BOOKWHEEL_EMBEDDING_BATCH", "1")
        answer = call("search", "petrol", cars, "--mode", "semantic", "--json")
    assert answer.err.startswith("bookwheel: not all could be read for meaning. ")
    assert "too doughy" in answer.err


def test_explain_says_why_a_hit_stands_where_it_does(call: Call, cars: Path) -> None:
    (hit,) = call("search", "petrol", cars, "--explain", "--json").value["results"]
    why = hit["why"]
    assert (why["matched_in"], why["words"], why["passage"]) == ("content", ["petrol"], "1 of 1")
    assert 0 < why["similarity"] < 1
    assert 0 < why["rank_score"] <= 1
    (hit,) = call("search", "petrol", cars, "--explain", "--json", "--mode=lexical").value[
        "results"
    ]
    assert hit["why"]["similarity"] is None


def test_explain_adds_a_line_for_people(call: Call, cars: Path) -> None:
    shown = call("search", "petrol", cars, "--explain").out.splitlines()
    assert shown[3].startswith("   ranked by ")
    assert " · words 1.00, in content: petrol · meaning: cosine 0." in shown[3]
    assert shown[3].endswith(" · passage 1 of 1")
    words = call("search", "petrol", cars, "--explain", "--mode", "lexical").out.splitlines()
    assert "meaning: not compared" in words[3]
    assert len(call("search", "petrol", cars).out.splitlines()) == len(shown) - 1
    long = "automobile petrol and oil whose engine must be serviced"
    assert ", near words 0." in call("search", long, cars, "--explain").out
    assert "near words" not in shown[3]


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_indexing_with_a_model_that_fails_does_all_else_and_its_exit_code_says_so(
    call: Call, cars: Path, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...]
) -> None:
    with serving(lambda asked: Answer(b"no such model", status=404)) as service:
        use_endpoint(monkeypatch, service.url)
        answer = call("index", cars, *flags)
    assert answer.code == 7
    assert "2 files indexed" in answer.out or answer.value[0]["indexed"] == 2
    assert answer.err.startswith("bookwheel: searching by words alone. ")
    monkeypatch.setenv("BOOKWHEEL_EMBEDDER", "model2vec:/nowhere")
    assert call("index", cars).code == 2
    monkeypatch.delenv("BOOKWHEEL_EMBEDDER")
    assert call("index", cars).code == 0


def test_a_configuration_that_only_lay_there_sends_nothing_anywhere(
    call: Call, cars: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = "embedder = 'http'\nembedding_url = 'http://192.0.2.1/v1'\n"
    (cars / "bookwheel.toml").write_text(config, encoding="utf-8")
    monkeypatch.chdir(cars)
    answer = call("search", "car maintenance", "--json")
    assert [hit["document"] for hit in answer.value["results"]] == ["garage.md"]
    assert "embedding_url in" in answer.err
    assert "is not used: the file only lay in the start folder." in answer.err


def see_petrol(asked: Asked) -> Answer:
    return vectors([[1.0, float("petrol" in text)] for text in asked.body["input"]])


def use_endpoint(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("BOOKWHEEL_EMBEDDER", "http")
    monkeypatch.setenv("BOOKWHEEL_EMBEDDING_URL", url)
    monkeypatch.setenv("BOOKWHEEL_EMBEDDING_MODEL", "m")


def test_commands_that_need_no_vectors_make_none(
    call: Call, cars: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(see_petrol) as service:
        use_endpoint(monkeypatch, service.url)
        found = call("search", "petrol", cars, "--mode", "lexical", "--json").value
        assert [hit["document"] for hit in found["results"]] == ["garage.md"]
        for command in (["show", "garage.md"], ["outline", "garage.md"], ["list"], ["graph"]):
            assert call(*command, cars).code == 0
        assert service.asked == []
        assert call("related", "garage.md", cars, "--json").value["related"]
        assert service.asked != []


def test_a_search_by_both_answers_before_a_slow_model_has_read_all(
    call: Call, cars: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fresh, "SOON_PASSAGES", 1)
    (cars / "long.md").write_text("# Doors\n\n" + "door " * 300, encoding="utf-8")
    with serving(see_petrol) as service:
        use_endpoint(monkeypatch, service.url)
        found = call("search", "petrol", cars, "--json").value
        assert found["results"][0]["document"] == "garage.md"
        said = "3 of 5 passages have no vectors yet; `bookwheel index` or a server makes them"
        assert found["remarks"] == [said]
        assert said in call("search", "petrol", cars).err
        assert call("index", cars).code == 0
        assert "remarks" not in call("search", "petrol", cars, "--json").value


def test_each_search_by_both_lets_a_slow_model_read_for_a_while(
    call: Call, cars: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fresh, "SOON_SECONDS", 1.0)
    for number in range(80):
        (cars / f"{number}.md").write_text(f"door {number}", encoding="utf-8")
    never = Event()

    def take_time(asked: Asked) -> Answer:
        never.wait(0.15 * len(asked.body["input"]))
        return see_petrol(asked)

    with serving(take_time) as service:
        use_endpoint(monkeypatch, service.url)
        remarks = [call("search", "petrol", cars, "--json").value["remarks"][0] for _ in "ab"]
    unread = [int(remark.split()[0]) for remark in remarks]
    assert 82 > unread[0] > unread[1] > 0


def test_a_search_by_both_gives_little_that_is_new_its_vectors(
    call: Call, cars: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(see_petrol) as service:
        use_endpoint(monkeypatch, service.url)
        found = call("search", "petrol", cars, "--explain", "--json").value
    assert "remarks" not in found
    assert found["results"][0]["why"]["similarity"] is not None


def test_a_search_that_looks_for_no_changes_makes_no_vectors(call: Call, cars: Path) -> None:
    assert call("list", cars).code == 0
    found = call("search", "petrol", cars, "--no-refresh", "--json").value
    assert found["remarks"][0].startswith("2 of 2 passages have no vectors yet")
    found = call("search", "petrol", cars, "--mode", "semantic", "--json").value
    assert "remarks" not in found


@pytest.mark.parametrize("command", [("search", "fuel"), ("related", "garage.md")])
def test_another_model_under_the_same_name_reads_all_anew_before_it_is_asked(
    call: Call, cars: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, str]
) -> None:
    width = 2

    def widen(asked: Asked) -> Answer:
        return vectors([[1.0, *[0.5] * (width - 1)] for _ in asked.body["input"]])

    with serving(widen) as service:
        use_endpoint(monkeypatch, service.url)
        call("index", cars)
        width, before = 3, len(service.asked)
        mode = ("--mode", "semantic") if command[0] == "search" else ()
        answer = call(*command, cars, *mode, "--json")
        read = [text for asked in service.asked[before:] for text in asked.body["input"]]
    assert answer.code == 0, answer.err
    assert any("dough" in text for text in read)
