"""The log on standard error: lines for people, or one JSON object a line for collectors."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from bookwheel.telemetry.calls import EndedCall

_TEXT = "bookwheel: %(message)s"
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
_NOISY = ("mcp", "uvicorn", "watchfiles")
_OWN = "bookwheel_fields"
"""The attribute of a log record that holds what a line says besides its message."""

Hide = Callable[[str], str]
"""Returns a text without what must not be seen."""

log = logging.getLogger(__name__)


def set_up_logs(format: str, hide: Hide = str) -> None:
    """Send the log to standard error, as text or as JSON; also in processes of the server's.

    Whatever it is told passes through `hide`: names and texts of documents may be among it.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(_JsonLines(hide) if format == "json" else _Lines(hide))
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
    for noisy in _NOISY:
        logging.getLogger(noisy).setLevel(logging.WARNING)


def fields(**named: Any) -> dict[str, Any]:
    """Return the `extra` of a log call that gives a JSON line fields of its own."""
    return {_OWN: named}


def log_call(call: EndedCall) -> None:
    """Log a call: what was called, how it ended, with how many results, and how long it took."""
    milliseconds = call.seconds * 1000
    method = "tools/call" if call.is_of_tool else call.tool
    counted = "" if call.results is None else f" results={call.results}"
    log.info(
        "%s %s%s %.0f ms",
        f"{method} {call.tool}" if call.is_of_tool else method,
        call.outcome,
        counted,
        milliseconds,
        extra=fields(
            method=method,
            **({"tool": call.tool} if call.is_of_tool else {}),
            outcome=call.outcome,
            results=call.results,
            ms=round(milliseconds, 1),
        ),
    )


class _Lines(logging.Formatter):
    """Lines for people; what a client wrote can neither begin a line nor steer a terminal."""

    def __init__(self, hide: Hide) -> None:
        super().__init__(_TEXT)
        self._hide = hide

    def format(self, record: logging.LogRecord) -> str:
        record.message = self._hide(record.getMessage())
        line = _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", self.formatMessage(record))
        if record.exc_info:
            line = f"{line}\n{self._hide(self.formatException(record.exc_info))}"
        return line


class _JsonLines(logging.Formatter):
    """One object a line."""

    def __init__(self, hide: Hide) -> None:
        super().__init__()
        self._hide = hide

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC)
        made = {
            "time": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": self._hide(record.getMessage()),
            **{name: self._shown(value) for name, value in getattr(record, _OWN, {}).items()},
        }
        if record.exc_info:
            made["exception"] = self._hide(self.formatException(record.exc_info))
        return json.dumps(made, default=str)

    def _shown(self, value: Any) -> Any:
        return value if isinstance(value, int | float | None) else self._hide(str(value))
