"""A server that speaks as AnkiConnect does: one request at a time, and the socket is closed after each
reply."""

import json
import socket
import struct
import threading
from contextlib import suppress

import jsonschema

from tests.anki.anki_addon import VERSIONS

SCHEMA = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "minLength": 1},
        "version": {"type": "integer"},
        "params": {"type": "object"},
    },
    "required": ["action"],
}
ALLOWED_ORIGINS = ("", "http://localhost")
HTML = b"<html><body>It works!</body></html>"


class StandIn:
    """`requests` are those it got, as parsed JSON. `faults` maps the number of a request (from 0) to what
    goes wrong:

    cut_before, cut_after: the connection is closed without a reply, before or after the action was carried
    out; reset: the same before, by RST; stall: it hangs; garbage: no HTTP; html, http_500, http_500_envelope,
    http_403, refused: its answer; entry:N:TEXT: that entry of a multi is not carried out and fails with TEXT.
    """

    def __init__(self, collection, version="2025-11", port=0, path=None):
        self.addon = VERSIONS[version](collection)
        self.addon._handler = self.handler
        self.key = None
        self.requests = []
        self.headers = []
        self.faults = {}
        self._breaking = []
        self.released = threading.Event()
        self.collection = collection
        self.stalled = threading.Event()
        self._listener = (
            _on_a_path(path) if path else socket.create_server(("127.0.0.1", port), backlog=5)
        )
        self.url = f"unix:{path}" if path else f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self):
        self.released.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def actions(self):
        """The names of the actions it got, those inside a multi included."""
        return [name for request in self.requests for name in names(request)]

    def _serve(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection, suppress(ConnectionError):
                self._answer(connection)

    def _answer(self, connection):
        head, body = _read(connection)
        if head is None:
            return
        number = len(self.requests)
        self.headers.append(head)
        self.requests.append(_parsed(body))
        fault = self.faults.get(number, "")
        if fault in ("cut_before", "reset", "stall", "garbage"):
            return self._vanish(connection, fault)
        if fault in FAULTS:
            return _reply(connection, *FAULTS[fault])
        self._breaking = fault.split(":", 2)[1:]
        status, reply = self.respond(head, body)
        if fault != "cut_after":
            _reply(connection, status, "application/json", reply)

    def _vanish(self, connection, fault):
        if fault == "stall":
            self.stalled.set()
            self.released.wait()
        if fault == "garbage":
            connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
        if fault == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def respond(self, head, body):
        """(HTTP status, body) for a request."""
        if head.get("origin", "") not in ALLOWED_ORIGINS:
            return 403, b""
        if not body:
            return 200, self.addon.GREETING
        try:
            request = json.loads(body)
            jsonschema.validate(request, SCHEMA)
        except (ValueError, jsonschema.ValidationError) as error:
            return 200, json.dumps({"result": None, "error": str(error)}).encode()
        return 200, json.dumps(self.handler(request)).encode()

    def handler(self, request):
        version = request.get("version", 4)
        try:
            if request.get("key") != self.key:
                raise Exception("valid api key must be provided")
            if request["action"] == "multi":
                result = self._multi(**request.get("params", {}))
            else:
                result = self._method(request["action"])(**request.get("params", {}))
        except Exception as error:
            return {"result": None, "error": str(error)}
        return result if version <= 4 else {"result": result, "error": None}

    def _multi(self, **params):
        at, text = self._breaking or (-1, "")
        self._breaking = []
        actions = params.get("actions")
        if 0 <= int(at) < len(actions or []):
            before, after = actions[: int(at)], actions[int(at) + 1 :]
            return [
                *self.addon.multi(before),
                {"result": None, "error": text},
                *self.addon.multi(after),
            ]
        return self.addon.multi(**params)

    def _method(self, name):
        if (
            name.startswith("_")
            or name in getattr(self.addon, "ABSENT", ())
            or not hasattr(self.addon, name)
        ):
            raise Exception("unsupported action")
        return getattr(self.addon, name)


def _on_a_path(path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(5)
    return listener


FAULTS = {
    "html": (200, "text/html", HTML),
    "http_500": (500, "text/plain", b"Internal Server Error"),
    "http_500_envelope": (500, "application/json", b'{"result": null, "error": "out of luck"}'),
    "http_403": (403, "text/plain", b""),
    "refused": (200, "application/json", b'{"result": null, "error": "out of luck"}'),
}


def names(request):
    if not isinstance(request, dict):
        return []
    if request.get("action") != "multi":
        return [request.get("action")]
    return [name for entry in request["params"]["actions"] for name in names(entry)]


def _parsed(body):
    try:
        return json.loads(body)
    except ValueError:
        return None


def _read(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = connection.recv(65536)
        if not chunk:
            return None, b""
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    headers = {
        name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])
    }
    headers["request"] = lines[0]
    while len(body) < int(headers.get("content-length", 0)):
        chunk = connection.recv(65536)
        if not chunk:
            return None, b""
        body += chunk
    return headers, body


def _reply(connection, status, kind, body):
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    connection.sendall(head.encode() + body)
