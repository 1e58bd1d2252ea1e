"""How cards stand: looked at before a change, and put back after it."""

from collections.abc import Iterator

from tools.anki import client, window
from tools.anki.client import Action
from tools.anki.journal.entries import CardStates, Schedule
from tools.core.json_types import JsonObject

FLAGS = range(8)
PART = 500
"""Cards in one request: the answer of cardsInfo has a kilobyte for each."""

FORGOTTEN = "the schedule is back; with FSRS, Anki works out the memory of forgotten cards anew at their next answer"


def flags(cards: list[int]) -> dict[str, list[int]]:
    """The cards under each flag. One request."""
    by_flag = client.results(*(("findCards", {"query": f"{search(cards)} flag:{flag}"}) for flag in FLAGS))
    return {str(flag): ids for flag, ids in zip(FLAGS, by_flag, strict=True) if ids}


def schedules(cards: list[int]) -> list[Schedule]:
    """Where the cards stand in the schedule, but for those that a filtered deck has borrowed: their home's place in it
    cannot be read. One request, and one for each 500 cards."""
    borrowed = set(client.call("findCards", query=f"{search(cards)} deck:filtered"))
    own = [card for card in cards if card not in borrowed]
    return [_schedule(info) for part in _parts(own) for info in client.call("cardsInfo", cards=part) if info]


def suspension(cards: list[int]) -> tuple[list[int], list[int]]:
    """Those that are suspended, and those that are not. One request."""
    suspended = client.call("findCards", query=f"{search(cards)} is:suspended")
    return suspended, sorted(set(cards) - set(suspended))


def present(states: CardStates) -> CardStates:
    """How the cards of `states` stand at the moment, in the same respects. At most ten requests for 500 cards."""
    at_present = CardStates()
    if cards := _alive([*states.suspended, *states.awake]):
        at_present.suspended, at_present.awake = suspension(cards)
    if cards := _alive([card for ids in states.by_flag.values() for card in ids]):
        at_present.by_flag = flags(cards)
    if cards := _alive([row.card for row in states.schedules]):
        at_present.schedules = schedules(cards)
    return at_present


def _alive(cards: list[int]) -> list[int]:
    return client.call("findCards", query=search(cards)) if cards else []


def search(cards: list[int]) -> str:
    """The query for these cards."""
    return f"cid:{','.join(map(str, cards))}"


def put_back(states: CardStates, failed: list[JsonObject]) -> int:
    """Flag, schedule and suspend the cards as they were; how many are. The others are told in `failed`."""
    flagged = {card: int(flag) for flag, cards in states.by_flag.items() for card in cards}
    wanted = {*flagged, *states.suspended, *states.awake, *(row.card for row in states.schedules)}
    if not wanted:
        return 0
    alive = set(_alive(sorted(wanted)))
    values = [
        *((row.card, _values(row)) for row in states.schedules if row.card in alive),
        *((card, _value(card, {"flags": flag})) for card, flag in flagged.items() if card in alive),
    ]
    for start in range(0, len(values), PART):
        part = values[start : start + PART]
        for (card, _), result in zip(part, client.multi(*(action for _, action in part)), strict=True):
            if not (isinstance(result, list) and result and all(done is True for done in result)):
                failed.append({"cardId": card, "error": "Anki did not take what it was before"})
    client.results(*_suspensions(states, alive), window.REDRAW)
    return len(alive)


def _suspensions(states: CardStates, alive: set[int]) -> Iterator[Action]:
    for name, cards in (("suspend", states.suspended), ("unsuspend", states.awake)):
        if existing := [card for card in cards if card in alive]:
            yield name, {"cards": existing}


def _schedule(info: JsonObject) -> Schedule:
    columns = (info[name] for name in ("type", "queue", "due", "interval", "factor", "reps", "lapses", "left"))
    return Schedule(info["cardId"], *columns)


def _values(row: Schedule) -> Action:
    columns = row._asdict()
    del columns["card"]
    return _value(row.card, columns)


def _value(card: int, columns: dict[str, int]) -> Action:
    values = {"keys": list(columns), "newValues": list(columns.values()), "warning_check": True}
    return "setSpecificValueOfCard", {"card": card, **values}


def _parts(cards: list[int]) -> Iterator[list[int]]:
    for start in range(0, len(cards), PART):
        yield cards[start : start + PART]
