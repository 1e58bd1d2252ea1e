"""Requests to AnkiConnect: one connection each, one at a time across all sessions."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tools import locks
from tools.anki import replies
from tools.anki.replies import Failure, Unreachable
from tools.errors import ToolError
from tools.settings import current

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

VERSION = 6
LONGEST_REPLY_BYTES = 64 * 1024 * 1024
READ_BYTES = 64 * 1024
ENTRY_S = 0.2
"""What each entry of a `multi` adds to the time allowed: a slow Pi adds a note in less."""

Action = tuple[str, dict[str, Any]]


def call(action: str, *, extra_s: float = 0, **params: Any) -> Any:
    """The result of one action; parameters that are None are left out.

    `extra_s` is waited beyond ANKI_CONNECT_TIMEOUT. Raises Failure.
    """
    return replies.result(_exchange(entry(action, params), extra_s))


def multi(*actions: Action) -> list[Any]:
    """The result of each action, in one request and in order; for one that AnkiConnect refuses, the Refused.

    Raises Failure where the request as a whole fails.
    """
    if not actions:
        return []
    entries = [entry(action, params) for action, params in actions]
    found = replies.result(_exchange(entry("multi", {"actions": entries}), ENTRY_S * len(entries)))
    return replies.results(found, len(entries))


def results(*actions: Action) -> list[Any]:
    """As `multi`, but the first refusal is raised: for questions that belong together."""
    found = multi(*actions)
    for one in found:
        if isinstance(one, Failure):
            raise one
    return found


def raw(action: str, params: dict[str, Any], version: int) -> Any:
    """The result of any action with its parameters as they are."""
    return replies.result(_exchange(_keyed({"action": action, "version": version, "params": params}), 0), version)


def entry(action: str, params: dict[str, Any]) -> dict[str, Any]:
    """One action as AnkiConnect reads it, alone or inside `multi`."""
    given = {name: value for name, value in params.items() if value is not None}
    return _keyed({"action": action, "version": VERSION, **({"params": given} if given else {})})


def _keyed(request: dict[str, Any]) -> dict[str, Any]:
    key = current().anki_connect_key
    return {**request, "key": key} if key else request


def _exchange(request: dict[str, Any], extra_s: float) -> replies.Reply:
    from http.client import HTTPException

    body = json.dumps(request).encode("ascii")
    deadline_s = current().anki_connect_timeout_s + extra_s
    with _alone():
        connection = _connect(deadline_s)
        try:
            return _ask(connection, body, time.monotonic() + deadline_s)
        except TimeoutError as error:
            raise replies.no_answer(deadline_s) from error
        except (OSError, HTTPException) as error:
            raise replies.cut(error) from error
        finally:
            connection.close()


@contextmanager
def _alone() -> Iterator[None]:
    """The add-on answers one request at a time and lets five wait: ours wait here instead."""
    try:
        with locks.exclusive("ankiconnect"):
            yield
    except ToolError as error:
        if error.code != "BUSY":
            raise
        raise replies.busy() from error


def _connect(timeout_s: float) -> "HTTPConnection":
    from http.client import HTTPConnection, HTTPSConnection

    url = urlsplit(current().anki_connect_url)
    kind = HTTPSConnection if url.scheme == "https" else HTTPConnection
    connection = kind(url.hostname, url.port, timeout=timeout_s)
    try:
        connection.connect()
    except (OSError, UnicodeError) as error:
        raise _unreachable(error) from error
    return connection


def _unreachable(error: Exception) -> Unreachable:
    from socket import gaierror

    if isinstance(error, ConnectionRefusedError):
        return replies.unreachable("nothing listens there")
    if isinstance(error, TimeoutError):
        return replies.unreachable("the machine does not answer")
    if isinstance(error, gaierror):
        return replies.unreachable("no such host")
    return replies.unreachable(str(getattr(error, "strerror", None) or error))


def _ask(connection: "HTTPConnection", body: bytes, deadline: float) -> replies.Reply:
    path = urlsplit(current().anki_connect_url).path or "/"
    connection.request("POST", path, body, {"Content-Type": "application/json", "Connection": "close"})
    response = connection.getresponse()
    return replies.Reply(response.status, response.headers.get_content_type(), _read(response, deadline))


def _read(response: "HTTPResponse", deadline: float) -> bytes:
    from http.client import IncompleteRead

    body, expected = bytearray(), response.length
    while len(body) != expected and (chunk := response.read1(READ_BYTES)):
        body += chunk
        if len(body) > LONGEST_REPLY_BYTES:
            raise replies.too_long(LONGEST_REPLY_BYTES)
        if time.monotonic() > deadline:
            raise TimeoutError
    if expected is not None and len(body) < expected:
        raise IncompleteRead(bytes(body), expected - len(body))
    return bytes(body)
