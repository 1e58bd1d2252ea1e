"""What happened in a soak: what was counted, and every wrong answer or lost write."""

import json
import sys
import threading
import time
from collections import Counter, defaultdict
from dataclasses import dataclass

LONGEST_SHOWN = 700
SHOWN = 20


class Wrong(Exception):
    """An answer that cannot be right."""


class Lost(Exception):
    """The session ended before its answer came: nobody knows what became of the call."""


@dataclass
class Request:
    """A call, and when it was made."""

    tool: str
    arguments: dict
    began: float
    ended: float = 0

    @property
    def system(self):
        docs = self.tool in ("search_docs", "read_doc", "sync_docs")
        return "klipper" if docs else "anki" if self.tool.startswith("anki_") else "onepercent"


@dataclass(frozen=True)
class Answer:
    """What a tool answered; `code` is empty for a success."""

    value: object
    code: str = ""


class Record:
    """Written by every thread of the soak."""

    def __init__(self):
        self.lock = threading.Lock()
        self.counts = defaultdict(Counter)
        self.wrong = []
        self.began = time.monotonic()

    def count(self, heading, key):
        with self.lock:
            self.counts[heading][key] += 1

    def complain(self, text, request=None):
        """Note and print what is wrong, with the request it came of."""
        origin = ""
        if request:
            arguments = json.dumps(request.arguments, ensure_ascii=False)[:LONGEST_SHOWN]
            origin = f"\n  asked: {request.tool} {arguments}"
        with self.lock:
            self.wrong.append(text)
            if len(self.wrong) <= SHOWN:
                at_s = time.monotonic() - self.began
                print(f"WRONG at {at_s:.1f} s: {text[:LONGEST_SHOWN]}{origin}", file=sys.stderr)

    def show(self):
        for heading in ("sessions", "calls", "faults", "errors", "unanswered"):
            counts = self.counts[heading]
            summary = ", ".join(f"{key} {count}" for key, count in counts.most_common())
            print(f"{heading:<12} {counts.total()}: {summary or 'none'}")
        print(f"wrong answers and lost writes: {len(self.wrong)}", flush=True)


def expect(true, text):
    """Raises Wrong unless `true`."""
    if not true:
        raise Wrong(text)
