"""Changes of many cards or notes at once: what each one sends, and what is counted before and after."""

import re
from dataclasses import dataclass, field

from tools.anki import decks
from tools.anki.batches import fields
from tools.anki.client import Action
from tools.core.errors import ToolError

DAYS = re.compile(r"\d{1,4}(-\d{1,4})?!?")
"""0 for today, 3-7 for a day between, ! to set the interval too."""


@dataclass(frozen=True)
class Wanted:
    """What a call asks for, as it was given."""

    suspend: bool | None = None
    unsuspend: bool | None = None
    due: str = ""
    forget: bool | None = None
    deck: str = ""
    flag: int | None = None
    addTags: list[str] = field(default_factory=list)
    removeTags: list[str] = field(default_factory=list)
    renameTag: list[str] = field(default_factory=list)

    @property
    def of_cards(self) -> bool:
        """Whether cards are changed; else it is the notes, by their tags."""
        return bool(self.suspend or self.unsuspend or self.due or self.forget or self.deck or self.flag is not None)

    @property
    def of_notes(self) -> bool:
        return bool(self.addTags or self.removeTags or self.renameTag)

    @property
    def summary(self) -> str:
        """What is changed, as the call named it."""
        asked = {
            name: value for name, value in vars(self).items() if value is not False and value not in (None, "", [])
        }
        return ", ".join(name if value is True else f"{name} {value}" for name, value in asked.items())


def checked(wanted: Wanted) -> Wanted:
    """Raises ToolError for what Anki would take for something else, or that makes no sense together."""
    if not wanted.of_cards and not wanted.of_notes:
        raise _wrong("There is nothing to change", "Give suspend, unsuspend, due, forget, deck, flag or tags.")
    if wanted.suspend and (wanted.unsuspend or wanted.due):
        raise _wrong("suspend does not go with unsuspend or due", "Give one of them: a due date wakes cards.")
    if wanted.due and not DAYS.fullmatch(wanted.due):
        raise _wrong(
            f"due: {wanted.due[:80]!r} is not a number of days",
            "Give days from today: 0, 3, 3-7; 3! sets the interval too.",
        )
    if wanted.renameTag and len(wanted.renameTag) != 2:
        raise _wrong("renameTag takes two tags", "Give [old, new].")
    for tags in (wanted.addTags, wanted.removeTags, wanted.renameTag):
        fields.checked_tags(tags)
    return wanted


def _wrong(what: str, hint: str) -> ToolError:
    return ToolError(f"{what}. Nothing was changed", hint, code="INVALID_ARGUMENTS")


def of_cards(wanted: Wanted, cards: list[int]) -> list[Action]:
    """What changes these cards. One action each, but a flag, which AnkiConnect sets card by card."""
    if not cards:
        return []
    every: list[tuple[object, Action]] = [
        (wanted.forget, ("forgetCards", {"cards": cards})),
        (wanted.due, ("setDueDate", {"cards": cards, "days": wanted.due})),
        (wanted.unsuspend, ("unsuspend", {"cards": cards})),
        (wanted.suspend, ("suspend", {"cards": cards})),
        (wanted.deck, ("changeDeck", {"cards": cards, "deck": wanted.deck})),
    ]
    actions = [action for asked, action in every if asked]
    if wanted.flag is not None:
        flag = {"keys": ["flags"], "newValues": [wanted.flag]}
        actions += [("setSpecificValueOfCard", {"card": card, **flag}) for card in cards]
    return actions


def of_notes(wanted: Wanted, notes: list[int]) -> list[Action]:
    """What changes the tags of these notes."""
    if not notes:
        return []
    actions: list[Action] = []
    if wanted.addTags:
        actions.append(("addTags", {"notes": notes, "tags": " ".join(wanted.addTags)}))
    if wanted.removeTags:
        actions.append(("removeTags", {"notes": notes, "tags": " ".join(wanted.removeTags)}))
    if wanted.renameTag:
        old, new = wanted.renameTag
        actions.append(("replaceTags", {"notes": notes, "tag_to_replace": old, "replace_with_tag": new}))
    return actions


def counters(wanted: Wanted) -> dict[str, str]:
    """By name: the search that counts what is changed already, before and after."""
    low, _, high = wanted.due.rstrip("!").partition("-")
    tags = {f"tag {tag}": _tag(tag) for tag in [*wanted.addTags, *wanted.removeTags, *wanted.renameTag]}
    every = {
        "suspended": "is:suspended" if wanted.suspend or wanted.unsuspend or wanted.due else "",
        f"due in {wanted.due} days": f"prop:due>={int(low)} prop:due<={int(high or low)}" if wanted.due else "",
        "new": "is:new" if wanted.forget else "",
        f"in {wanted.deck}": decks.search(wanted.deck, subdecks=False) if wanted.deck else "",
        f"flag {wanted.flag}": "" if wanted.flag is None else f"flag:{wanted.flag}",
    }
    return {name: search for name, search in {**every, **tags}.items() if search}


def _tag(tag: str) -> str:
    return f'"tag:{decks.quoted(tag)}"'
