"""A server that speaks as AnkiConnect does: one request at a time, and the socket is closed after each
reply."""

import json
import socket
import struct
import threading
from contextlib import suppress

import jsonschema

from tests.anki.anki_addon import VERSIONS
from tests.support.web import Handler
from tools.anki.client import action_names

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
# Answers in place of one to the action.
WRONG_ANSWERS = {
    "html": (200, b"<html><body>It works!</body></html>"),
    "http_500": (500, b"Internal Server Error"),
    "http_500_envelope": (500, b'{"result": null, "error": "out of luck"}'),
    "http_403": (403, b""),
    "refused": (200, b'{"result": null, "error": "out of luck"}'),
}


class StandIn:
    """`requests` are those it got, as parsed JSON. `faults` maps the number of a request (from 0) to what
    goes wrong:

    cut_before, cut_after: the connection is closed without a reply, before or after the action was carried
    out; reset: the same before, by RST; stall: it hangs after the first byte; garbage: no HTTP; one of
    WRONG_ANSWERS.
    """

    def __init__(self, collection, version="2025-11", port=0, path=None):
        self.addon = VERSIONS[version](collection)
        self.addon._handler = self.handler
        self.key = None
        self.requests = []
        self.headers = []
        self.faults = {}
        self.stalls = 0
        self.released = threading.Event()
        self.collection = collection
        if path:
            self._listener = socket.socket(socket.AF_UNIX)
            self._listener.bind(str(path))
            self._listener.listen(5)
        else:
            self._listener = socket.create_server(("127.0.0.1", port), backlog=5)
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
        whole = {"action": "multi", "params": {"actions": self.requests}}
        return list(action_names(whole))[::-1]

    def _serve(self):
        while True:
            try:
                connection, address = self._listener.accept()
            except OSError:
                return
            with connection, suppress(ConnectionError):
                Connection(connection, address, self)

    def answer(self, connection):
        """The reply to what came over a connection, or none."""
        body = connection.body()
        fault = self.faults.get(len(self.requests), "")
        self.headers.append(connection.headers)
        request = None
        with suppress(ValueError):
            request = json.loads(body)
        self.requests.append(request)
        if fault == "stall":
            # The first byte lets the client look at its clock again.
            self.stalls += 1
            connection.wfile.write(b"H")
            self.released.wait()
        elif fault == "garbage":
            connection.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")
        elif fault == "reset":
            linger = struct.pack("ii", 1, 0)
            connection.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        elif fault in WRONG_ANSWERS:
            connection.send(*WRONG_ANSWERS[fault])
        elif fault != "cut_before":
            status, reply = self.respond(connection.headers, body)
            if fault != "cut_after":
                connection.send(status, reply, {"Content-Type": "application/json"})

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
            result = self._method(request["action"])(**request.get("params", {}))
        except Exception as error:
            return {"result": None, "error": str(error)}
        return result if version <= 4 else {"result": result, "error": None}

    def _method(self, name):
        if (
            name.startswith("_")
            or name in getattr(self.addon, "ABSENT", ())
            or not hasattr(self.addon, name)
        ):
            raise Exception("unsupported action")
        return getattr(self.addon, name)


class Connection(Handler):
    """One request; the connection ends with its reply, which does not say so."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.server.answer(self)
        self.close_connection = True

    do_GET = do_POST
