"""The connections of one HTTP request, which another thread can cut at any moment."""

from __future__ import annotations

import socket
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.request import BaseHandler, HTTPHandler, HTTPSHandler, Request


class Line:
    """Knows the sockets of a request from the moment that they are connected."""

    def __init__(self) -> None:
        self._sockets: list[socket.socket] = []
        self._is_cut = False

    def handlers(self) -> tuple[BaseHandler, ...]:
        """Return what opens connections for an opener."""
        return _Http(self), _Https(self)

    def cut(self) -> None:
        """End every connection: whoever reads from it or writes to it gets an error."""
        self._is_cut = True
        for each in self._sockets:
            _shut(each)

    def add(self, connected: socket.socket) -> None:
        """Take a connection in; if the line is cut already, it is too."""
        self._sockets.append(connected)
        if self._is_cut:
            _shut(connected)


def _shut(connected: socket.socket) -> None:
    try:
        connected.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # it has ended by itself


class _Noted(HTTPConnection):
    """A connection that its line knows of."""

    def __init__(self, *args: Any, line: Line, **named: Any) -> None:
        super().__init__(*args, **named)
        self._line = line

    def connect(self) -> None:
        super().connect()
        self._line.add(self.sock)


class _NotedSecure(_Noted, HTTPSConnection):
    pass


class _Http(HTTPHandler):
    def __init__(self, line: Line) -> None:
        super().__init__()
        self._line = line

    def http_open(self, req: Request) -> HTTPResponse:
        opened: HTTPResponse = self.do_open(_Noted, req, line=self._line)  # type: ignore[arg-type]
        return opened


class _Https(HTTPSHandler):
    def __init__(self, line: Line) -> None:
        super().__init__()
        self._line = line

    def https_open(self, req: Request) -> HTTPResponse:
        opened: HTTPResponse = self.do_open(_NotedSecure, req, line=self._line)  # type: ignore[arg-type]
        return opened
