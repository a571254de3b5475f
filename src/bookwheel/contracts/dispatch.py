"""The one door for calls: find the tool, check its arguments, run it, shape what went wrong.

Nothing else in the product catches every exception; no internal text passes.
"""

from __future__ import annotations

import logging
import re
import traceback
import uuid
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from bookwheel.contracts.tool import (
    INVALID_PARAMS,
    TOO_OFTEN,
    Arguments,
    Contract,
    Reply,
    RpcError,
    Tool,
)
from bookwheel.contracts.work import Asked, Cancelled, Work
from bookwheel.errors import (
    BadRequest,
    BookwheelError,
    IndexDamaged,
    IndexUnreachable,
    IndexUnusable,
    Internal,
    NotFound,
    RateLimited,
    TimedOut,
)
from bookwheel.safety.stopping import Stopped, stopping_when

log = logging.getLogger(__name__)

_MOST_PROBLEMS = 5
_DEFECT = "Something went wrong inside"
_LONGEST_QUOTED = 100
"""So many characters of a wrong name are compared with others and quoted back."""


class Offered(NamedTuple):
    """Which contracts a client is shown, and which others it may call all the same."""

    listed: tuple[Contract, ...]
    callable: tuple[Contract, ...]
    elsewhere: tuple[Contract, ...] = ()
    """Known contracts that are not served here; a call to one says where it is."""
    choice: str | None = None
    """The names of toolsets that this was made from, for another process to make it again."""

    def tools(self) -> list[Tool]:
        return [tool for contract in self.listed for tool in contract.tools]

    def changes(self, name: str) -> bool:
        """Tell whether a tool that may be called here changes anything."""
        tools = (tool for contract in self.callable for tool in contract.tools)
        return any(tool.name == name and not tool.read_only for tool in tools)

    def waiting(self) -> frozenset[str]:
        """Return the names of the tools that may wait for somebody else."""
        every = (tool for contract in self.callable for tool in contract.tools)
        return frozenset(tool.name for tool in every if tool.waits)

    def find(self, name: str) -> tuple[Contract, Tool] | None:
        """Return the tool of a name that may be called here, and its contract."""
        for contract in self.callable:
            for tool in contract.tools:
                if tool.name == name:
                    return contract, tool
        return None


def call(work: Work, offered: Offered, name: str, arguments: dict[str, Any]) -> Reply:
    """Run a tool by name; raises RpcError where the answer is a JSON-RPC error."""
    contract, tool = _find(offered, name)
    if work.obstacle is not None:
        return _shape(contract, work.obstacle, arguments)
    with stopping_when(lambda: work.is_given_up):
        return _run(work, contract, tool, arguments)


def refuse(offered: Offered, name: str, arguments: dict[str, Any], error: BookwheelError) -> Reply:
    """Answer a call that is not even begun, or not waited for, as its toolset has it."""
    contract, _ = _find(offered, name)
    if isinstance(error, RateLimited) and not contract.shows_codes:
        raise RpcError(TOO_OFTEN, error.advice, {"retryAfter": error.retry_after})
    return _shape(contract, error, arguments)


def too_late(seconds: float) -> TimedOut:
    """Return the error for a call that took longer than it may."""
    return TimedOut(
        f"The call took longer than the {seconds:g} seconds that it may take.",
        hint="Ask for less at a time, or more exactly.",
    )


def _shape(contract: Contract, error: BookwheelError, arguments: dict[str, Any]) -> Reply:
    return contract.shape_error(error, arguments)._replace(code=error.code)


def _run(work: Work, contract: Contract, tool: Tool, arguments: dict[str, Any]) -> Reply:
    try:
        return tool.run(work, _parse(tool, arguments))
    except IndexUnusable as error:  # its message names files of the operator's
        return _shape(contract, mask(error, tool.name, debug=_debugs(work)), arguments)
    except NotFound as error:
        if work.remark:  # it may only not be there yet
            error.hint = f"{error.hint} {work.remark}" if error.hint else work.remark
        return _shape(contract, error, arguments)
    except BookwheelError as error:
        return _shape(contract, error, arguments)
    except Stopped:
        if work.seconds is None or not work.is_late:
            raise Cancelled from None
        return _shape(contract, too_late(work.seconds), arguments)
    except (RpcError, Asked):
        raise
    except Exception as error:  # noqa: BLE001 - the one place: whatever a defect says stays inside
        return _shape(contract, mask(error, tool.name, debug=_debugs(work)), arguments)


def _debugs(work: Work) -> bool:
    return bool(work.library.settings["debug"])


def _find(offered: Offered, name: str) -> tuple[Contract, Tool]:
    """Return a tool and its contract; RpcError, with where it is or what is near, without one."""
    found = offered.find(name)
    if found is not None:
        return found
    for contract in offered.elsewhere:
        if any(tool.name == name for tool in contract.tools):
            raise RpcError(
                INVALID_PARAMS,
                f"The tool {name!r} belongs to the toolset {contract.name!r}, which is not served "
                f"here. Start with --toolsets {contract.name}, or use /mcp/{contract.name}.",
                {"tool": name, "toolset": contract.name},
            )
    known = [tool.name for contract in offered.callable for tool in contract.tools]
    near = _near(name, known)
    hint = f" Did you mean {near!r}?" if near else f" There are {', '.join(known)}."
    short = name[:_LONGEST_QUOTED]
    raise RpcError(INVALID_PARAMS, f"There is no tool {short!r}.{hint}", {"tool": short})


