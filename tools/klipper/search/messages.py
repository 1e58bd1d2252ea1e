"""Klipper's own messages: what they mean, what to look at first, where to read on.

Each entry of `messages.txt` has four lines, the last three indented: the message as Klipper prints it or
people say it, `*` for what differs, alternatives divided by ` | `; what it means; what to look at first;
where to read on as `page#heading`, best first, and after ` < ` the files of Klipper's sources that print it,
src/ being the firmware, the others below klippy/. Of several that fit, the first one counts.
"""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tools.toolkit import JsonObject

from . import spelling

TABLE = Path(__file__).with_name("messages.txt")
TABLE_ENTRY = re.compile(r"(?m)^(\S.*)\n +(.+)\n +(.+)\n +(.+) < ")
# Words that people leave out or add; other words for the same.
FILLER_WORDS = frozenset(
    "a an the is are was were be been of in on at for with and or my it its this i me got get".split()
)
SYNONYMS = dict(
    pair.split("=")
    for pair in "axes=axis too=to min=minimum max=maximum temp=temperature comms=communication "
    "comm=communication hotend=heater cant=cannot couldnt=cannot didnt=not doesnt=not isnt=not".split()
)


class Message(NamedTuple):
    """A message of Klipper: what it means, what to look at first, where to read on (pages with
    `#heading`)."""

    message: str
    means: str
    first: str
    read: list[str]


def messages_in(text: str) -> list[Message]:
    """Find the first messages that a text quotes, each once, in its order; a line quotes at most one."""
    by_meaning: dict[str, Message] = {}
    is_typed = len(text) <= 300  # a longer one is pasted
    for line in text.splitlines()[:500]:
        if message := message_in_line(line[:600], correcting=is_typed):
            by_meaning.setdefault(message.means, message)
    return list(by_meaning.values())[:8]


def message_in_line(line: str, *, correcting: bool = False) -> Message | None:
    """Find the message in a line, also a misspelt one if `correcting`."""
    # The name of a board in a message about it, `mcu 'extruder_mcu': …`, says that it is not the main one.
    words = _words(re.sub(r"(?i)(mcu ')\w+_mcu(?=')", r"\1board", line))
    if correcting:
        words = [spelling.nearest(word, _vocabulary()) or word for word in words]
    text = f" {' '.join(words)} "
    line_words = set(words)
    for needed, pattern, message in wordings():
        if needed <= line_words and re.search(pattern, text):
            return message
    return None


def explanation(message: Message) -> JsonObject:
    """Explain a message to the model: what it means, what to look at first, where to read on."""
    return {"means": message.means, "first": message.first, "read": message.read}


@cache
def wordings() -> list[tuple[frozenset[str], str, Message]]:
    """Read each wording of the messages: its words, and the pattern that finds it: these words in order, few
    others between, more in the place of a `*`."""
    table = []
    for alternatives, meaning, first, pages in TABLE_ENTRY.findall(TABLE.read_text("utf-8")):
        for wording in alternatives.split(" | "):
            pieces = wording.strip("* ").split("*")
            patterns = [r"(?: \S+){0,1}? ".join(_words(piece)) for piece in pieces]
            pattern = r"(?: \S+){0,12}? ".join(patterns)
            message = Message(wording, meaning, first, pages.split("; "))
            table.append((frozenset(_words(wording)), f" {pattern} ", message))
    return table


@cache
def _vocabulary() -> list[str]:
    return sorted(frozenset().union(*(words for words, _, _ in wordings())))


def _words(text: str) -> list[str]:
    """List the stems of a text's words, without filler words."""
    plain = [word.replace("'", "") for word in spelling.words(text)]
    return [spelling.stem(SYNONYMS.get(word, word)) for word in plain if word not in FILLER_WORDS]
