"""The toolset `conformance`: what the official suites expect a server to have, as far as ours can.

The names and texts are the suites' own. Only tests serve it.
"""

from __future__ import annotations

from typing import Any

import mcp_types as types

from bookwheel.contracts.dispatch import Offered
from bookwheel.contracts.tool import Arguments, Contract, Reply, Tool
from bookwheel.contracts.work import Work
from bookwheel.errors import BookwheelError
from bookwheel.serve.calls import Calls
from bookwheel.serve.mcp import Context, DocumentServer

EVERY_KEYWORD = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
IN_A_HEADER = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    "required": ["region"],
}


class Nothing(Arguments):
    """No arguments."""


class Region(Arguments):
    """An argument that clients repeat in a header."""

    region: str


class KeywordTool(Tool):
    """A tool whose schema holds every keyword there is, which no model of ours would give."""

    def input_schema(self) -> dict[str, Any]:
        return EVERY_KEYWORD


class HeaderTool(Tool):
    """A tool whose argument is repeated in a header."""

    def input_schema(self) -> dict[str, Any]:
        return IN_A_HEADER


def say(text: str) -> Any:
    """Return what runs a tool that always says the same."""
    return lambda _, __: Reply(text)


def fail(_: Work, __: Nothing) -> Reply:
    return Reply("This tool intentionally returns an error for testing", is_error=True)


def advance(work: Work, _: Nothing) -> Reply:
    for done in (1, 50, 100):
        work.advance(done, 100, f"Completed step {done} of 100")
    return Reply("Done.")


def shape_error(error: BookwheelError, _: dict[str, Any]) -> Reply:
    return Reply(error.message, is_error=True)


TEXT = "This is a simple text response for testing."
CONFORMANCE = Contract(
    "conformance",
    (
        Tool("test_simple_text", "Text", "Say a text.", Nothing, say(TEXT)),
        Tool("test_error_handling", "Error", "Fail.", Nothing, fail),
        Tool("test_tool_with_progress", "Progress", "Tell the progress.", Nothing, advance),
        Tool("test_streaming_elicitation", "Stream", "Tell the progress.", Nothing, advance),
        Tool("test_logging_tool", "Quiet", "Log nothing to the client.", Nothing, say("Quiet.")),
        KeywordTool("json_schema_2020_12_tool", "Keywords", "Any.", Nothing, say("Any.")),
        HeaderTool("test_custom_headers", "Header", "Take a header.", Region, say("Taken.")),
    ),
    shape_error,
    resources=True,
)

DOCUMENTS = {
    "static-text.md": "This is the content of the static text resource.\n",
    "template-123.md": "Data for ID: 123\n",
}
ADDRESSES = {
    "test://static-text": "docs://static-text.md",
    "test://template/123/data": "docs://template-123.md",
}


class FixtureServer(DocumentServer):
    """Our server, which takes the suites' addresses for those of documents of ours.

    There are no prompts, so what the suites complete for one is completed for an address.
    """

    def __init__(self, calls: Calls) -> None:
        super().__init__(calls, Offered(listed=(CONFORMANCE,), callable=(CONFORMANCE,)))

    async def _read_resource(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        address = ADDRESSES.get(str(params.uri), str(params.uri))
        return await super()._read_resource(ctx, params.model_copy(update={"uri": address}))

    async def _complete(
        self, ctx: Context, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        template = types.ResourceTemplateReference(type="ref/resource", uri="docs://{+path}")
        argument = types.CompletionArgument(name="path", value=params.argument.value)
        changed = {"ref": template, "argument": argument}
        return await super()._complete(ctx, params.model_copy(update=changed))
