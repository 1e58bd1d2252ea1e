"""Stdin and stdout as lines of a protocol: bounded, blocking, with an account of the answers that are still due."""

import json
import os
import re
from collections import Counter
from typing import BinaryIO

LONGEST_LINE = 16 * 2**20
"""Bytes of one message: an image of IMAGE_MAX_BYTES in base64 fits. Longer ones are refused without being held."""
MOST_VALUES = 100_000
"""Values of one message: each takes a hundred bytes and more once it is read."""
UNSUSPICIOUS = 200_000
"""A line of so many bytes cannot hold too many of them."""
APART = bytes(set(range(256)) - set(b'",[{'))
"""All bytes but those that tell values apart."""
ID = re.compile(rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{0,200}")')
"""A request's id, to be found in a line that is not read as a whole."""

Id = str | int | None


class Lines:
    """The client's ends of stdin and stdout. Both methods block."""

    def __init__(self, stdin: BinaryIO, stdout: BinaryIO):
        self.stdin = stdin
        self.stdout = stdout

    def __enter__(self) -> "Lines":
        return self

    def __exit__(self, *_: object) -> None:
        self.stdin.close()
        self.stdout.close()

    def read(self) -> bytes:
        """One line, or b"" at EOF. Of a line that is too long only its beginning."""
        try:
            line = rest = self.stdin.readline(LONGEST_LINE + 1)
            while len(line) > LONGEST_LINE and rest and not rest.endswith(b"\n"):
                rest = self.stdin.readline(2**20)
        except OSError:  # a connection was reset, a terminal hung up
            return b""
        return line

    def write(self, line: bytes) -> None:
        """Raises OSError once the client is gone."""
        self.stdout.write(line)
        self.stdout.flush()


def claim() -> Lines:
    """Keep stdin and stdout for the protocol: what else writes to fd 1, in this process or a child, goes to stderr."""
    stdin, stdout = os.dup(0), os.dup(1)
    for handle in (stdin, stdout):
        os.set_blocking(handle, True)  # else "nothing there yet" would look like EOF, and a full pipe like a broken one
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return Lines(os.fdopen(stdin, "rb"), os.fdopen(stdout, "wb"))


class Owed:
    """The answers still to be written, by request id (None: to a line that was not a message)."""

    def __init__(self) -> None:
        self.by_id: Counter[Id] = Counter()

    def __len__(self) -> int:
        return sum(self.by_id.values())

    def note_incoming(self, message: object) -> None:
        """Count the answer that a request is owed; a withdrawn one and a standing stream are owed none."""
        method, request_id = getattr(message, "method", ""), getattr(message, "id", None)
        if method == "notifications/cancelled":
            withdrawn = (getattr(message, "params", None) or {}).get("requestId")
            if isinstance(withdrawn, str | int):
                self.by_id.pop(withdrawn, None)
        elif method and request_id is not None and method != "subscriptions/listen":
            self.by_id[request_id] += 1

    def note_invalid(self, request_id: Id) -> None:
        """Count the error that a line is owed which is not a message."""
        self.by_id[request_id] += 1

    def note_answered(self, request_id: Id) -> None:
        """Count an answer as given."""
        self.by_id -= Counter([request_id])


def refusal(line: bytes) -> str:
    """Why a line is not read as JSON at all; "" for one that is."""
    if len(line) > LONGEST_LINE:
        return f"Message too long: at most {LONGEST_LINE} bytes"
    if has_too_many_values(line):
        return f"Message too large: at most {MOST_VALUES} values"
    return ""


def has_too_many_values(data: bytes) -> bool:
    """Whether JSON holds more than MOST_VALUES texts, objects, lists and others, counted without reading it."""
    if len(data) <= UNSUSPICIOUS:
        return False
    marks = data.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, APART)  # an escaped quote ends no text
    if (texts := marks.count(b'"') // 2) > MOST_VALUES:
        return True
    return texts + sum(len(outside) for outside in marks.split(b'"')[::2]) > MOST_VALUES


def id_of(line: bytes) -> object:
    """The id in a line that is not a JSON-RPC message, so that its sender knows what is refused."""
    if refusal(line):
        found = ID.search(line[:300])
        return json.loads(found[1]) if found else None
    try:
        message = json.loads(line)  # also takes half a surrogate pair, which pydantic and UTF-8 do not
    except (ValueError, RecursionError):
        return None
    return message.get("id") if isinstance(message, dict) else None
