"""What a contract is made of: arguments, tools, replies, and how its errors look."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema, to_json

from bookwheel.contracts.work import Work
from bookwheel.errors import BookwheelError


class Arguments(BaseModel):
    """The arguments of a tool; names are as the client writes them, unknown ones are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _refuse_flag(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("must be a whole number")
    return value


NOT_A_FLAG = BeforeValidator(_refuse_flag)
"""Stands last in the annotation of a number that true and false are not taken for."""


def _require_words(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text


NOT_BLANK = AfterValidator(_require_words)
"""Stands last in the annotation of a text that must say something."""


class Reply(NamedTuple):
    """What a tool answers: text, and perhaps the same as a JSON object."""

    text: str
    structured: dict[str, Any] | None = None
    is_error: bool = False
    results: int | None = None
    """How many results it holds, for the log."""
    code: str = ""
    """The code of the error that it tells of, for the log."""
    written: bytes = b""
    """All of it as a tool's result in JSON, where another process has written it already."""

    def as_result(self) -> bytes:
        """Return it as clients read it: the JSON of a tool's result."""
        if self.written:
            return self.written
        text, structured = to_json(self.text), b""
        if self.structured is not None:
            structured = b',"structuredContent":' + to_json(self.structured)
        ending = b"true}" if self.is_error else b"false}"
        return b'{"content":[{"type":"text","text":%b}]%b,"isError":%b' % (text, structured, ending)


class RpcError(Exception):
    """An answer that is a JSON-RPC error rather than a tool's result."""

    def __init__(self, code: int, message: str, data: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
TOO_OFTEN = -32000

Run = Callable[[Work, Any], Reply]
ShapeError = Callable[[BookwheelError, dict[str, Any]], Reply]
"""Turns an error into the contract's own answer, given the arguments; may raise RpcError."""


class Tool(NamedTuple):
    """One tool as clients see it, and the function that runs it."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    run: Run
    read_only: bool = True
    example: str = ""
    """Arguments as they may be given, shown with the error for wrong ones."""
    waits: bool = False
    """May wait for somebody else, such as a model: it must not hold up those that only read."""
    answer: type[BaseModel] | None = None
    """What a client may rely on in the answer's structured form; None promises nothing."""
    per_minute: int = 0
    """How often one client may call it, unless the operator says otherwise; 0: any number."""

    def input_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments, as plain as the contracts write it."""
        return make_schema(self.arguments)

    def output_schema(self) -> dict[str, Any] | None:
        """Return the JSON schema of the answer, where there is one."""
        return make_schema(self.answer) if self.answer else None


class Contract(NamedTuple):
    """One toolset."""

    name: str
    tools: tuple[Tool, ...]
    shape_error: ShapeError
    resources: bool = False
    usage: str = ""
    """In what order a model does best to use the tools."""
    shows_codes: bool = False
    """Whether its own errors carry their codes. Where they do not, a client that asks too often
    or too much at once gets a JSON-RPC error, which tells it so without being read."""


class _PlainSchema(GenerateJsonSchema):
    """Schemas without titles, and optional values without a null branch."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        made = super().default_schema(schema)
        if made.get("default", ...) is None:
            made.pop("default")
        return made


@cache
def make_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of a model with nested models written out where they stand.

    Made once, since clients may ask for it with every call; nobody changes it.
    """
    schema = model.model_json_schema(schema_generator=_PlainSchema)
    definitions = schema.pop("$defs", {})
    plain: dict[str, Any] = _inline(schema, definitions)
    plain.pop("title", None)
    plain.pop("description", None)
    return plain


def _inline(value: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_inline(item, definitions) for item in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        named = dict(definitions[value["$ref"].rsplit("/", 1)[-1]])
        named.pop("title", None)
        return _inline(named, definitions)
    return {
        key: _inline(item, definitions)
        for key, item in value.items()
        if not (key == "additionalProperties" and item is False)
    }
