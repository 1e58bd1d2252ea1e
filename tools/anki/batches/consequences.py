"""What a change of fields brings about that nobody asked for, and that Anki does without a word."""

import re
from typing import NamedTuple

from tools.anki import client, notes
from tools.anki.batches import present
from tools.anki.batches.added_keys import Sent
from tools.anki.client import Action
from tools.anki.notes import Info
from tools.anki.studying.card_text import plain
from tools.core.json_types import JsonObject

DELETION = re.compile(r"\{\{c([\d,]+)::")
"""The beginning of a cloze deletion, with its numbers: {{c1::…}}, {{c1,2::…}}."""
CLOZE_FIELD = re.compile(r"\{\{[^{}]*\bcloze[^{}]*:([^{}:]+)\}\}")
"""A field that a template shows as cloze: {{cloze:Text}}, {{type:cloze:Text}}."""

EMPTY_CARDS = "Cards whose cloze is gone stay in Anki, empty, until the person deletes them there (Tools, Empty Cards)"


class Pair(NamedTuple):
    """The fields of a note before and after a change, and its note type."""

    model: str
    before: dict[str, str]
    after: dict[str, str]

    @property
    def first(self) -> tuple[str, str, str]:
        """The name of the first field, and its text before and after."""
        name = next(iter(self.after))
        return name, plain(self.before.get(name, "")), plain(self.after[name])


def find(before: dict[int, Info], after: dict[int, Info], model_ids: dict[str, int]) -> dict[int, list[str]]:
    """By note: that its first field is empty now, that another note has it too, that clozes are gone.

    One request if first fields or clozes were changed, else none. Raises Failure.
    """
    pairs = {
        note: Pair(info.get("modelName") or "", notes.values(before[note]), notes.values(info))
        for note, info in after.items()
        if note in before
    }
    reworded = {note: pair for note, pair in pairs.items() if pair.first[1] != pair.first[2] != ""}
    models = {pair.model: pair for pair in pairs.values() if _numbers(pair.before) - _numbers(pair.after)}
    answers = client.results(
        *(_question(pair, model_ids) for pair in reworded.values()),
        *(("modelTemplates", {"modelName": model}) for model in models),
    )
    same_first = dict(zip(reworded, answers, strict=False))
    cloze_fields = {
        model: _cloze_fields(answer) for model, answer in zip(models, answers[len(reworded) :], strict=True)
    }
    return {
        note: warnings
        for note, pair in pairs.items()
        if (warnings := _warnings(note, pair, same_first.get(note, []), cloze_fields.get(pair.model, set())))
    }


def _question(pair: Pair, model_ids: dict[str, int]) -> Action:
    name, _, _ = pair.first
    return present.question(Sent("", pair.model, pair.after[name]), model_ids.get(pair.model), name)


def _warnings(note: int, pair: Pair, same_first: list[int], cloze_fields: set[str]) -> list[str]:
    name, old, new = pair.first
    warnings = []
    if old and not new:
        warnings.append(f"{name}, the first field, is empty now")
    if others := sorted(set(same_first) - {note}):
        warnings.append(f"{name}, the first field, is now the same as of note {others[0]}, a duplicate")
    if gone := sorted(_numbers(pair.before, cloze_fields) - _numbers(pair.after, cloze_fields)):
        warnings.append(f"{', '.join(f'c{number}' for number in gone)} gone, with an empty card left for each")
    return warnings


def _numbers(values: dict[str, str], names: set[str] | None = None) -> set[int]:
    """The numbers of the cloze deletions in these fields, or in all."""
    texts = [text for name, text in values.items() if names is None or name in names]
    lists = [numbers for text in texts for numbers in DELETION.findall(text)]
    return {int(number) for numbers in lists for number in numbers.split(",") if number}


def _cloze_fields(templates: dict[str, JsonObject]) -> set[str]:
    """The fields that a note type shows as cloze, by an answer of modelTemplates."""
    sides = [side for template in templates.values() for side in template.values()]
    return {name.strip() for side in sides for name in CLOZE_FIELD.findall(side)}
