"""Speaks to the MCP SDK, with mcp_sampling and mcp_sessions: contracts in, both eras out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from functools import partial
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import anyio
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.runner import serve_dual_era_loop
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.subscriptions import ListenHandler, ResourcesListChanged, ServerEvent
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError
from pydantic_core import to_json
from starlette.types import ASGIApp

from bookwheel import __version__
from bookwheel.contracts.completions import MOST_COMPLETIONS, complete, describe_template
from bookwheel.contracts.dispatch import Offered, mask
from bookwheel.contracts.resources import NoResource, list_resources, read_resource
from bookwheel.contracts.tool import INTERNAL_ERROR, INVALID_PARAMS, RpcError, Tool
from bookwheel.contracts.work import Asked, Report
from bookwheel.serve.callers import CURRENT, Caller
from bookwheel.serve.calls import UNHEARD, Calls, Hearing
from bookwheel.serve.envelope import INVALID_REQUEST, Message, PlainCall, Refusal
from bookwheel.serve.instructions import write_instructions
from bookwheel.serve.mcp_sampling import ask_again, make_sample
from bookwheel.serve.mcp_sessions import Sessions
from bookwheel.serve.sights import Sights
from bookwheel.telemetry.logs import fields

log = logging.getLogger(__name__)

TOOLS_FRESH_MS = 300_000
MOST_SESSIONS = 1000
"""Sessions at one address, some 36 kB each; those that rest for half an hour are ended."""
_NOTIFY_SECONDS = 2.0
LAST_WRITE_SECONDS = 1.0
"""How long a client that is leaving may take to read the last answers."""
_MALFORMED = "Invalid request: this is no message of the protocol."
_OLD_NOT_FOUND = -32002
"""What revisions with a handshake call a resource that is not there."""

Context = ServerRequestContext[Any, Any]


class Endpoint(NamedTuple):
    """One way into a server over HTTP: to be entered once, then called."""

    run: Callable[[], AbstractAsyncContextManager[None]]
    app: ASGIApp


class DocumentServer(Server[dict[str, Any]]):
    """Serves what is offered of a library's contracts, and tells clients when documents change."""

    def __init__(self, calls: Calls, offered: Offered) -> None:
        self._calls = calls
        self._offered = offered
        self._bus = _Subscribers()
        self._listen = ListenHandler(self._bus)
        self._connections: WeakKeyDictionary[Connection, Caller] = WeakKeyDictionary()
        self._sights = Sights(calls)
        has_resources = any(contract.resources for contract in offered.listed)
        super().__init__(
            "bookwheel",
            version=__version__,
            title="Bookwheel",
            cache_hints={"tools/list": CacheHint(TOOLS_FRESH_MS, "public")},
            get_tool_input_schema=partial(_find_schema, _by_name(offered)),
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources if has_resources else None,
            on_list_resource_templates=self._list_templates if has_resources else None,
            on_read_resource=self._read_resource if has_resources else None,
            on_subscriptions_listen=self._subscribe if has_resources else None,
            on_completion=self._complete if has_resources else None,
        )
        self.middleware = [self._mask_defects, self._remember_session]

    @property
    def waiting(self) -> frozenset[str]:
        """The tools that may ask their client something before they answer."""
        return self._offered.waiting()

    @property
    def instructions(self) -> str | None:
        """What a model is told, as the library is now."""
        return write_instructions(self._calls.view(), self._offered)

    @instructions.setter
    def instructions(self, _: str | None) -> None:
        """Leave the SDK's fixed text out."""

    def get_capabilities(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
        *,
        protocol_version: str | None = None,
    ) -> types.ServerCapabilities:
        """Say the same in both eras: tools never change, the list of resources does."""
        made = super().get_capabilities(
            notification_options,
            experimental_capabilities,
            extensions,
            protocol_version=protocol_version,
        )
        made.tools = types.ToolsCapability()
        if made.resources is not None:
            made.resources = types.ResourcesCapability(subscribe=False, list_changed=True)
        return made

    # Tools and resources

    async def _list_tools(self, _: Context, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_describe(tool) for tool in self._offered.tools()])

    async def _call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        timeout = self._calls.library.settings["llm_timeout"]
        hearing = Hearing(_make_report(ctx), make_sample(ctx, params, timeout))
        arguments = params.arguments or {}
        try:
            with _errors_of_the_protocol():
                reply = await self._calls.call_tool(self._offered, params.name, arguments, hearing)
        except Asked as asked:
            return ask_again(asked)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=reply.text)],
            structured_content=reply.structured,
            is_error=reply.is_error,
        )

    async def _list_resources(
        self, _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        cursor = params.cursor if params else None
        with _errors_of_the_protocol():
            page = await self._calls.read(
                "resources/list", {}, lambda library: list_resources(library, cursor)
            )
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=each.uri,
                    name=each.name,
                    title=each.title,
                    description=each.description,
                    mime_type=each.mime,
                )
                for each in page.entries
            ],
            next_cursor=page.next_cursor,
        )

    async def _list_templates(self, _: Context, __: Any) -> types.ListResourceTemplatesResult:
        with _errors_of_the_protocol():
            made = await self._calls.read("resources/templates/list", {}, describe_template)
        template = types.ResourceTemplate(
            uri_template=made.uri_template,
            name="document",
            title=made.title,
            description="As resources/list and the tools give it.",
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def _read_resource(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        address = str(params.uri)
        with _errors_of_the_protocol(ctx.protocol_version):
            found = await self._calls.read(
                "resources/read",
                {"uri": address},
                lambda library: read_resource(library, address),
            )
        content = types.TextResourceContents(uri=found.uri, mime_type=found.mime, text=found.text)
        return types.ReadResourceResult(contents=[content])

    async def _complete(
        self, _: Context, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        template = params.ref.uri if isinstance(params.ref, types.ResourceTemplateReference) else ""
        asked, known = params.argument, params.context.arguments if params.context else None
        with _errors_of_the_protocol():
            found = await self._calls.read(
                "completion/complete",
                {"argument": asked.name, "value": asked.value},
                lambda library: complete(library, template, asked.name, asked.value, known or {}),
            )
        values = found[:MOST_COMPLETIONS]
        return types.CompleteResult(
            completion=types.Completion(
                values=values, total=len(found), has_more=len(found) > len(values)
            )
        )

    # Errors and changes

    async def _mask_defects(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Let no text of a defect out: it is logged under a reference that the client gets."""
        method, outcome = _one_word(ctx.method), "cancelled"
        has_line = method in _WITH_LINE
        try:
            result = await call_next(ctx)
            outcome = "ok"
            return result
        except MCPError as error:
            outcome = f"error {error.code}"
            has_line = has_line and isinstance(error, _Answered)
            raise
        except ValidationError as error:
            outcome, has_line = f"error {INVALID_PARAMS}", False
            raise MCPError(INVALID_PARAMS, _explain(method, error)) from None
        except Exception as error:  # noqa: BLE001 - the SDK would send the text of any error
            masked = self._mask(error, method)
            outcome = f"error {masked.code}"
            raise MCPError(masked.code, masked.message, masked.data) from None
        finally:
            if ctx.request_id is not None and not has_line:
                log.info("%s %s", method, outcome, extra=fields(method=method, outcome=outcome))

    def _mask(self, error: Exception, method: str) -> RpcError:
        masked = mask(error, method, debug=self._calls.library.settings["debug"])
        data = {"details": masked.details} if masked.details else None
        return RpcError(INTERNAL_ERROR, masked.message, data)

    async def _remember_session(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Keep who finished a handshake, once each: only those are told unasked."""
        if ctx.method == "notifications/initialized":
            # The SDK gives no public way from a message to its connection.
            connection = ctx.session._connection
            if connection.has_standalone_channel:
                await self._sights.begin(CURRENT.get())
                self._connections[connection] = CURRENT.get()
        return await call_next(ctx)

    async def _subscribe(
        self, ctx: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        await self._sights.begin(CURRENT.get())
        return await self._listen(ctx, params)

    async def notify_changed(self) -> None:
        """Tell every client that may see what changed that the list of resources did."""
        if "resources/list" not in self._request_handlers:
            return
        connections = list(self._connections.items())
        callers = [*self._bus.callers(), *(caller for _, caller in connections)]
        concerned = await self._sights.concerned(callers)
        self._bus.tell(ResourcesListChanged(), concerned)
        async with anyio.create_task_group() as tasks:
            for connection, caller in connections:
                if caller.roots in concerned:
                    tasks.start_soon(_notify, connection)

    # Ways in

    async def serve_messages(
        self, incoming: AsyncIterator[Message], write: Callable[[dict[str, Any]], Awaitable[None]]
    ) -> None:
        """Serve one client whose messages arrive one by one, until there are no more."""
        to_server, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write_stream, from_server = anyio.create_memory_object_stream[SessionMessage](0)

        async def feed() -> None:
            async with to_server:
                async for message in incoming:
                    try:
                        made = types.jsonrpc_message_adapter.validate_python(message.body)
                    except ValidationError:
                        await write(Refusal(INVALID_REQUEST, _MALFORMED, message.id).as_json())
                        continue
                    await to_server.send(SessionMessage(made))

        async def drain() -> None:
            async with from_server:
                async for answer in from_server:
                    await write(answer.message.model_dump(by_alias=True, exclude_unset=True))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(feed)
            tasks.start_soon(drain)
            await serve_dual_era_loop(self, read_stream, write_stream, lifespan_state={})
            tasks.cancel_scope.deadline = anyio.current_time() + LAST_WRITE_SECONDS

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
            masked = self._mask(error, "tools/call")
            return Refusal(masked.code, masked.message, call.id, masked.data).written()
        return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (to_json(call.id), reply.as_result())

    def make_endpoints(self) -> tuple[Endpoint, Endpoint]:
        """Return the way in for full clients, and that for plain requests without a session."""
        full = Sessions(self, self.answer_call, max_sessions=MOST_SESSIONS)
        plain = StreamableHTTPSessionManager(self, json_response=True, stateless=True)
        return Endpoint(full.run, full.handle_request), Endpoint(plain.run, plain.handle_request)


class _Subscribers:
    """Clients of the era without sessions that listen, each with who it is."""

    def __init__(self) -> None:
        self._listeners: dict[object, tuple[Caller, Callable[[ServerEvent], None]]] = {}

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        key = object()
        self._listeners[key] = (CURRENT.get(), listener)
        return lambda: self._listeners.pop(key, None) and None

    async def publish(self, event: ServerEvent) -> None:
        """Tell everyone; the SDK's own way, which we do not use."""
        self.tell(event, {caller.roots for caller in self.callers()})

    def callers(self) -> list[Caller]:
        return [caller for caller, _ in self._listeners.values()]

    def tell(self, event: ServerEvent, concerned: set[tuple[str, ...]]) -> None:
        for caller, listener in list(self._listeners.values()):
            if caller.roots in concerned:
                listener(event)


def is_modern(version: str | None) -> bool:
    """Tell whether a protocol version, as a header names it, is of the era without sessions."""
    return version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS


def _one_word(method: str) -> str:
    """Return a method as it may stand in a log, whatever a client wrote."""
    return method if method.isprintable() and len(method) <= 64 else "(unprintable)"


def _explain(method: str, error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    places = dict.fromkeys(".".join(map(str, problem["loc"])) or "params" for problem in problems)
    return f"Invalid params of {method}: {', '.join(list(places)[:5])} missing or of a wrong type."


_WITH_LINE = (
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "completion/complete",
)
"""Methods whose calls are accounted for, and so have a line in the log already."""


class _Answered(MCPError):
    """An error that one of our own tools or methods answered with."""


@contextmanager
def _errors_of_the_protocol(version: str | None = None) -> Iterator[None]:
    """Raise our errors as the SDK's, as a revision has them."""
    try:
        yield
    except RpcError as error:
        is_old = isinstance(error, NoResource) and not is_modern(version)
        code = _OLD_NOT_FOUND if is_old else error.code
        raise _Answered(code, error.message, error.data) from None


def _make_report(ctx: Context) -> Report | None:
    """Return how a thread tells a client its progress; None where a client of HTTP did not ask."""
    if ctx.request is not None and (ctx.meta or {}).get("progress_token") is None:
        return None
    loop = asyncio.get_running_loop()

    async def send(done: float, total: float, message: str) -> None:
        with anyio.move_on_after(_NOTIFY_SECONDS):  # a client that does not read gets none
            await ctx.session.report_progress(done, total, message)

    def report(done: float, total: float, message: str) -> None:
        asyncio.run_coroutine_threadsafe(send(done, total, message), loop).result()

    return report


async def _notify(connection: Connection) -> None:
    # A client that does not read must not keep the others waiting.
    with anyio.move_on_after(_NOTIFY_SECONDS):
        await connection.send_resource_list_changed()


def _describe(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema(),
        output_schema=tool.output_schema(),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=tool.waits,
        ),
    )


def _by_name(offered: Offered) -> dict[str, Tool]:
    return {tool.name: tool for contract in offered.callable for tool in contract.tools}


def _find_schema(tools: dict[str, Tool], name: str) -> Mapping[str, Any] | None:
    return tools[name].input_schema() if name in tools else None
