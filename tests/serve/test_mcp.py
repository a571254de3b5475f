"""The server through the SDK's own client, in memory, in both eras of the protocol."""

from __future__ import annotations

import logging
import re
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference

from bookwheel.contracts.dispatch import Offered
from bookwheel.serve.calls import Calls
from bookwheel.serve.mcp import DocumentServer
from tests.serve.conftest import CRASHING, OFFERED, SECRET, SMALL, within

ERAS = pytest.mark.parametrize("era", ["legacy", "auto"])


@ERAS
def test_tools_are_listed_with_exact_schemas_titles_and_annotations(
    server: DocumentServer, era: str
) -> None:
    async def main() -> None:
        async with Client(server, mode=era) as client:
            listed = (await client.list_tools()).tools
        shown = listed[0].model_dump(by_alias=True, exclude_none=True)
        assert [tool.name for tool in listed] == ["echo", "refuse"]
        assert shown == {
            "name": "echo",
            "title": "Echo",
            "description": "Say it again.",
            "inputSchema": {
                "type": "object",
                "properties": {"word": {"type": "string"}},
                "required": ["word"],
            },
            "annotations": {
                "readOnlyHint": True,
                "destructiveHint": False,
                "idempotentHint": True,
                "openWorldHint": False,
            },
        }

    within(main)


@ERAS
def test_a_call_gives_text_and_the_same_as_json(server: DocumentServer, era: str) -> None:
    async def main() -> None:
        async with Client(server, mode=era) as client:
            result = await client.call_tool("echo", {"word": "zebra"})
        assert [part.model_dump()["text"] for part in result.content] == ["zebra"]
        assert result.structured_content == {"word": "zebra"}
        assert not result.is_error

    within(main)


@ERAS
def test_wrong_arguments_are_answered_in_the_contracts_own_way(
    server: DocumentServer, era: str
) -> None:
    async def main() -> None:
        async with Client(server, mode=era) as client:
            result = await client.call_tool("echo", {"wrod": "zebra"})
        assert result.is_error
        assert "'word'" in result.content[0].model_dump()["text"]

    within(main)


@ERAS
def test_an_error_of_json_rpc_keeps_its_code_and_data(server: DocumentServer, era: str) -> None:
    async def main() -> None:
        async with Client(server, mode=era) as client:
            with pytest.raises(MCPError) as caught:
                await client.call_tool("refuse", {})
        assert (caught.value.code, caught.value.data) == (-32602, {"why": "because"})

    within(main)


@ERAS
def test_t29_a_defect_reaches_the_client_as_a_reference_only(
    server: DocumentServer, era: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with Client(server, mode=era) as client:
            with pytest.raises(MCPError) as caught:
                await client.call_tool("fail", {})
        assert caught.value.code == -32603
        assert SECRET not in str(caught.value)
        reference = re.search(r"reference (\w{12})", caught.value.message)
        assert reference is not None
        assert reference[1] in caplog.text
        assert SECRET in caplog.text

    caplog.set_level(logging.ERROR)
    within(main)


@ERAS
def test_an_unknown_tool_is_a_wrong_parameter(server: DocumentServer, era: str) -> None:
    async def main() -> None:
        async with Client(server, mode=era) as client:
            with pytest.raises(MCPError) as caught:
                await client.call_tool("ecko", {})
        assert caught.value.code == -32602
        assert "'echo'" in caught.value.message

    within(main)


@ERAS
def test_capabilities_say_the_same_in_both_eras(server: DocumentServer, era: str) -> None:
    async def main() -> None:
        async with Client(server, mode=era) as client:
            said = client.server_capabilities.model_dump(by_alias=True, exclude_none=True)
        assert said == {
            "tools": {},
            "resources": {"subscribe": False, "listChanged": True},
            "completions": {},
        }

    within(main)


@ERAS
def test_a_contract_without_resources_has_no_resources(calls: Calls, era: str) -> None:
    bare = DocumentServer(calls, Offered((CRASHING,), (CRASHING,)))

    async def main() -> None:
        async with Client(bare, mode=era) as client:
            said = client.server_capabilities.model_dump(by_alias=True, exclude_none=True)
            with pytest.raises(MCPError) as caught:
                await client.list_resources()
        assert said == {"tools": {}}
        assert caught.value.code == -32601

    within(main)


@ERAS
def test_resources_are_listed_and_read(server: DocumentServer, era: str) -> None:
    async def main() -> None:
        async with Client(server, mode=era) as client:
            (entry,) = (await client.list_resources()).resources
            (content,) = (await client.read_resource(entry.uri)).contents
            (template,) = (await client.list_resource_templates()).resource_templates
        assert (entry.uri, entry.title, entry.mime_type) == (
            "docs://zebra.md",
            "Zebra",
            "text/markdown",
        )
        assert content.model_dump()["text"] == "# Zebra\n\nA zebra has stripes."
        assert template.uri_template == "docs://{+path}"

    within(main)


@ERAS
def test_a_resource_that_is_not_there_has_the_code_of_the_revision_and_the_uri(
    server: DocumentServer, era: str
) -> None:
    async def main() -> None:
        async with Client(server, mode=era) as client:
            with pytest.raises(MCPError) as caught:
                await client.read_resource("docs://none.md")
        code = -32002 if era == "legacy" else -32602
        assert (caught.value.code, caught.value.data) == (code, {"uri": "docs://none.md"})

    within(main)


def test_instructions_name_collections_counts_and_tools_as_they_are_now(
    server: DocumentServer,
) -> None:
    said = server.instructions or ""

    assert '- "notes", 1 documents (1 .md)' in said
    assert SMALL.usage in said


def test_a_client_of_the_old_era_is_told_once_of_each_change(server: DocumentServer) -> None:
    heard: list[str] = []
    told = anyio.Event()

    async def hear(message: Any) -> None:
        heard.append(message.method)
        told.set()

    async def main() -> None:
        async with Client(server, mode="legacy", message_handler=hear) as client:
            await client.call_tool("echo", {"word": "zebra"})
            await server.notify_changed()
            await told.wait()
            await client.call_tool("echo", {"word": "zebra"})
        assert heard == ["notifications/resources/list_changed"]

    within(main)


def test_a_client_of_the_new_era_is_told_when_it_listens(server: DocumentServer) -> None:
    async def main() -> None:
        async with (
            Client(server) as client,
            client.listen(resources_list_changed=True) as subscription,
        ):
            await server.notify_changed()
            event = await anext(aiter(subscription))
        assert type(event).__name__ == "ResourcesListChanged"

    within(main)


def test_what_is_only_callable_is_not_listed(calls: Calls) -> None:
    async def main() -> None:
        async with Client(DocumentServer(calls, OFFERED)) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == [tool.name for tool in SMALL.tools]

    within(main)


@ERAS
def test_document_names_are_completed(server: DocumentServer, era: str) -> None:
    async def main() -> None:
        async with Client(server, mode=era) as client:
            (template,) = (await client.list_resource_templates()).resource_templates
            ref = ResourceTemplateReference(uri=template.uri_template)
            found = await client.complete(ref, {"name": "path", "value": "ze"})
            assert found.completion.model_dump(exclude_none=True) == {
                "values": ["zebra.md"],
                "total": 1,
                "has_more": False,
            }
            with pytest.raises(MCPError) as caught:
                await client.complete(PromptReference(name="x"), {"name": "path", "value": "ze"})
        assert caught.value.code == -32602

    within(main)
