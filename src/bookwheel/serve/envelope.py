"""Reading one JSON-RPC message: what it is, or the error that answers it."""

from __future__ import annotations

import json
import re
from difflib import get_close_matches
from typing import Any, NamedTuple

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601

METHODS = (
    *("initialize", "ping", "server/discover", "subscriptions/listen", "logging/setLevel"),
    *("tools/list", "tools/call", "resources/list", "resources/read", "resources/templates/list"),
    *("resources/subscribe", "resources/unsubscribe", "prompts/list", "prompts/get"),
    *("completion/complete", "tasks/list", "tasks/get", "tasks/result", "tasks/cancel"),
)
"""What a client may ask for by the protocol, of either era; not all of it is offered here."""
_LONGEST_METHOD = 100
RequestId = str | int
_PARTS_OF_A_CALL = frozenset(("name", "arguments", "_meta"))
_HALF = re.compile("[\ud800-\udfff]")


class PlainCall(NamedTuple):
    """A call of a tool, of which only its name and arguments matter."""

    id: RequestId
    name: str
    arguments: dict[str, Any]


class Message(NamedTuple):
    """A message whose envelope is sound."""

    body: dict[str, Any]
    mended: bytes | None = None
    """The message written anew, where halves of characters stood in it that nobody can write."""

    @property
    def id(self) -> RequestId | None:
        """The id of a request; a notification and a response have none."""
        return self.body.get("id") if "method" in self.body else None

    @property
    def method(self) -> str | None:
        return self.body.get("method")

    def as_plain_call(self) -> PlainCall | None:
        """Return the call that it is, if it is one whose parts are all as they should be."""
        params = self.body.get("params")
        if self.method != "tools/call" or self.id is None or not isinstance(params, dict):
            return None
        name, arguments = params.get("name"), params.get("arguments", {})
        are_sound = isinstance(arguments, dict) and isinstance(params.get("_meta", {}), dict)
        if not (isinstance(name, str) and are_sound and params.keys() <= _PARTS_OF_A_CALL):
            return None
        return PlainCall(self.id, name, arguments)


class Refusal(NamedTuple):
    """What is wrong with a message, for whoever sent it."""

    code: int
    message: str
    id: RequestId | None = None
    data: dict[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        return {"jsonrpc": "2.0", "id": self.id, "error": error}

    def written(self) -> bytes:
        """Return it as it goes out."""
        return json.dumps(self.as_json()).encode()


def read_message(raw: bytes) -> Message | Refusal:
    """Read a message, or say what is wrong with it."""
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_refuse_constant)
        mended = _mend(value) if b"\\ud" in raw or b"\\uD" in raw else None
        if mended is not None and _has_half_an_id(value):
            raise ValueError("nobody could be answered under this id")
        value = value if mended is None else json.loads(mended)
    except (ValueError, RecursionError):  # UnicodeError and JSONDecodeError are ValueErrors
        return Refusal(PARSE_ERROR, "Parse error: this is not JSON in UTF-8.")
    if isinstance(value, list):
        return Refusal(INVALID_REQUEST, "Invalid request: send one message at a time, no batch.")
    if not isinstance(value, dict):
        return Refusal(INVALID_REQUEST, "Invalid request: a message is a JSON object.")
    wrong = _find_fault(value)
    return (
        Refusal(INVALID_REQUEST, f"Invalid request: {wrong}.", _read_id(value))
        if wrong
        else Message(value, mended)
    )


def find_misnamed(message: Message) -> Refusal | None:
    """Answer a request whose method nobody has, if a name is near or it is too long to repeat."""
    method = message.method
    if message.id is None or method is None or method in METHODS:
        return None
    shown = method[:_LONGEST_METHOD]
    near = get_close_matches(shown, METHODS, n=1, cutoff=0.75)
    if not near and shown == method:
        return None
    hint = f". Did you mean '{near[0]}'?" if near else ""
    return Refusal(METHOD_NOT_FOUND, f"Method not found{hint}", message.id, {"method": shown})


def _mend(value: Any) -> bytes | None:
    """Write a value with signs that say so for halves of characters; None where there are none."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    mended = _HALF.sub("\ufffd", text)
    return mended.encode("utf-8") if mended != text else None


def _has_half_an_id(value: Any) -> bool:
    stated = value.get("id") if isinstance(value, dict) else None
    return isinstance(stated, str) and _HALF.search(stated) is not None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _read_id(value: dict[str, Any]) -> RequestId | None:
    found = value.get("id")
    return found if isinstance(found, (str, int)) and not isinstance(found, bool) else None


def _find_fault(value: dict[str, Any]) -> str | None:
    if value.get("jsonrpc") != "2.0":
        return "'jsonrpc' must be \"2.0\""
    is_failure = "error" in value and "method" not in value  # of which the id may not be known
    if "id" in value and _read_id(value) is None and not is_failure:
        return "'id' must be a string or a whole number"
    if "method" not in value:
        return _find_fault_of_response(value)
    if not isinstance(value["method"], str):
        return "'method' must be a string"
    if not isinstance(value.get("params", {}), dict):
        return "'params' must be an object"
    return None


def _find_fault_of_response(value: dict[str, Any]) -> str | None:
    if "id" not in value or ("result" in value) == ("error" in value):
        return "'method' is missing"
    part = value["result"] if "result" in value else value["error"]
    return None if isinstance(part, dict) else "a response must hold an object"
