"""What each method of the protocol is answered with, whatever speaks the protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json

from bookwheel.contracts.completions import Template, complete, describe_template
from bookwheel.contracts.dispatch import Offered, mask
from bookwheel.contracts.resources import (
    ResourcePage,
    ResourceText,
    list_resources,
    read_resource,
)
from bookwheel.contracts.tool import INTERNAL_ERROR, Reply, RpcError, Tool
from bookwheel.serve.calls import UNHEARD, Calls, Hearing
from bookwheel.serve.envelope import Message, PlainCall, Refusal
from bookwheel.serve.instructions import write_instructions

ACCOUNTED = (
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "completion/complete",
)
"""Methods whose calls are accounted for, and so have a line in the log already."""


class Methods:
    """What is offered of a library's contracts, asked by whoever calls at present."""

    def __init__(self, calls: Calls, offered: Offered) -> None:
        self._calls = calls
        self._offered = offered
        self._tools = {tool.name: tool for each in offered.callable for tool in each.tools}
        self.has_resources = any(contract.resources for contract in offered.listed)
        self.waiting = offered.waiting()
        """The tools that may ask their client something before they answer."""
        self.patience: float = calls.library.settings["llm_timeout"]
        """How many seconds such a question may take."""

    def instructions(self) -> str:
        """Return what a model is told, as the library is now."""
        return write_instructions(self._calls.view(), self._offered)

    def list_tools(self) -> list[Tool]:
        """Return the tools that are shown."""
        return self._offered.tools()

    def find_schema(self, name: str) -> Mapping[str, Any] | None:
        """Return what the arguments of a tool must be; None where there is no such tool."""
        return self._tools[name].input_schema() if name in self._tools else None

    async def call_tool(self, name: str, arguments: dict[str, Any], hearing: Hearing) -> Reply:
        """Run a tool; RpcError where the answer is an error of the protocol."""
        return await self._calls.call_tool(self._offered, name, arguments, hearing)

    async def list_resources(self, cursor: str | None) -> ResourcePage:
        """Return a page of the documents."""
        return await self._calls.read(
            "resources/list", {}, lambda library: list_resources(library, cursor)
        )

    async def describe_template(self) -> Template:
        """Return how the addresses of documents are made."""
        return await self._calls.read("resources/templates/list", {}, describe_template)

    async def read_resource(self, address: str) -> ResourceText:
        """Return the document at an address; NoResource where there is none."""
        return await self._calls.read(
            "resources/read", {"uri": address}, lambda library: read_resource(library, address)
        )

    async def complete(
        self, template: str, name: str, value: str, known: Mapping[str, str]
    ) -> list[str]:
        """Return what a part of an address may be that begins like a value."""
        return await self._calls.read(
            "completion/complete",
            {"argument": name, "value": value},
            lambda library: complete(library, template, name, value, known),
        )

    async def refuse_at_once(self, message: Message) -> Refusal | None:
        """Answer a call for which there is no room; None where there is, or the answer is no error.

        The protocol costs more than to refuse, and a server that is full has no time for it.
        """
        if message.method != "tools/call" or not self._calls.is_full:
            return None
        params = message.body.get("params", {})
        name, arguments = params.get("name"), params.get("arguments", {})
        found = self._offered.find(name) if isinstance(name, str) else None
        if found is None or found[0].shows_codes or not isinstance(arguments, dict):
            return None
        try:
            await self._calls.call_tool(self._offered, name, arguments)
        except RpcError as error:
            return Refusal(error.code, error.message, message.id, error.data)
        return None

    async def answer_call(self, call: PlainCall) -> bytes:
        """Return the answer to a call that nobody follows, written as it goes out."""
        try:
            reply = await self._calls.call_tool(
                self._offered, call.name, call.arguments, UNHEARD._replace(written=True)
            )
        except RpcError as error:
            return Refusal(error.code, error.message, call.id, error.data).written()
        except Exception as error:  # noqa: BLE001 - a defect, of which no text may go out
            masked = self.mask(error, "tools/call")
            return Refusal(masked.code, masked.message, call.id, masked.data).written()
        return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (to_json(call.id), reply.as_result())

    def mask(self, error: Exception, method: str) -> RpcError:
        """Log a defect under a reference; return the error that says no more than this."""
        masked = mask(error, method, debug=self._calls.library.settings["debug"])
        data = {"details": masked.details} if masked.details else None
        return RpcError(INTERNAL_ERROR, masked.message, data)


def one_word(method: str) -> str:
    """Return a method as it may stand in a log, whatever a client wrote."""
    return method if method.isprintable() and len(method) <= 64 else "(unprintable)"


def explain_params(method: str, error: ValidationError) -> str:
    """Name the parameters of a method that are not as they should be."""
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    places = dict.fromkeys(".".join(map(str, problem["loc"])) or "params" for problem in problems)
    return f"Invalid params of {method}: {', '.join(list(places)[:5])} missing or of a wrong type."
