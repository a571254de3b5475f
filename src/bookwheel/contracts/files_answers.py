"""What the answers of the `files` tools are made of: their fields, version, and errors."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import to_json

from bookwheel.contracts.tool import Reply
from bookwheel.errors import BookwheelError
from bookwheel.model import Redact
from bookwheel.query import Scope, SearchHit
from bookwheel.safety.finding import redact_text
from bookwheel.safety.redact import make_safe
from bookwheel.text.cut import ELLIPSIS, head_of
from bookwheel.view import View

VERSION: Final = "v1.0.0"
LONGEST_SNIPPET = 2048
"""Bytes of UTF-8."""
_SCOPE = Scope(redact=Redact.ALL, previews=True)
_HINTS = {
    "BAD_REQUEST": "Compare the arguments with the schema of the tool.",
    "FORBIDDEN": "listRoots names the folders that may be looked into.",
    "NOT_FOUND": "searchFiles finds files and names their paths.",
    "CONFLICT": "Ask again when the other work is done.",
    "RATE_LIMITED": "Ask again in a while.",
    "LLM_UPSTREAM": "Ask the operator about the language model.",
    "INTERNAL_ERROR": "The operator finds the reference, if there is one, in the server's log.",
}
"""What to do about each of the codes that there are, where an error does not say it itself."""


def shown(library: View) -> View:
    """Return what clients of this toolset may see: previews, redacted."""
    return library.view(_SCOPE)


def _allow_error(schema: dict[str, Any]) -> None:
    """Let either the answer's own fields be required, or the error."""
    own = schema.pop("required", [])
    schema["required"] = ["mcp_version"]
    schema["anyOf"] = [{"required": own}, {"required": ["error"]}]


class ErrorDetails(BaseModel):
    """More about an error."""

    model_config = ConfigDict(extra="allow")

    hint: str


class ErrorBody(BaseModel):
    """What went wrong."""

    code: Literal[
        "FORBIDDEN",
        "BAD_REQUEST",
        "NOT_FOUND",
        "CONFLICT",
        "RATE_LIMITED",
        "INTERNAL_ERROR",
        "LLM_UPSTREAM",
    ]
    message: str
    details: ErrorDetails


class Answer(BaseModel):
    """What every answer of this toolset has."""

    model_config = ConfigDict(json_schema_extra=_allow_error)

    mcp_version: Literal["v1.0.0"] = VERSION
    error: ErrorBody | None = None


class Roots(Answer):
    """The answer of listRoots."""

    roots: list[str] = Field(description="Absolute paths of the folders that may be looked into")


class Item(BaseModel):
    """One file that was found."""

    path: str = Field(description="Absolute path")
    pointer: str = Field(description="Where in the file it was found; openFile takes it")
    snippet: str = Field(description="Text around the match, redacted")
    score: float = Field(ge=0, le=1)
    ext: str = Field(description="Extension in small letters, with its dot")
    modified: str = Field(description="When the file was changed last, in UTC")


class Pagination(BaseModel):
    """Which part of all results an answer holds."""

    offset: int
    returned: int
    total_estimate: int


class Found(Answer):
    """The answer of searchFiles."""

    items: list[Item]
    pagination: Pagination
    hint: str | None = Field(None, description="What comes near, where nothing was found")
    notes: list[str] | None = Field(
        None, description="How the query was understood, and what could not be searched"
    )


class Shown(Answer):
    """The answer of openFile."""

    path: str
    pointer: str
    preview: str = Field(description="Text of the file, redacted, of at most 2,048 bytes")
    truncated: bool = Field(description="Whether the file's text goes beyond the preview")


class TokensUsed(BaseModel):
    """How many tokens a model took, or about how many."""

    prompt: int = Field(ge=0)
    completion: int = Field(ge=0)


class Source(BaseModel):
    """What a number in a summary stands for."""

    ref: int = Field(ge=1, description="As [1] in the summary")
    path: str


class Summary(Answer):
    """The answer of summarizeResults."""

    summary: str
    tokens_used: TokensUsed
    sources: list[Source]
    notes: str | None = Field(None, description="What was left out")


class ReadFilters(BaseModel):
    """What a query says of files, as arguments of searchFiles."""

    exts: list[str]
    years: list[str]


class Rewritten(Answer):
    """The answer of rewriteQuery."""

    fts: str = Field(description="An expression that searchFiles takes as its query")
    filters: ReadFilters
    notes: str = Field(description="How the query was understood")


def reply_with(value: dict[str, Any], *, results: int = 1) -> Reply:
    """Answer an object."""
    made = value | {"mcp_version": VERSION}
    return Reply(to_json(made).decode(), made, results=results)


def shape_error(error: BookwheelError, _: dict[str, Any]) -> Reply:
    """Answer with an error of the toolset's own shape."""
    code = error.code if error.code in _HINTS else "INTERNAL_ERROR"
    told = {
        "code": code,
        "message": sayable(error.message),
        "details": {"hint": sayable(error.hint or _HINTS[code]), **error.facts},
    }
    made = {"error": told, "mcp_version": VERSION}
    return Reply(to_json(made).decode(), made, is_error=True)


def sayable(text: str) -> str:
    """Return a message as it may be sent, whatever of a caller's or a file's name stands in it."""
    return make_safe(redact_text(text.encode("utf-8", "replace").decode(), Redact.ALL))


def describe_hit(view: View, hit: SearchHit) -> dict[str, Any]:
    """Return one item of the results."""
    snippet = hit.snippet
    before = ELLIPSIS if snippet.cut_before or hit.chunk > 1 else ""
    after = ELLIPSIS if snippet.cut_after or hit.chunk < hit.chunks else ""
    room = LONGEST_SNIPPET - len(f"{before}{after}  ".encode())
    text = head_of(" ".join(snippet.text.split()), room)
    return {
        "path": view.absolute_path(hit.collection, hit.document),
        "pointer": hit.pointer or "line 1",
        "snippet": f"{before} {text} {after}".strip() if text else "",
        "score": hit.score,
        "ext": hit.extension.lower(),
        "modified": describe_time(hit.modified_ns),
    }


def describe_time(nanoseconds: int) -> str:
    """Return a moment as ISO 8601 has it, in UTC and whole seconds."""
    moment = datetime.fromtimestamp(nanoseconds // 1_000_000_000, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
