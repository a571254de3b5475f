"""Which model is asked, and which key goes where."""

from __future__ import annotations

from pathlib import Path

import pytest

from bookwheel.errors import BadRequest
from bookwheel.llm.base import Message
from bookwheel.llm.choice import choose_model
from bookwheel.llm.http import HttpModel
from bookwheel.llm.sampling import ClientModel
from bookwheel.settings import Settings, load
from tests.llm.endpoints import saying, serving

KEY = "sk-shared-by-programs"


def of(**environment: str) -> Settings:
    return load(environment=environment, use_start_folder=False)


def lend(*_: object) -> object:
    return "Lent."


@pytest.mark.requirement("R-052")
@pytest.mark.parametrize(
    ("names", "sent"),
    [
        (("OPENAI_BASE_URL", "OPENAI_API_KEY"), True),
        (("BOOKWHEEL_LLM_URL", "BOOKWHEEL_LLM_KEY"), True),
        (("OPENAI_BASE_URL", "BOOKWHEEL_LLM_KEY"), True),
        (("BOOKWHEEL_LLM_URL", "OPENAI_API_KEY"), False),
    ],
)
def test_t27_a_key_goes_only_where_it_was_meant_for(names: tuple[str, str], sent: bool) -> None:
    """A key that other programs share is not for whatever endpoint is set here."""
    with serving(saying("So.")) as service:
        model = choose_model(of(**{names[0]: service.url, names[1]: KEY}), None)
        assert model is not None
        model.complete([Message("user", "x")], 20)
    assert service.asked[0].key == (f"Bearer {KEY}" if sent else None)
    assert service.asked[0].body["model"] == "gpt-4.1-mini"


def test_t27_a_key_alone_asks_nobody() -> None:
    """It lies in many environments for other programs; nothing leaves for that."""
    assert choose_model(of(OPENAI_API_KEY=KEY), None) is None


@pytest.mark.parametrize(
    ("order", "kind"),
    [
        ("endpoint,client", HttpModel),
        ("client,endpoint", ClientModel),
        (" client , endpoint ", ClientModel),
        ("endpoint", HttpModel),
        ("client", ClientModel),
        ("none", type(None)),
    ],
)
def test_the_first_of_the_order_is_asked(order: str, kind: type) -> None:
    settings = of(BOOKWHEEL_LLM_URL="http://localhost:1/v1", BOOKWHEEL_LLM_ORDER=order)
    assert type(choose_model(settings, lend)) is kind


@pytest.mark.parametrize("order", ["", "endpoint,endpoint", "none,client", "openai", ","])
def test_an_order_of_other_words_is_refused(order: str) -> None:
    if order:
        with pytest.raises(BadRequest, match="endpoint, client"):
            of(BOOKWHEEL_LLM_ORDER=order)


def test_t27_a_file_that_lay_in_the_start_folder_sets_no_endpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = 'llm_url = "http://evil.example/v1"\nllm_model = "x"\nllm_key = "y"\n'
    (tmp_path / "bookwheel.toml").write_text(text, encoding="utf-8")

    settings = load(environment={})

    assert (settings["llm_url"], settings["llm_model"], settings["llm_key"]) == (
        None,
        "gpt-4.1-mini",
        None,
    )
    assert len(settings.remarks) == 3
