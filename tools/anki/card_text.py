"""The text of a rendered card: what a person reads on it, without styles and scripts."""

import html
import re
from collections.abc import Iterable

INVISIBLE = re.compile(r"<(style|script)\b.*?</\1\s*>|<!--.*?-->", re.IGNORECASE | re.DOTALL)
"""Styles, scripts and comments with what is in them."""
# The tag's end is optional: were it required, a card with `src=` a thousand times would be tried in every way.
IMAGE = re.compile(r"""<img\b[^<>]*?\bsrc\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+))(?:[^<>]*>)?""", re.IGNORECASE)
BREAK = re.compile(r"<(?:br|hr|/div|/p|/li|/tr|/h\d)\b[^<>]*>", re.IGNORECASE)
"""Tags after which a new line begins."""
TAG = re.compile(r"<[^<>]*>")
PLAY = re.compile(r"\[anki:play:[qa]:\d+\]")
"""Anki's placeholder for a sound, or for text to be spoken."""
SOUND = re.compile(r"\[sound:([^\]]+)\]")
ANSWER = re.compile(r"<hr\b[^<>]*\bid\s*=\s*[\"']?answer[\"']?[^<>]*>", re.IGNORECASE)
"""The line between question and answer on the back of a card."""
BLANKS = re.compile(r"[ \t\xa0]+")
LINES = re.compile(r"\s*\n\s*")
ISOLATES = dict.fromkeys((0x2066, 0x2067, 0x2068, 0x2069))
"""Marks of the writing direction that Anki puts around numbers."""


def question_and_answer(question: str, answer: str, fields: Iterable[str]) -> tuple[str, str]:
    """Both sides as text, the answer without the question above it. Sounds get their names from the fields."""
    sounds = iter([name for value in fields for name in SOUND.findall(value)])
    front = plain(question, sounds)
    parts = ANSWER.split(answer, maxsplit=1)
    return front, plain(parts[-1], sounds if len(parts) > 1 else iter(()))


def plain(text: str, sounds: Iterable[str] = ()) -> str:
    """HTML as text; pictures and sounds are named."""
    names = iter(sounds)
    text = INVISIBLE.sub("", text)
    text = IMAGE.sub(lambda match: f"[image: {match[1] or match[2] or match[3] or '?'}]", text)
    text = SOUND.sub(lambda match: f"[sound: {match[1]}]", text)
    text = PLAY.sub(lambda match: f"[sound: {name}]" if (name := next(names, "")) else "[sound]", text)
    text = TAG.sub("", BREAK.sub("\n", text))
    text = html.unescape(text).translate(ISOLATES)
    return LINES.sub("\n", BLANKS.sub(" ", text)).strip()


def cut(text: str, length: int) -> str:
    """At most so many characters."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
