"""Stdin and stdout as lines of JSON-RPC: reading, writing and bounding them, and parsing their messages."""

import json
import os
import re
from typing import Any, BinaryIO, NamedTuple

from tools.core import leaving
from tools.core.errors import RpcError
from tools.core.json_types import JsonObject

# Bytes of one message: an image of IMAGE_MAX_BYTES in base64 fits. Longer ones are refused without being
# held.
LONGEST_LINE = 16 * 2**20
MOST_VALUES = 100_000  # of one message: each takes a hundred bytes and more once it is parsed
# All bytes but those that begin or separate values.
NOT_MARKS = bytes(set(range(256)) - set(b'",[{'))
# A request's id, to be found in a line that is not read as a whole.
ID_IN_LINE = rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,200}")'

PARSE_ERROR = -32700
INVALID_REQUEST = -32600

# The shapes of JSON-RPC's messages; `parse` checks the id of a request itself.
ID = (int, str)
REQUEST = {"jsonrpc": "2.0", "method": str, "params?": dict}
RESULT = {"jsonrpc": "2.0", "id": ID, "result": dict}
ERROR = {"jsonrpc": "2.0", "error": {"code": int, "message": str}}


class Lines(NamedTuple):
    """The client's ends of stdin and stdout. Reading and writing block."""

    stdin: BinaryIO
    stdout: BinaryIO

    def read(self) -> bytes:
        """The next line, or b"" at EOF; only the beginning of a line that is too long."""
        try:
            line = piece = self.stdin.readline(LONGEST_LINE + 1)
            while len(line) > LONGEST_LINE and piece and not piece.endswith(b"\n"):
                piece = self.stdin.readline(2**20)
        except OSError:  # a connection was reset, a terminal hung up
            return b""
        return line

    def write(self, line: bytes) -> None:
        """Write one line, or end this process if nobody can read it."""
        try:
            self.stdout.write(line)
            self.stdout.flush()
        except OSError:
            leaving.leave()

    def is_read(self) -> bool:
        """False once nobody can read what is written."""
        import select

        reader = select.poll()
        reader.register(self.stdout.fileno(), 0)
        return not reader.poll(0)


def claim() -> Lines:
    """Keep stdin and stdout for the protocol: anything else that this process or a child writes to fd 1
    goes to stderr."""
    stdin = os.dup(0)
    stdout = os.dup(1)
    for handle in (stdin, stdout):
        # Otherwise "nothing there yet" would look like EOF, and a full pipe like a broken one.
        os.set_blocking(handle, True)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return Lines(os.fdopen(stdin, "rb"), os.fdopen(stdout, "wb"))


def parse(line: bytes) -> JsonObject:
    """The JSON-RPC message of a line: a request, a notification or an answer. Raises RpcError."""
    if reason := refusal(line):
        match = re.search(ID_IN_LINE, line[:300])
        raise RpcError(INVALID_REQUEST, reason, request_id=json.loads(match[1]) if match else None)
    request_id = None
    try:
        message = json.loads(line.decode())
        if fits(message, {"id": ID}):
            request_id = message["id"]
        if b"\\u" in line:  # half a character cannot be sent back
            json.dumps(message, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise RpcError(PARSE_ERROR, f"Parse error: {error}", request_id=request_id) from None
    is_call = isinstance(message, dict) and "method" in message
    has_wrong_id = is_call and "id" in message and request_id is None
    if has_wrong_id or not fits(message, REQUEST if is_call else (RESULT, ERROR)):
        raise RpcError(
            INVALID_REQUEST,
            "Invalid request: expected one JSON-RPC 2.0 message per line",
            request_id=request_id,
        )
    return message  # type: ignore[no-any-return]


def fits(value: object, shape: Any) -> bool:
    """True if a value has a shape: a type, a text that it must be equal to, a tuple of shapes of which one
    must fit, or an object. An object names its members: those with `?` may be absent or null, `*` stands for
    all, and members that it does not name may be anything."""
    if isinstance(shape, tuple):
        return any(fits(value, choice) for choice in shape)
    if isinstance(shape, str):
        return value == shape
    if isinstance(shape, type):
        return type(value) is shape  # to JSON `true` is no number
    if not isinstance(value, dict):
        return False
    if "*" in shape:
        return all(fits(member, shape["*"]) for member in value.values())
    for name, member_shape in shape.items():
        member = value.get(name.removesuffix("?"))
        is_left_out = member is None and name.endswith("?")
        if not (is_left_out or fits(member, member_shape)):
            return False
    return True


def refusal(line: bytes) -> str:
    """The reason why a line is too large to be parsed, or "". Its values (texts, objects, lists and others)
    are counted without parsing it."""
    if len(line) > LONGEST_LINE:
        return f"Message too long: at most {LONGEST_LINE} bytes"
    # An escaped quote ends no text. Escaped backslashes go first, or the end of "…\\" would look like one.
    marks = line.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, NOT_MARKS)
    values = marks.count(b'"') // 2
    if values <= MOST_VALUES:
        values += sum(len(outside) for outside in marks.split(b'"')[::2])
    return f"Message too large: at most {MOST_VALUES} values" if values > MOST_VALUES else ""
