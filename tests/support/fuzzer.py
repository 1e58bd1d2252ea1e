"""Bad input without end: frames and arguments, the same ones for the same seed."""

import json
import random

VALUES = [
    None, True, False, 0, 1, -1, 7, 2**31, 2**63, 10**40, -0.0, 0.5, 1e308, "", " ", "x", "null", "true", "0", "-1", "1e9",
    "x" * 10_000, "\0", "\n", "😀" * 50, "ё", "‮", "../../etc/passwd", "/etc/passwd", "-rf", "--upload-pack=x", "'; DROP TABLE goals",
    "$ref:", "$ref:00000000-0000-4000-8000-000000000000", "00000000-0000-4000-8000-000000000000", "2026-02-30", "2026-01-05",
    "[1, 2]", '{"a": 1}', "{", "[" * 500, [], {}, [None], [[]], [{}], {"": None}, {"a": {"b": [1, "2", None]}}, [1, "a", True],
    {"action": "goal.create"}, [{"action": "goal.create", "params": {"title": 7}}], [{"fields": {"Front": 1}}], ["x"] * 200,
]  # fmt: skip


class Fuzzer:
    """Lines for a server whose tools are `tools` (name → JSON Schema of the arguments)."""

    def __init__(self, seed, tools):
        self.random = random.Random(seed)
        self.tools = tools
        self.last_id = 0

    def frame(self):
        """One line of noise, or nearly a good request, as bytes; well-formed oddities are the judge's."""
        line = self.mutated() if self.random.random() < 0.7 else self.noise()
        return line.replace(b"\n", b" ") + b"\n"

    def noise(self):
        return self.random.randbytes(self.random.choice([0, 1, 5, 80, 3000]))

    def mutated(self):
        """A good request with some bytes changed, left out or put in."""
        line = bytearray(self.call_line())
        for _ in range(self.random.randint(1, 4)):
            place = self.random.randrange(len(line))
            change = self.random.randrange(3)
            if change == 0:
                line[place] = self.random.randrange(256)
            elif change == 1:
                del line[place : place + self.random.randint(1, 9)]
            else:
                line[place:place] = self.random.choice(
                    [b'"', b"{", b"\xff\xfe", b"\\ud800", b"\x00", b"1e999"]
                )
        return bytes(line)

    def call_line(self):
        name, arguments = self.call()
        params = {"name": name, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": self.new_id(), "method": "tools/call", "params": params}
        return json.dumps(message, ensure_ascii=self.random.random() < 0.5).encode(
            "utf-8", "replace"
        )

    def call(self):
        """A tool with arguments of wrong types: every name of its schema, some unknown ones."""
        name = self.random.choice(list(self.tools))
        names = [*self.tools[name].get("properties", {}), "unknown"]
        chosen = self.random.sample(names, self.random.randint(0, len(names)))
        required = self.tools[name].get("required", [])
        if self.random.random() < 0.7:
            chosen = list({*chosen, *required} - {"unknown"})
        return name, {one: self.value() for one in chosen}

    def value(self):
        return self.random.choice(VALUES)

    def new_id(self):
        self.last_id += 1
        return self.last_id
