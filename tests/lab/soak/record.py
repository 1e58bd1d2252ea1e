"""What happened in a soak: sessions, calls, errors and the fault that excuses each, wrong answers, open questions."""

import json
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

DOCS = ("search_docs", "read_doc", "sync_docs")
LONGEST_SHOWN = 700
SHOWN = 20


class Wrong(Exception):
    """An answer that cannot be right."""


class Lost(Exception):
    """The session ended before its answer came: nobody knows what became of the call."""


@dataclass
class Request:
    """A call to make; `expects` are the codes of errors that may be the right answer whatever goes wrong outside."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)
    expects: tuple[str, ...] = ()
    began: float = 0
    ended: float = 0

    @property
    def system(self) -> str:
        return "klipper" if self.tool in DOCS else "anki" if self.tool.startswith("anki_") else "onepercent"


@dataclass(frozen=True)
class Answer:
    """What a tool answered; `code` is empty for a success."""

    value: Any
    code: str = ""


class Record:
    """Written by every thread of the soak."""

    def __init__(self):
        self.lock = threading.Lock()
        self.sessions: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.tools: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.errors: Counter[tuple[str, str]] = Counter()
        self.uncertain: Counter[tuple[str, str]] = Counter()
        self.checks: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.lost_writes: list[str] = []
        self.began = time.monotonic()

    def count(self, what: Counter, key: Any, by: int = 1) -> None:
        with self.lock:
            what[key] += by

    def called(self, request: Request) -> None:
        with self.lock:
            self.calls[request.system] += 1
            self.tools[request.tool] += 1

    def complain(self, text: str, request: Request | None = None) -> None:
        """Note and print what is wrong, with the request it came of."""
        more = ""
        if request:
            asked = json.dumps(request.arguments, ensure_ascii=False)[:LONGEST_SHOWN]
            more = f"\n  asked: {request.tool} {asked}"
        self._complain(self.wrong, "WRONG", text, more)

    def lost(self, text: str) -> None:
        """Note and print a write that was confirmed and is not there."""
        self._complain(self.lost_writes, "LOST WRITE", text)

    def _complain(self, kept: list[str], kind: str, text: str, more: str = "") -> None:
        with self.lock:
            kept.append(text)
            if len(kept) <= SHOWN:
                at = time.monotonic() - self.began
                print(f"{kind} at {at:.1f} s: {text[:LONGEST_SHOWN]}{more}", file=sys.stderr, flush=True)


def expect(true: Any, text: str) -> None:
    """Raises Wrong unless `true`."""
    if not true:
        raise Wrong(text)
