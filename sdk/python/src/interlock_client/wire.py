"""One request to Interlock and its answer, over HTTP or the local socket."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
from typing import Any
from urllib.parse import urlsplit

MAX_ANSWER = 8 << 20


class WireError(Exception):
    """No answer came, or none that can be read. The text holds no token."""


class _SocketConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Wire:
    """Where the server is. Each request has a connection of its own, so a wire may be used by several threads."""

    def __init__(self, url: str | None, token: str | None, path: str | None) -> None:
        self._token = token
        self._path = path
        self._scheme, self._host, self._port, self._base = "http", "localhost", 80, ""
        if path is None:
            parts = urlsplit(url or "")
            if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
                raise ValueError("the address of Interlock is one such as http://127.0.0.1:7433")
            self._scheme, self._host, self._base = parts.scheme, parts.hostname, parts.path.rstrip("/")
            self._port = parts.port or (443 if parts.scheme == "https" else 80)

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        if self._path is not None:
            return _SocketConnection(self._path, timeout)
        if self._scheme == "https":
            return http.client.HTTPSConnection(self._host, self._port, timeout=timeout, context=ssl.create_default_context())
        return http.client.HTTPConnection(self._host, self._port, timeout=timeout)

    def post(self, path: str, body: dict[str, Any], timeout: float) -> tuple[int, dict[str, Any]]:
        """Send a body and return the status with the object that came back. Redirects are not followed."""
        try:
            data = json.dumps(body, allow_nan=False).encode("utf-8")
        except (TypeError, ValueError, RecursionError) as problem:
            raise WireError(f"the action can't be written as JSON: {problem}") from None
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._token:
            headers["Authorization"] = "Bearer " + self._token
        connection = self._connection(timeout)
        try:
            connection.request("POST", self._base + path, body=data, headers=headers)
            response = connection.getresponse()
            text = response.read(MAX_ANSWER + 1)
            if response.length:  # of which the standard library says nothing where a bound is given
                raise WireError("Interlock's answer is cut off or too long")
        except (OSError, http.client.HTTPException, ValueError) as problem:
            raise WireError(f"Interlock can't be reached ({type(problem).__name__})") from None
        finally:
            connection.close()
        if len(text) > MAX_ANSWER:
            raise WireError("Interlock's answer is too long")
        try:
            answer = json.loads(text, object_pairs_hook=_once)
        except (ValueError, RecursionError):
            raise WireError(f"what answered with status {response.status} is not Interlock") from None
        if not isinstance(answer, dict):
            raise WireError("Interlock's answer is no object")
        return response.status, answer


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which every member stands once: of two that say different things neither is believed."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member stands twice")
    return members
