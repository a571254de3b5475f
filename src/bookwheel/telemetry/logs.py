"""The log on standard error: lines for people, or one JSON object a line for collectors."""

from __future__ import annotations

import json
import logging
import re
from datetime import UTC, datetime
from typing import Any

from bookwheel.telemetry.calls import EndedCall

FORMATS = ("text", "json")
_TEXT = "bookwheel: %(message)s"
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
_NOISY = ("mcp", "uvicorn", "watchfiles")
_OWN = "bookwheel_fields"
"""The attribute of a log record that holds what a line says besides its message."""

log = logging.getLogger(__name__)


def set_up_logs(format: str) -> None:
    """Send the log to standard error, as text or as JSON; also in processes of the server's."""
    handler = logging.StreamHandler()
    handler.setFormatter(_JsonLines() if format == "json" else _Lines(_TEXT))
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
    for noisy in _NOISY:
        logging.getLogger(noisy).setLevel(logging.WARNING)


def fields(**named: Any) -> dict[str, Any]:
    """Return the `extra` of a log call that gives a JSON line fields of its own."""
    return {_OWN: named}


def log_call(call: EndedCall) -> None:
    """Log a call of a tool: what was called, how it ended, with how many results, and when."""
    milliseconds = call.seconds * 1000
    log.info(
        "tools/call %s %s results=%s %.0f ms",
        call.tool,
        call.outcome,
        call.results,
        milliseconds,
        extra=fields(
            method="tools/call",
            tool=call.tool,
            outcome=call.outcome,
            results=call.results,
            ms=round(milliseconds, 1),
        ),
    )


class _Lines(logging.Formatter):
    """Lines for people; what a client wrote can neither begin a line nor steer a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        line = self.formatMessage(_with_message(record))
        line = _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", line)
        if record.exc_info:
            line = f"{line}\n{self.formatException(record.exc_info)}"
        return line


class _JsonLines(logging.Formatter):
    """One object a line."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC)
        made = {
            "time": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, _OWN, {}),
        }
        if record.exc_info:
            made["exception"] = self.formatException(record.exc_info)
        return json.dumps(made, default=str)


def _with_message(record: logging.LogRecord) -> logging.LogRecord:
    record.message = record.getMessage()
    return record
