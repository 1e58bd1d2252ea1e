"""The replacement of texts in fields: a typo costs a few words, not the whole field."""

import re
import unicodedata
from collections.abc import Iterator
from os.path import commonprefix

from tools.toolkit import cut

from . import note_input, notes
from .note_input import Fields, ItemError, Names, NoteUpdate, Pair, Pairs, folded

# An occurrence of a text in a note: the note's id, the field, the text with its surroundings.
Occurrence = list[int | str]

EVERY_FIELD = "*"
# Characters that a dry run shows on each side of an occurrence, and before the first difference.
SURROUNDING_CHARS = 20


def pairs_with_breaks(replace: Pairs) -> Pairs:
    """The replacements with `<br>` for line breaks of the new text, unless the old text has some too."""
    pairs = {}
    for name, (old, new) in replace.items():
        if "\n" not in old:
            new = note_input.with_breaks({name: new})[name]
        pairs[name] = [old, new]
    return pairs


def new_values(update: NoteUpdate, values: Fields) -> Fields:
    """The fields of a note that the update changes, by their names, with their new texts.

    Raises ItemError: no such field or text, or a text that is there more than once.
    """
    changed = note_input.canonical_fields(note_input.with_breaks(update.fields), list(values))
    for name, pair in pairs_with_breaks(update.replace).items():
        if name != EVERY_FIELD:
            note_input.canonical_fields({name: ""}, list(values))
        old, new = pair
        texts = {**values, **changed}
        matches = list(find_matches(name, pair, texts))
        is_made = new and any(new in texts[field] for field in _fields(name, values))
        if not matches and not is_made:
            raise ItemError(
                f"{old[:80]!r} is not in {'any field' if name == EVERY_FIELD else name}",
                "anki_note_info shows the fields: they are HTML, and upper and lower case differ.",
                "NO_SUCH_TEXT",
            )
        if len(matches) > 1 and not update.all:
            raise ItemError(
                f"{old[:80]!r} occurs {len(matches)} times",
                "Give more of the text around it, or all: true.",
                "AMBIGUOUS",
            )
        for field, match in dict(matches).items():
            changed[field] = match.re.sub(new.replace("\\", r"\\"), texts[field])
    return changed


def find_matches(name: str, pair: Pair, values: Fields) -> Iterator[tuple[str, re.Match[str]]]:
    """The occurrences of the old text. Where the new text holds the old one, as `cats` holds `cat`, it is
    left alone: a call made again after a lost answer must not make `catss`."""
    old, new = pair
    pattern = f"({re.escape(old)})"
    if old in new:
        pattern = f"{re.escape(new)}|{pattern}"
    for field in _fields(name, values):
        for match in re.finditer(pattern, values[field]):
            if match[1]:
                yield field, match


def occurrences(update: NoteUpdate, values: Fields) -> Iterator[Occurrence]:
    """Each text that the update replaces, with its surroundings: [note, field, text]."""
    for name, pair in pairs_with_breaks(update.replace).items():
        for field, match in find_matches(name, pair, values):
            text = values[field]
            before = text[max(0, match.start() - SURROUNDING_CHARS) : match.start()]
            after = text[match.end() : match.end() + SURROUNDING_CHARS]
            yield [update.noteId, field, f"{before}[{' → '.join(pair)}]{after}"]


def as_anki_keeps(text: str) -> str:
    """The text as Anki keeps it: in Unicode's composed form, without control characters except line breaks
    and tabs."""
    return unicodedata.normalize("NFC", re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", "", text))


def difference(old: str, new: str) -> list[str]:
    """Both texts from shortly before the first difference."""
    same = len(commonprefix([old, new]))  # noqa: RUF071
    start = max(0, same - SURROUNDING_CHARS)
    return [cut(text[start:], notes.LONGEST_EXCERPT) for text in (old, new)]


def _fields(name: str, values: Fields) -> Names:
    """The fields that a name stands for: one, none or all."""
    is_every = name == EVERY_FIELD
    return [field for field in values if is_every or folded(field) == folded(name)]
