"""A card as a person reads it: its sides as text, without styles and scripts; its state and intervals in
Anki's words."""

import html
import math
import re
import time
from collections.abc import Iterable

from tools.toolkit import JsonObject, cut

# Styles, scripts and comments with their content.
INVISIBLE = re.compile(r"(?is)<(style|script)\b.*?</\1\s*>|<!--.*?-->")
# The tag's end is optional: were it required, a card with `src=` a thousand times would be tried in every
# way.
IMAGE = re.compile(
    r"""(?i)<img\b[^<>]*?\bsrc\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+))(?:[^<>]*>)?"""
)
# The image that LaTeX made of a formula; its text is in `alt`.
LATEX = re.compile(r"""(?i)<img\b(?=[^<>]*\bclass=["']?latex\b)[^<>]*?\balt="([^"]*)"[^<>]*>""")
# Where a person types the answer: [[type:Back]], [[type:nc:Back]], [[type:cloze:Text]].
TYPED = re.compile(r"\[\[type:(?:nc:)?(cloze:)?(?:nc:)?([^\]]+)\]\]")
CLOZE = re.compile(r"(?s)\{\{c(\d+)::(.*?)(?:::.*?)?\}\}")
# In both sides of an image-occlusion card: its masks are drawn by a script.
OCCLUSION = 'id="image-occlusion-container"'
MASKED = "[image occlusion: Anki's window shows it]"
# Tags after which a new line begins.
BREAK = re.compile(r"(?i)<(?:br|hr|/div|/p|/li|/tr|/h\d)\b[^<>]*>")
# A tag as browsers read it: `<` before anything but a letter is text.
TAG = re.compile(r"</?[A-Za-z!?][^<>]*>")
# Anki's placeholder for a sound, or for text to be spoken.
PLAY = re.compile(r"\[anki:play:[qa]:\d+\]")
SOUND = re.compile(r"\[sound:([^\]]+)\]")
BLANKS = re.compile(r"[ \t\xa0]+")
LINES = re.compile(r"\s*\n\s*")
# Marks of the writing direction that Anki puts around numbers.
ISOLATES = dict.fromkeys((0x2066, 0x2067, 0x2068, 0x2069))

# By the type of a card.
STATES = ("new", "learning", "review", "relearning")
# The names of the eases 1 to 4.
BUTTONS = ("again", "hard", "good", "easy")
# The queue of cards that come again today; their `due` is a second.
LEARNING = 1
# Characters of a side in a list of cards.
LONGEST_SIDE = 600

DAY_S = 86_400
# Names and seconds of the units in which Anki writes intervals, and their digits after the point.
UNITS = (
    ("y", 365 * DAY_S, 1),
    ("mo", 365 * DAY_S / 12, 1),
    ("d", DAY_S, 0),
    ("h", 3600, 1),
    ("m", 60, 0),
    ("s", 1, 0),
)


def typed_answer(info: JsonObject) -> str:
    """Answer that the person is to type, as HTML; empty if the card asks for none."""
    match = TYPED.search(info["question"])
    if not match or match[2] not in info["fields"]:
        return ""
    text = info["fields"][match[2]]["value"]
    if match[1]:  # a cloze: the parts that this card hides
        text = ", ".join(
            part for number, part in CLOZE.findall(text) if int(number) == info["ord"] + 1
        )
    return text


def question_and_answer(info: JsonObject) -> tuple[str, str]:
    """Both sides of a card as text, the answer without the question above it.

    A text to be typed is on the back alone. Sounds get their names from the fields.
    """
    if OCCLUSION in info["question"]:
        return MASKED, MASKED
    typed = typed_answer(info)
    question = TYPED.sub("[type it]", info["question"])
    answer = TYPED.sub(lambda match: typed, info["answer"])
    fields = " ".join(field["value"] for field in info["fields"].values())
    sounds = (match[0] for match in SOUND.finditer(fields))
    front = plain(question, sounds)
    # The line between question and answer on the back of a card.
    line = r"(?i)<hr\b[^<>]*\bid\s*=\s*[\"']?answer[\"']?[^<>]*>"
    parts = re.split(line, answer, maxsplit=1)
    return front, plain(parts[-1], sounds if len(parts) > 1 else ())


def plain(text: str, sounds: Iterable[str] = ()) -> str:
    """Turn HTML into text, with the names of pictures and sounds; each placeholder of a sound gets the next
    of `sounds`."""
    tags = iter(sounds)
    text = LATEX.sub(r"\1", INVISIBLE.sub("", text))
    text = IMAGE.sub(lambda match: f"[image: {match[1] or match[2] or match[3] or '?'}]", text)
    text = PLAY.sub(lambda match: next(tags, "[sound]"), text)
    text = SOUND.sub(r"[sound: \1]", text)
    text = TAG.sub("", BREAK.sub("\n", text))
    text = html.unescape(text).translate(ISOLATES)
    return LINES.sub("\n", BLANKS.sub(" ", text)).strip()


def card_row(info: JsonObject, longest: int = LONGEST_SIDE) -> JsonObject:
    """Show a card of cardsInfo. `interval` is in days. `next`, the interval after each button, is missing
    with the add-on of 2023. `inMinutes` is there if a learning card is ahead of its time."""
    question, answer = question_and_answer(info)
    row = {
        "cardId": info["cardId"],
        "noteId": info["note"],
        "deck": info["deckName"],
        "question": cut(question, longest),
        "answer": cut(answer, longest),
        "state": STATES[info["type"]],
        "interval": info["interval"],
    }
    ahead_s = info["due"] - time.time()
    if info["queue"] == LEARNING and ahead_s > 0:
        row["inMinutes"] = math.ceil(ahead_s / 60)
    if spans := info.get("nextReviews"):
        row["next"] = {name: span.translate(ISOLATES) for name, span in zip(BUTTONS, spans)}
    return row


def span(seconds: float) -> str:
    """Write an interval as on Anki's buttons: 30s, 10m, 1.5h, 12d, 1.2mo, 2y."""
    name, unit, digits = next((row for row in UNITS if seconds >= row[1]), UNITS[-1])
    return f"{seconds / unit:.{digits}f}".removesuffix(".0") + name
