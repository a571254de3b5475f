"""A client lends its own model for a summary: over each transport, in both eras."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import mcp_types as types
import pytest

from tests.clients.assistant import (
    LEGACY,
    MODERN,
    PATIENCE,
    Assistant,
    assisting,
    command,
    connected,
)
from tests.clients.assistant import http_server as serving_http
from tests.conftest import Shelf
from tests.llm.endpoints import dripping, saying, serving

ERAS = pytest.mark.parametrize("era", [LEGACY, MODERN])
AGREED = "Vendor X agrees to provide support until 2023."
EMAIL = "jane.roe@example.org"


class Lent:
    """A client's model: says what it is told to, and keeps what it was asked."""

    def __init__(self, content: Any) -> None:
        self.content = content
        self.asked: list[types.CreateMessageRequestParams] = []

    async def __call__(
        self, context: Any, params: types.CreateMessageRequestParams
    ) -> types.CreateMessageResult | types.ErrorData:
        self.asked.append(params)
        if isinstance(self.content, types.ErrorData):
            return self.content
        if self.content is None:
            await anyio.sleep_forever()
        return types.CreateMessageResult(role="assistant", content=self.content, model="lent")


def text(words: str) -> types.TextContent:
    return types.TextContent(type="text", text=words)


@pytest.fixture
def office(shelf: Shelf) -> Shelf:
    shelf.put("contract.md", f"# Contract\n\n{AGREED} Write to {EMAIL}.")
    shelf.update()
    return shelf


@contextmanager
def reaching(office: Shelf, way: str, era: str, model: Lent, **flags: Any) -> Iterator[Assistant]:
    where = (office.folder, "--index", office.place / "index", "--toolsets", "files")
    named = {f"BOOKWHEEL_{name.upper()}": str(value) for name, value in flags.items()}
    if way == "memory":
        with office.open(**flags) as library, assisting(library, "files", era, model) as assistant:
            yield assistant
    elif way == "stdio":
        with connected(command(*where, **named), era, model) as assistant:
            yield assistant
    else:
        with (
            serving_http(*where, **named) as url,
            connected(f"{url}/mcp", era, model) as assistant,
        ):
            yield assistant


def summarize(assistant: Assistant, office: Shelf, **more: Any) -> Any:
    results = [{"path": str(office.folder / "contract.md"), "snippet": AGREED}]
    arguments = {"query": f"what {EMAIL} said", "results": results, **more}
    return assistant.call("summarizeResults", **arguments).json


@pytest.mark.requirement("R-053")
@ERAS
@pytest.mark.parametrize("way", ["memory", "stdio", "http"])
def test_the_clients_own_model_writes_the_summary(office: Shelf, way: str, era: str) -> None:
    model = Lent(text(f"Support until 2023 [1], says {EMAIL}."))
    with reaching(office, way, era, model) as assistant:
        answer = summarize(assistant, office, max_tokens=99)
        again = summarize(assistant, office, style="table")
    assert answer["summary"] == again["summary"] == "Support until 2023 [1], says [redacted:email]."
    assert answer["tokens_used"]["prompt"] > 100
    assert 5 < answer["tokens_used"]["completion"] < 20
    first, second = model.asked
    assert (first.max_tokens, second.max_tokens) == (99, 400)
    said = f"{first.system_prompt} {first.messages[0].content}"
    assert AGREED in said
    assert EMAIL not in said
    assert str(office.place) not in said


@ERAS
@pytest.mark.parametrize("way", ["memory", "http"])
def test_the_clients_own_model_rewrites_a_query(office: Shelf, way: str, era: str) -> None:
    said = '{"fts": "vendor AND support", "exts": [".md"], "years": [], "notes": "So."}'
    model = Lent(text(said))
    with reaching(office, way, era, model) as assistant:
        made = assistant.call("rewriteQuery", query="what does the vendor support").json
    assert (made["fts"], made["filters"]) == ("vendor AND support", {"exts": [".md"], "years": []})


@ERAS
@pytest.mark.parametrize(
    ("order", "who"),
    [("endpoint,client", "endpoint"), ("client,endpoint", "client"), ("client", "client")],
)
def test_the_operators_order_says_who_is_asked(
    office: Shelf, era: str, order: str, who: str
) -> None:
    model = Lent(text("Said by the client."))
    with (
        serving(saying("Said by the endpoint.")) as service,
        reaching(office, "memory", era, model, llm_url=service.url, llm_order=order) as assistant,
    ):
        assert summarize(assistant, office)["summary"] == f"Said by the {who}."
    assert bool(service.asked) == (who == "endpoint")


@ERAS
def test_an_order_without_the_client_does_not_ask_it(office: Shelf, era: str) -> None:
    model = Lent(text("Said by the client."))
    with reaching(office, "memory", era, model, llm_order="endpoint") as assistant:
        assert summarize(assistant, office)["error"]["code"] == "LLM_UPSTREAM"
    assert model.asked == []


@ERAS
@pytest.mark.parametrize(
    "content",
    [text("  "), types.ImageContent(type="image", data="AAAA", mime_type="image/png")],
)
def test_an_answer_without_text_is_an_upstream_error(office: Shelf, era: str, content: Any) -> None:
    with reaching(office, "memory", era, Lent(content)) as assistant:
        assert summarize(assistant, office)["error"]["code"] == "LLM_UPSTREAM"


@pytest.mark.parametrize("way", ["memory", "http"])
def test_a_refusal_is_an_upstream_error_without_the_clients_words(office: Shelf, way: str) -> None:
    refused = Lent(types.ErrorData(code=-1, message="the user said no-no-no"))
    with reaching(office, way, LEGACY, refused) as assistant:
        error = summarize(assistant, office)["error"]
    assert error["code"] == "LLM_UPSTREAM"
    assert "no-no-no" not in str(error)


def test_a_client_that_does_not_answer_is_given_up(office: Shelf) -> None:
    with reaching(office, "memory", LEGACY, Lent(None), llm_timeout=1) as assistant:
        error = summarize(assistant, office)["error"]
    assert error["code"] == "LLM_UPSTREAM"
    assert "within 1 s" in error["message"]


def threads_asking() -> list[threading.Thread]:
    """Return those that wait for the answer of an endpoint."""
    return [each for each in threading.enumerate() if each.name == "bookwheel-model"]


@ERAS
def test_a_call_that_its_caller_gives_up_ends(office: Shelf, era: str) -> None:
    """The server's end waits for running calls: it must not be kept by a model."""
    with (
        dripping(b"", 3600) as url,
        reaching(office, "memory", era, Lent(None), llm_url=url, llm_timeout=600) as assistant,
    ):

        async def leave() -> list[threading.Thread]:
            results = [{"path": str(office.folder / "contract.md"), "snippet": AGREED}]
            asked = {"query": "x", "results": results}
            with anyio.fail_after(PATIENCE):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(assistant.client.call_tool, "summarizeResults", asked)
                    while not (asking := threads_asking()):
                        await anyio.sleep(0.01)
                    tasks.cancel_scope.cancel()
            return asking

        for each in assistant.run(leave):
            each.join(10)
            assert not each.is_alive()
