"""The tool that shows the cards to study, and its page, which shows them as Anki draws them."""

import re
from datetime import date, datetime
from html import unescape
from itertools import chain
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote

from tools.core import presses, toolsets
from tools.core.mcp_apps import Page
from tools.toolkit import JsonObject, Limits, Tool, ToolError, state_path

from . import card_text, client
from .card_text import IMAGE, card_row
from .client import action
from .studying.review_log import newest_answers
from .studying.study_queue import Cards, due_counts, read_queue

# The entry of a result's `_meta` that holds the cards; the model need not pay for them.
CARDS_KEY = "pi-mcp/cards"
# Files of one answer, as base64: beyond, the page fetches further cards by another call.
MOST_FILE_BYTES = 3_000_000
LONGEST_CURRENT = 4000


class CardsAnswer(JsonObject):
    """An answer of anki.due, with its cards as cardsInfo has them."""

    infos: Cards


def press_key() -> str:
    """Key of the presses that rate cards today."""
    return presses.make_key(state_path("anki-press.key"), f"study {date.today()}")


def _page_meta(answer: JsonObject) -> JsonObject:
    if not isinstance(answer, CardsAnswer):
        return {}
    try:
        private: JsonObject = {CARDS_KEY: _page_cards(answer.infos, answer["cards"])}
    except ToolError:  # the model asks instead
        return {}
    if not toolsets.only_reads("anki"):
        private.update(presses.key_as_meta(press_key))
    return private


def _page_cards(infos: Cards, rows: list[JsonObject]) -> list[JsonObject]:
    """Build the cards for the page: their sides as HTML and as text, sounds and files; as many as one answer
    takes. Two requests."""
    log = newest_answers(client.call("getReviewsOfCards", cards=[info["cardId"] for info in infos]))
    cards = []
    for info, row in zip(infos, rows):
        sides = [info["question"], info["answer"]]
        texts = card_text.question_and_answer(info)
        sounds = [re.findall(r"\[sound: ([^\]]+)\]", text) for text in texts]
        images = [unquote(unescape("".join(parts))) for parts in IMAGE.findall("".join(sides))]
        files = chain(images, *sounds)
        card = {
            "cardId": info["cardId"],
            "seen": log[info["cardId"]].id,
            "sides": sides,
            "texts": list(texts),
            "sounds": sounds,
            "state": row["state"],
            "next": row.get("next", {}),
            "files": dict.fromkeys(name for name in files if ":" not in name),
        }
        if typed := card_text.typed_answer(info):
            card["typed"] = card_text.plain(card_text.SOUND.sub("", typed))
        cards.append(card)
    return _with_files(cards)


def _with_files(cards: list[JsonObject]) -> list[JsonObject]:
    """Fill in the contents of files, for as many cards as fit; a file that is too large by itself is left
    out."""
    names = list(set(chain.from_iterable(card["files"] for card in cards)))
    contents = client.multi(*(action("retrieveMediaFile", filename=name) for name in names))
    content_of = dict(zip(names, contents))
    bytes_left = MOST_FILE_BYTES
    for index, card in enumerate(cards):
        for name in card["files"]:
            content = content_of[name]
            if not isinstance(content, str):  # there is no such file
                continue
            if len(content) <= bytes_left:
                card["files"][name] = content
                bytes_left -= len(content)
            elif index:
                return cards[:index]
    return cards


def _answer_beside_page(answer: JsonObject) -> JsonObject:
    """Shorten the answer for a model whose person has the cards on the page."""
    return {
        "deck": answer["deck"],
        "due": answer["due"],
        "onPage": len(answer["cards"]),
        "note": "the person rates them there; to ask here yourself, call again with asText",
    }


STUDY_PAGE = Page(
    "ui://anki/study",
    Path(__file__).parent / "studying" / "study.html",
    _page_meta,
    _answer_beside_page,
)


@Tool("anki.due", title="Anki: cards to study", page=STUDY_PAGE)
def due(
    deck: Annotated[str, "all by default", Limits(strip=True)] = "",
    limit: Annotated[int, Limits(ge=1, le=50)] = 10,
    query: Annotated[str, "e.g. tag:verbs"] = "",
    current: Annotated[bool, "on Anki's screen"] = False,
    asText: bool = False,
) -> JsonObject:
    """Show cards to study now. Ask, wait, show the answer.

    Source: AnkiConnect getDeckStats, findCards, cardsInfo, guiCurrentCard. {deck, due, cards: [{cardId,
    question, answer, state, interval, next}]}.
    """
    if current:
        return _card_on_screen()
    name, counts, infos, remarks = read_queue(deck, query, limit)
    cards = list(map(card_row, infos))
    studied = CardsAnswer(deck=name, due=counts, cards=cards, **remarks)
    if cards and "inMinutes" in cards[0]:
        next_time = datetime.fromtimestamp(infos[0]["due"]).strftime("%H:%M")
        studied["note"] = (
            f"nothing else is due: these come early, the next at {next_time}; answer them with early: true"
        )
    studied.infos = infos
    return dict(studied) if asText else studied


def _card_on_screen() -> JsonObject:
    card = client.call("guiCurrentCard")
    name = card["deckName"]
    infos, stats, deck_ids = client.results(
        action("cardsInfo", cards=[card["cardId"]]),
        action("getDeckStats", decks=[name]),
        action("deckNamesAndIds"),
    )
    _, counts = due_counts(stats, {name: deck_ids[name]})
    return {
        "deck": name,
        "due": counts,
        "cards": [card_row(info, LONGEST_CURRENT) for info in infos],
    }
