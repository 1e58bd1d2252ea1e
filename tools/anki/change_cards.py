"""The tool that changes many cards or notes at once."""

from typing import Annotated

from tools.anki.studying import changes
from tools.anki.studying.changes import Wanted
from tools.anki.studying.changing import Changing
from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.core.schema import Limits
from tools.core.tool import Tool


@Tool("anki.change_cards", write=True, destructive=True, raw=True, lock=False)
def change_cards(
    query: Annotated[str, "or cardIds or noteIds"] = "",
    cardIds: list[int] | None = None,
    noteIds: list[int] | None = None,
    suspend: bool | None = None,
    unsuspend: bool | None = None,
    due: Annotated[str, "in days: 0, 3-7; 3! sets the interval"] = "",
    forget: bool | None = None,
    deck: str = "",
    flag: Annotated[int | None, Limits(ge=0, le=7)] = None,
    addTags: list[str] | None = None,
    removeTags: list[str] | None = None,
    renameTag: Annotated[list[str] | None, "[old, new]"] = None,
    dryRun: bool = True,
    expected: Annotated[int | None, "the dry run's count"] = None,
) -> JsonObject:
    """Change many cards, or tags of their notes. First dry: {count, of, before, examples}; then, if the person agrees,
    with dryRun false and expected = count: {changed, of, before, after}.

    Source: AnkiConnect suspend, unsuspend, setDueDate, forgetCards, changeDeck, setSpecificValueOfCard, addTags,
    removeTags, replaceTags.
    """
    wanted = changes.checked(
        Wanted(
            suspend,
            unsuspend,
            due.strip(),
            forget,
            deck.strip(),
            flag,
            addTags or [],
            removeTags or [],
            renameTag or [],
        )
    )
    changing = Changing(wanted, _selection(query, cardIds, noteIds))
    return changing.dry_run() if dryRun else changing.run(expected)


def _selection(query: str, cards: list[int] | None, notes: list[int] | None) -> str:
    """The search for what is to be changed."""
    ways = [
        f"({query.strip()})" if query.strip() else "",
        f"cid:{','.join(map(str, cards))}" if cards else "",
        f"nid:{','.join(map(str, notes))}" if notes else "",
    ]
    chosen = [way for way in ways if way]
    if len(chosen) != 1:
        raise ToolError(
            "Say in one way which cards: query, cardIds or noteIds. Nothing was changed",
            "Every card has the query deck:*.",
            code="INVALID_ARGUMENTS",
        )
    return chosen[0]
