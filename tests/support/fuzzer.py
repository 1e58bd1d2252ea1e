"""Bad input without end: frames and arguments, the same ones for the same seed."""

import json
import random

from tests.support.client import rpc

VALUES = json.loads(r"""[
    null, true, false, 0, 1, -1, 7, 2147483648, 9223372036854775808, 1e40, -0.0, 0.5, 1e308, "", " ", "x", "null", "true",
    "0", "-1", "1e9", "\u0000", "\n", "😀😀😀", "ё", "\u202e", "../../etc/passwd", "/etc/passwd", "-rf", "--upload-pack=x",
    "'; DROP TABLE goals", "$ref:", "$ref:00000000-0000-4000-8000-000000000000", "00000000-0000-4000-8000-000000000000",
    "2026-02-30", "2026-01-05", "[1, 2]", "{\"a\": 1}", "{", [], {}, [null], [[]], [{}], {"": null}, [1, "a", true],
    {"a": {"b": [1, "2", null]}}, {"action": "goal.create"}, [{"action": "goal.create", "params": {"title": 7}}],
    [{"fields": {"Front": 1}}]
]""")
VALUES += ["x" * 10_000, "[" * 500, ["x"] * 200, 10**40]


PIECES = [b"", b'"', b"{", b"\xff\xfe", b"\\ud800", b"\0", b"1e999", b"[" * 100_000]


def damaged(chance, body):
    """These bytes with a piece changed, left out or put in."""
    at = chance.randrange(len(body))
    piece = chance.choice([*PIECES, chance.randbytes(9)])
    return body[:at] + piece + body[at + chance.randrange(20) :]


class Fuzzer:
    """Lines for a server whose tools are `tools` (name → JSON Schema of the arguments)."""

    def __init__(self, seed, tools):
        self.random = random.Random(seed)
        self.tools = tools
        self.last_id = 0

    def frame(self):
        """One line of noise, or nearly a good request, as bytes; well-formed oddities are the judge's."""
        line = self.random.randbytes(self.random.choice([0, 1, 5, 80, 3000]))
        if self.random.random() < 0.7:
            name, arguments = self.call()
            self.last_id += 1
            message = rpc("tools/call", {"name": name, "arguments": arguments}, self.last_id)
            text = json.dumps(message, ensure_ascii=self.random.random() < 0.5)
            line = text.encode("utf-8", "replace")
            for _ in range(self.random.randint(1, 4)):
                line = damaged(self.random, line)
        return line.replace(b"\n", b" ") + b"\n"

    def call(self):
        """A tool with arguments of wrong types: every name of its schema, some unknown ones."""
        name = self.random.choice(list(self.tools))
        names = [*self.tools[name].get("properties", {}), "unknown"]
        chosen = self.random.sample(names, self.random.randint(0, len(names)))
        required = self.tools[name].get("required", [])
        if self.random.random() < 0.7:
            chosen = list({*chosen, *required} - {"unknown"})
        return name, {argument: self.random.choice(VALUES) for argument in chosen}
