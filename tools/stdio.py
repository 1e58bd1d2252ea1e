"""Stdin and stdout as lines of a protocol: bounded, blocking, with an account of the answers that are still
due."""

import json
import os
import re
from collections import Counter
from typing import Any, BinaryIO, TypeGuard

# Bytes of one message: an image of IMAGE_MAX_BYTES in base64 fits. Longer ones are refused without being
# held.
LONGEST_LINE = 16 * 2**20
MOST_VALUES = 100_000  # of one message: each takes a hundred bytes and more once it is read
# All bytes but those that tell values apart.
APART = bytes(set(range(256)) - set(b'",[{'))
# A request's id, to be found in a line that is not read as a whole.
ID = re.compile(rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,200}")')

# The request for a stream of changes; the first line of that stream, which names the request's id.
LISTEN = "subscriptions/listen"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"

Id = str | int | None


class Lines:
    """The client's ends of stdin and stdout. Both methods block."""

    def __init__(self, stdin: BinaryIO, stdout: BinaryIO):
        self.stdin = stdin
        self.stdout = stdout
        # What was read already, in lines; the last one may lack its end.
        self.ahead: list[bytes] = []
        # The requests in `ahead` whose answers the client has.
        self.answered: Counter[Id] = Counter()

    def __enter__(self) -> "Lines":
        return self

    def __exit__(self, *_: object) -> None:
        self.stdin.close()
        self.stdout.close()

    def read(self) -> bytes:
        """One line, or b"" at EOF. Of a line that is too long only its beginning."""
        begun = self.ahead.pop(0) if self.ahead else b""
        if begun.endswith(b"\n"):
            return begun
        try:
            line = rest = begun + self.stdin.readline(LONGEST_LINE + 1 - len(begun))
            while len(line) > LONGEST_LINE and rest and not rest.endswith(b"\n"):
                rest = self.stdin.readline(2**20)
        except OSError:  # a connection was reset, a terminal hung up
            return b""
        return line

    def was_answered(self, message: Any) -> bool:
        """True for an answer, or the acknowledgement of a stream, that the client had to a request of
        `ahead`; counts it as taken."""
        if (method := getattr(message, "method", "")) == ACKNOWLEDGED:
            request_id = message.params["_meta"][SUBSCRIPTION_ID]
        else:
            request_id = None if method else message.id
        was = self.answered[request_id] > 0
        self.answered[request_id] -= was
        return was

    def write(self, line: bytes) -> None:
        """Raises OSError once the client is gone."""
        self.stdout.write(line)
        self.stdout.flush()


def claim() -> Lines:
    """Keep stdin and stdout for the protocol: what else writes to fd 1, in this process or a child, goes to
    stderr."""
    stdin, stdout = os.dup(0), os.dup(1)
    for handle in (stdin, stdout):
        os.set_blocking(
            handle, True
        )  # else "nothing there yet" would look like EOF, and a full pipe like a broken one
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return Lines(os.fdopen(stdin, "rb"), os.fdopen(stdout, "wb"))


class PendingAnswers(Counter[Id]):
    """The answers still to be written, by request id (None: to a line that was not a message)."""

    def note_incoming(self, message: object) -> None:
        """Count the answer that a request is owed; a withdrawn one and a standing stream are owed none."""
        method, request_id = getattr(message, "method", ""), getattr(message, "id", None)
        if method == "notifications/cancelled":
            withdrawn = (getattr(message, "params", None) or {}).get("requestId")
            if isinstance(withdrawn, str | int):
                self.pop(withdrawn, None)
        elif method and request_id is not None and method != LISTEN:
            self[request_id] += 1


def refusal(line: bytes) -> str:
    """The reason why a line is too large to be read as JSON; "" if it is not. Values (texts, objects, lists
    and others) are counted without parsing it."""
    if len(line) > LONGEST_LINE:
        return f"Message too long: at most {LONGEST_LINE} bytes"
    marks = (
        line.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, APART)
    )  # an escaped quote ends no text
    values = marks.count(b'"') // 2
    if values <= MOST_VALUES:
        values += sum(len(outside) for outside in marks.split(b'"')[::2])
    return f"Message too large: at most {MOST_VALUES} values" if values > MOST_VALUES else ""


def is_id(value: object) -> TypeGuard[int | str]:
    """True for an id that a request may have: a whole number, or text that can be sent back (not half a
    character)."""
    if isinstance(value, str):
        return value == value.encode(errors="ignore").decode()
    return type(value) is int


def id_of(line: bytes) -> Id:
    """The id in a line that is not a JSON-RPC message, so that its sender knows what is refused; None if it
    has none."""
    if refusal(line):
        found = ID.search(line[:300])
        return json.loads(found[1]) if found else None
    try:
        message = json.loads(line)  # also takes half a surrogate pair, which pydantic and UTF-8 do not
    except (ValueError, RecursionError):
        return None
    request_id = message.get("id") if isinstance(message, dict) else None
    return request_id if is_id(request_id) else None
