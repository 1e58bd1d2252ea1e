"""Klipper's own messages: what they mean, what to look at first, where to read on.

Each entry of `messages.txt` has four lines, the last three indented: the message as Klipper prints it or
people say it, `*` for what differs, alternatives divided by ` | `; what it means; what to look at first;
where to read on as `page#heading`, best first, and after ` < ` the files of Klipper's sources that print it,
src/ being the firmware, the others below klippy/. Of several that fit, the first is it.
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
    """A message of Klipper, and what to say of it: what it means, what to look at first, where to read on
    (pages with `#heading`)."""

    message: str
    means: str
    first: str
    read: list[str]


def messages_in(text: str) -> list[Message]:
    """The first messages that a text quotes, each once, in its order: of each line the first that fits."""
    found: dict[str, Message] = {}
    spell = len(text) <= 300  # a longer one is pasted, not typed
    for line in text.splitlines()[:500]:
        if message := of_line(line[:600], spell=spell):
            found.setdefault(message.means, message)
    return list(found.values())[:8]


def of_line(line: str, *, spell: bool = False) -> Message | None:
    """The message in a line."""
    # The name of a board in a message about it, `mcu 'extruder_mcu': …`, says that it is not the main one.
    words = _words(re.sub(r"(?i)(mcu ')\w+_mcu(?=')", r"\1board", line))
    if spell:
        words = [spelling.nearest(word, _vocabulary()) or word for word in words]
    text = f" {' '.join(words)} "
    having = set(words)
    for needed, pattern, message in forms():
        if needed <= having and re.search(pattern, text):
            return message
    return None


def explained(message: Message) -> JsonObject:
    """A message for the model: what it means, what to look at first, where to read on."""
    return {"means": message.means, "first": message.first, "read": message.read}


@cache
def forms() -> list[tuple[frozenset[str], str, Message]]:
    """The words of each wording of a message, and the pattern that finds it: in order, few others between,
    more in the place of a `*`."""
    patterns = []
    for wordings, meaning, first, pages in TABLE_ENTRY.findall(TABLE.read_text("utf-8")):
        for form in wordings.split(" | "):
            parts = [r"(?: \S+){0,1}? ".join(_words(part)) for part in form.strip("* ").split("*")]
            pattern = r"(?: \S+){0,12}? ".join(parts)
            message = Message(form, meaning, first, pages.split("; "))
            patterns.append((frozenset(_words(form)), f" {pattern} ", message))
    return patterns


@cache
def _vocabulary() -> list[str]:
    return sorted(frozenset().union(*(words for words, _, _ in forms())))


def _words(text: str) -> list[str]:
    """The stems of the words of a text, without filler words."""
    plain = [word.replace("'", "") for word in spelling.words(text)]
    return [spelling.stem(SYNONYMS.get(word, word)) for word in plain if word not in FILLER_WORDS]
