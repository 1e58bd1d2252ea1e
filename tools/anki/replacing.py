"""Replacements of texts in fields: a typo costs a few words, not the whole field."""

import re
import unicodedata
from collections.abc import Iterator
from os.path import commonprefix

from tools.toolkit import cut

from . import note_input, notes
from .note_input import FieldTexts, ItemError, Names, NoteUpdate, Pair, Pairs, folded

# An occurrence of a text: the note's id, the field, the text with its surroundings.
Occurrence = list[int | str]

EVERY_FIELD = "*"
# Characters that a dry run shows on each side of an occurrence, and before the first difference.
SURROUNDING_CHARS = 20


def pairs_with_breaks(replace: Pairs) -> Pairs:
    """Write `<br>` for the line breaks of new texts, unless the old text has some too."""
    pairs = {}
    for name, (old, new) in replace.items():
        if "\n" not in old:
            new = note_input.with_breaks({name: new})[name]
        pairs[name] = [old, new]
    return pairs


def new_values(update: NoteUpdate, values: FieldTexts) -> FieldTexts:
    """New texts of the fields that an update changes.

    Raises ItemError if a field or an old text is not there, or an old text more than once.
    """
    changed = note_input.canonical_fields(note_input.with_breaks(update.fields), list(values))
    for name, pair in pairs_with_breaks(update.replace).items():
        if name != EVERY_FIELD:
            note_input.canonical_fields({name: ""}, list(values))
        old, new = pair
        texts = values | changed
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


def find_matches(name: str, pair: Pair, values: FieldTexts) -> Iterator[tuple[str, re.Match[str]]]:
    """Find the old text, each time with its field, but not inside the new text: a call made again after a
    lost answer must not turn `cats` into `catss`."""
    old, new = pair
    pattern = f"({re.escape(old)})"
    if old in new:
        pattern = f"{re.escape(new)}|{pattern}"
    for field in _fields(name, values):
        for match in re.finditer(pattern, values[field]):
            if match[1]:
                yield field, match


def occurrences(update: NoteUpdate, values: FieldTexts) -> Iterator[Occurrence]:
    """List the texts that an update replaces, with their surroundings: [note, field, text]."""
    for name, pair in pairs_with_breaks(update.replace).items():
        for field, match in find_matches(name, pair, values):
            text = values[field]
            before = text[max(0, match.start() - SURROUNDING_CHARS) : match.start()]
            after = text[match.end() : match.end() + SURROUNDING_CHARS]
            yield [update.noteId, field, f"{before}[{' → '.join(pair)}]{after}"]


def as_anki_keeps(text: str) -> str:
    """Normalize a text as Anki does: composed Unicode (NFC), no control characters but line breaks and
    tabs."""
    return unicodedata.normalize("NFC", re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", "", text))


def differing_excerpts(old: str, new: str) -> list[str]:
    """Excerpts of both texts, from shortly before the first difference."""
    common_length = len(commonprefix([old, new]))  # noqa: RUF071
    start = max(0, common_length - SURROUNDING_CHARS)
    return [cut(text[start:], notes.LONGEST_EXCERPT) for text in (old, new)]


def _fields(name: str, values: FieldTexts) -> Names:
    """Fields that a name stands for: one, none or all."""
    is_every = name == EVERY_FIELD
    return [field for field in values if is_every or folded(field) == folded(name)]