def _parse(tool: Tool, arguments: dict[str, Any]) -> Arguments:
    try:
        return tool.arguments.model_validate(arguments)
    except ValidationError as error:
        hint = f"Example: {tool.example}" if tool.example else None
        raise BadRequest(_explain(tool, error), hint=hint) from None


def _explain(tool: Tool, error: ValidationError) -> str:
    """Name each wrong argument, what it must be, and the nearest name for an unknown one."""
    problems = error.errors(include_url=False)[:_MOST_PROBLEMS]
    return " ".join(_sentence(tool, problem) for problem in problems)


def _sentence(tool: Tool, problem: ErrorDetails) -> str:
    place = ".".join(str(part) for part in problem["loc"]) or "arguments"
    if problem["type"] == "extra_forbidden":
        known = _names_at(tool.input_schema(), problem["loc"][:-1])
        near = _near(problem["loc"][-1], known)
        rule = f"known are {', '.join(known)}." if known else "there are none."
        rule = f"did you mean '{near}'?" if near else rule
        return f"Unknown argument {place[:_LONGEST_QUOTED]!r}: {rule}"
    if problem["type"] == "missing":
        return f"Argument '{place}' is missing."
    message = problem["msg"].removeprefix("Value error, ").replace(" after validation", "")
    rule = message[:1].lower() + message[1:]
    if problem["type"] == "model_type":  # else it would name a class of ours
        rule = "input should be an object"
    if problem["type"] == "literal_error":
        near = _near(problem["input"], re.findall("'([^']*)'", problem["msg"]))
        rule += f" (did you mean '{near}'?)" if near else ""
    if bounds := _BOUNDS.get(problem["type"]):
        rule += _say_bounds(_schema_at(tool.input_schema(), problem["loc"]), *bounds)
    return f"Argument '{place}': {rule}."


def _names_at(schema: dict[str, Any], place: Sequence[int | str]) -> Sequence[str]:
    """Return the names that a schema knows at a place: inside a list, those of its items."""
    return list(_schema_at(schema, place).get("properties", {}))


def _schema_at(schema: dict[str, Any], place: Sequence[int | str]) -> dict[str, Any]:
    for part in place:
        schema = schema["items"] if isinstance(part, int) else schema["properties"][part]
    return schema


def _say_bounds(schema: dict[str, Any], least: str, most: str) -> str:
    """Say both bounds of an argument that is beyond one of them, where it has two."""
    kinds = [schema, *schema.get("anyOf", ())]
    both = next((kind for kind in kinds if least in kind and most in kind), None)
    return f" (from {both[least]:,} to {both[most]:,})" if both else ""


def _near(wanted: object, known: Sequence[str]) -> str | None:
    """Return the known name most like a wrong one."""
    found = get_close_matches(str(wanted)[:_LONGEST_QUOTED], known, n=1, cutoff=0.4)
    return found[0] if found else None


_NUMBER, _ITEMS, _LENGTH = (
    ("minimum", "maximum"),
    ("minItems", "maxItems"),
    ("minLength", "maxLength"),
)
_BOUNDS = {
    "greater_than_equal": _NUMBER,
    "less_than_equal": _NUMBER,
    "too_short": _ITEMS,
    "too_long": _ITEMS,
    "string_too_short": _LENGTH,
    "string_too_long": _LENGTH,
}
"""Where a schema tells the bounds of what is beyond one of them."""


def explain_unusable(error: Exception) -> tuple[str, str] | None:
    """Return what is said of an index that cannot be used now, and what to do; else None.

    Where it lies and what is wrong with it is the operator's affair.
    """
    if isinstance(error, IndexUnreachable):
        return (
            "The index is out of reach just now.",
            "Ask again in a little while; it comes back by itself.",
        )
    if isinstance(error, IndexDamaged):  # the disk's doing; whoever indexes makes it anew
        return (
            "The index is damaged and cannot be searched before it is made anew.",
            "Ask again in a little while.",
        )
    if isinstance(error, IndexUnusable):
        return "The index cannot be used just now.", "The server's log says why."
    return None


def mask(error: Exception, name: str, *, debug: bool) -> Internal:
    """Log what went wrong inside; return what may be said of it: more only while debugging."""
    unusable = explain_unusable(error)
    if unusable is not None:
        log.warning("%s failed: %s", name, error)
        return Internal(" ".join(unusable))
    reference = uuid.uuid4().hex[:12]
    log.error("defect %s in %s", reference, name, exc_info=error)
    details = "".join(traceback.format_exception(error)) if debug else ""
    return Internal(f"{_DEFECT} (reference {reference}).", details=details)
