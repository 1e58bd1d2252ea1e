"""The states of cards: looked at before a change, and put back after it."""

from collections.abc import Iterator

from tools.anki import client
from tools.anki.client import Action
from tools.anki.journal import CardStates, Schedule
from tools.core.json_types import JsonObject

FLAGS = range(8)
PART = 500
"""Cards in one request: the answer of cardsInfo has a kilobyte for each."""
# The columns of a Schedule after the card's id; AnkiConnect calls `ivl` `interval`.
COLUMNS = ("type", "queue", "due", "ivl", "factor", "reps", "lapses", "left", "flags")


def search(cards: list[int]) -> str:
    """The query for these cards."""
    return f"cid:{','.join(map(str, cards))}"


def existing(cards: list[int]) -> list[int]:
    """The cards that are still there. One request."""
    return client.call("findCards", query=search(cards)) if cards else []


def look(cards: list[int], suspended: bool, flags: bool, schedules: bool) -> CardStates:
    """The states of cards in these respects. At most ten requests for 500 cards.

    Schedules are those of cards that no filtered deck has borrowed: of others the place at home cannot be
    read.
    """
    states = CardStates()
    if suspended:
        states.suspended = client.call("findCards", query=f"{search(cards)} is:suspended")
        states.awake = sorted(set(cards) - set(states.suspended))
    if flags:
        by_flag = client.results(
            *(("findCards", {"query": f"{search(cards)} flag:{flag}"}) for flag in FLAGS)
        )
        states.by_flag = {str(flag): ids for flag, ids in zip(FLAGS, by_flag, strict=True) if ids}
    if schedules:
        states.schedules = [_schedule(info["cardId"], info)[:-1] for info in _infos(cards)]
    return states


def by_note(cards: list[int]) -> dict[int, list[Schedule]]:
    """The schedules of cards that are about to be deleted, by note, with flags."""
    by_note: dict[int, list[Schedule]] = {}
    for info in _infos(cards):
        by_note.setdefault(info["note"], []).append(_schedule(info["ord"], info))
    return by_note


def _infos(cards: list[int]) -> Iterator[JsonObject]:
    borrowed = set(client.call("findCards", query=f"{search(cards)} deck:filtered")) if cards else set()
    at_home = [card for card in cards if card not in borrowed]
    for at in range(0, len(at_home), PART):
        yield from filter(None, client.call("cardsInfo", cards=at_home[at : at + PART]))


def _schedule(card: int, info: JsonObject) -> Schedule:
    columns = {**info, "ivl": info.get("interval")}
    return [card, *map(columns.get, COLUMNS)]


def put_back(states: CardStates, failed: list[JsonObject]) -> int:
    """Flag, schedule and suspend the cards as they were; how many are. The others are named in `failed`."""
    columns = _columns_of(states)
    cards = set(existing(sorted({*columns, *states.suspended, *states.awake})))
    _set_columns({card: values for card, values in columns.items() if card in cards}, failed)
    sleeping = (("suspend", cards & {*states.suspended}), ("unsuspend", cards & {*states.awake}))
    actions: list[Action] = [(name, {"cards": sorted(ids)}) for name, ids in sleeping if ids]
    if cards:
        client.results(*actions, client.REDRAW)
    return len(cards)


def schedule_again(cards_of: dict[int, list[Schedule]], failed: list[JsonObject]) -> int:
    """Give notes that were added again the schedule of their deleted cards; how many cards got it. A card
    that was studied since keeps its own."""
    places = {(note, card[0]): _columns(card) for note, cards in cards_of.items() for card in cards}
    if not places:
        return 0
    new = client.call("findCards", query=f"nid:{','.join(str(note) for note, _ in places)} is:new")
    columns = {info["cardId"]: places.get((info["note"], info["ord"]), {}) for info in _infos(new)}
    columns = {card: values for card, values in columns.items() if values}
    _set_columns(columns, failed)
    return len(columns)


def _columns_of(states: CardStates) -> dict[int, dict[str, int]]:
    columns = {schedule[0] or 0: _columns(schedule) for schedule in states.schedules}
    for flag, cards in states.by_flag.items():
        columns |= {card: {**columns.get(card, {}), "flags": int(flag)} for card in cards}
    return columns


def _columns(schedule: Schedule) -> dict[str, int]:
    return {name: value for name, value in zip(COLUMNS, schedule[1:], strict=False) if value is not None}


def _set_columns(columns: dict[int, dict[str, int]], failed: list[JsonObject]) -> None:
    cards = list(columns)
    for at in range(0, len(cards), PART):
        part = cards[at : at + PART]
        pairs = [(card, {"keys": [*columns[card]], "newValues": [*columns[card].values()]}) for card in part]
        setting = [
            ("setSpecificValueOfCard", {"card": card, **pair, "warning_check": True}) for card, pair in pairs
        ]
        for card, result in zip(part, client.multi(*setting), strict=True):
            if not (isinstance(result, list) and result and all(done is True for done in result)):
                failed.append({"cardId": card, "error": "Anki did not take what it was before"})
