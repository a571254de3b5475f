"""Speaks to the MCP SDK: what is asked and answered, as the types and sessions of both eras.

Sessions over HTTP and the client's own model have files beside this one; no other knows the SDK.
What is answered comes from `methods.py`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import anyio
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.runner import serve_dual_era_loop
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.subscriptions import ListenHandler, ResourcesListChanged, ServerEvent
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError
from starlette.types import ASGIApp

from bookwheel import __version__
from bookwheel.contracts.completions import MOST_COMPLETIONS
from bookwheel.contracts.dispatch import Offered
from bookwheel.contracts.resources import NoResource
from bookwheel.contracts.tool import INVALID_PARAMS, RpcError, Tool
from bookwheel.contracts.work import Asked, Report
from bookwheel.serve.callers import CURRENT, Caller
from bookwheel.serve.calls import Calls, Hearing
from bookwheel.serve.envelope import INVALID_REQUEST, Message, Refusal
from bookwheel.serve.mcp_sampling import make_sample, write_request
from bookwheel.serve.mcp_sessions import Sessions
from bookwheel.serve.methods import ACCOUNTED, Methods, explain_params, one_word
from bookwheel.serve.sampling import MODEL
from bookwheel.serve.sights import Sights, Subscribers
from bookwheel.telemetry.logs import fields

log = logging.getLogger(__name__)

TOOLS_FRESH_MS = 300_000
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
        self.methods = Methods(calls, offered)
        self._bus = Subscribers[ServerEvent]()
        self._listen = ListenHandler(self._bus)
        self._connections: WeakKeyDictionary[Connection, Caller] = WeakKeyDictionary()
        self._sights = Sights(calls)
        has_resources = self.methods.has_resources
        super().__init__(
            "bookwheel",
            version=__version__,
            title="Bookwheel",
            cache_hints={"tools/list": CacheHint(TOOLS_FRESH_MS, "public")},
            get_tool_input_schema=self.methods.find_schema,
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
    def instructions(self) -> str | None:
        """What a model is told, as the library is now."""
        return self.methods.instructions()

    @instructions.setter
    def instructions(self, _: str | None) -> None:
        """Leave the SDK's fixed text out."""

    def get_capabilities(self, *args: Any, **named: Any) -> types.ServerCapabilities:
        """Say the same in both eras: tools never change, the list of resources does."""
        made = super().get_capabilities(*args, **named)
        made.tools = types.ToolsCapability()
        if made.resources is not None:
            made.resources = types.ResourcesCapability(subscribe=False, list_changed=True)
        return made

    # Tools and resources

    async def _list_tools(self, _: Context, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_describe(tool) for tool in self.methods.list_tools()])

    async def _call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        sample = make_sample(ctx, params, self.methods.patience)
        hearing = Hearing(_make_report(ctx), sample)
        try:
            with _errors_of_the_protocol():
                reply = await self.methods.call_tool(params.name, params.arguments or {}, hearing)
        except Asked as asked:
            request = write_request(asked.messages, asked.max_tokens)
            return types.InputRequiredResult(input_requests={MODEL: request})
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=reply.text)],
            structured_content=reply.structured,
            is_error=reply.is_error,
        )

    async def _list_resources(
        self, _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        with _errors_of_the_protocol():
            page = await self.methods.list_resources(params.cursor if params else None)
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
            made = await self.methods.describe_template()
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
        with _errors_of_the_protocol(ctx.protocol_version):
            found = await self.methods.read_resource(str(params.uri))
        content = types.TextResourceContents(uri=found.uri, mime_type=found.mime, text=found.text)
        return types.ReadResourceResult(contents=[content])

    async def _complete(
        self, _: Context, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        template = params.ref.uri if isinstance(params.ref, types.ResourceTemplateReference) else ""
        asked, known = params.argument, params.context.arguments if params.context else None
        with _errors_of_the_protocol():
            found = await self.methods.complete(template, asked.name, asked.value, known or {})
        values = found[:MOST_COMPLETIONS]
        return types.CompleteResult(
            completion=types.Completion(
                values=values, total=len(found), has_more=len(found) > len(values)
            )
        )

    # Errors and changes

    async def _mask_defects(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Let no text of a defect out: it is logged under a reference that the client gets."""
        method, outcome = one_word(ctx.method), "cancelled"
        has_line = method in ACCOUNTED
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
            raise MCPError(INVALID_PARAMS, explain_params(method, error)) from None
        except Exception as error:  # noqa: BLE001 - the SDK would send the text of any error
            masked = self.methods.mask(error, method)
            outcome = f"error {masked.code}"
            raise MCPError(masked.code, masked.message, masked.data) from None
        finally:
            if ctx.request_id is not None and not has_line:
                log.info("%s %s", method, outcome, extra=fields(method=method, outcome=outcome))

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

    def make_endpoints(self) -> tuple[Endpoint, Endpoint]:
        """Return the way in for full clients, and that for plain requests without a session."""
        full = Sessions(self, self.methods.answer_call)
        plain = StreamableHTTPSessionManager(self, json_response=True, stateless=True)
        return Endpoint(full.run, full.handle_request), Endpoint(plain.run, plain.handle_request)


def is_modern(version: str | None) -> bool:
    """Tell whether a protocol version, as a header names it, is of the era without sessions."""
    return version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS


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
