"""The states of cards before a change: suspended or awake, flags, schedules, as the steps that put them back."""

from collections.abc import Iterator

from tools.anki import client
from tools.anki.journal import SET_VALUE, Step
from tools.core.json_types import JsonObject

FLAGS = range(8)
PART = 500
"""Cards in one request: the answer of cardsInfo has a kilobyte for each."""
# The columns of Anki's table `cards` that are a card's place in the schedule; AnkiConnect calls `ivl` `interval`.
COLUMNS = ("type", "queue", "due", "ivl", "factor", "reps", "lapses", "left")


def search(cards: list[int]) -> str:
    """The query for these cards."""
    return f"cid:{','.join(map(str, cards))}"


def existing(cards: list[int]) -> list[int]:
    """The cards that are still there. One request."""
    return client.call("findCards", query=search(cards)) if cards else []


def suspended_again(cards: list[int]) -> list[Step]:
    """The steps that suspend those that are suspended now, and wake the others. One request."""
    suspended = client.call("findCards", query=f"{search(cards)} is:suspended")
    awake = sorted(set(cards) - set(suspended))
    return [Step("cards", "suspend", {}, suspended), Step("cards", "unsuspend", {}, awake)]


def flagged_again(cards: list[int]) -> list[Step]:
    """The steps that give each card the flag it has now. One request."""
    searches = [("findCards", {"query": f"{search(cards)} flag:{flag}"}) for flag in FLAGS]
    steps = []
    for flag, ids in zip(FLAGS, client.results(*searches), strict=True):
        steps.append(Step("cards", SET_VALUE, {"keys": ["flags"], "newValues": [flag]}, ids))
    return steps


def scheduled_again(cards: list[int]) -> list[Step]:
    """The steps that give each card the schedule it has now."""
    return [Step("cards", SET_VALUE, _schedule(info, *COLUMNS), [info["cardId"]]) for info in infos(cards)]


def schedules_by_note(cards: list[int]) -> dict[int, list[tuple[int, JsonObject]]]:
    """The schedules and flags of cards that are about to be deleted, with the number of their template."""
    by_note: dict[int, list[tuple[int, JsonObject]]] = {}
    for info in infos(cards):
        by_note.setdefault(info["note"], []).append((info["ord"], _schedule(info, *COLUMNS, "flags")))
    return by_note


def infos(cards: list[int]) -> Iterator[JsonObject]:
    """The cards as cardsInfo has them, except those that a filtered deck has borrowed: their place at home cannot
    be read. One request, and one for each 500."""
    borrowed = set(client.call("findCards", query=f"{search(cards)} deck:filtered")) if cards else set()
    at_home = [card for card in cards if card not in borrowed]
    for at in range(0, len(at_home), PART):
        yield from filter(None, client.call("cardsInfo", cards=at_home[at : at + PART]))


def _schedule(info: JsonObject, *columns: str) -> JsonObject:
    values = {**info, "ivl": info["interval"]}
    keys = [name for name in columns if name in values]  # the add-on of 2023 does not give flags
    return {"keys": keys, "newValues": [values[name] for name in keys]}
