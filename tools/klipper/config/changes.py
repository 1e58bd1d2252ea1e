"""The dated entries of the page on changes of the configuration (`Config_Changes.md`)."""

# The page is prose, so the fate of an option is read sentence by sentence. A sentence counts if it names the
# option, or a pattern that fits it (`default_parameter_<name>`), and says that something is gone or
# deprecated. It does not count if the option is the new name in it ("x has been renamed to `option`"). The
# newest entry that speaks of the option's section decides; an option with a `_` in its name may be known by
# any entry.

import re
from collections.abc import Iterator
from itertools import dropwhile
from typing import NamedTuple

from .. import headings

CHANGES_PAGE = "Config_Changes.md"
# A link, with its text as a group.
LINK = r"\[([^\[\]]{1,200})\]\([^()\s]{0,200}\)"
# A name in backticks or quotes; one in brackets, too, is a section's.
NAME_IN_MARKS = r"[`\"]([A-Za-z_][\w<>]*)[`\"]"
# The words of a sentence that says that a name is gone, or deprecated; "It was deprecated on 20240313" is
# history.
GONE = r"\b(?:removed|renamed|no longer|replaced|superseded|moved)\b"
DEPRECATED = r"\bdeprecated\b(?! on \d)|\bwill be removed\b"
# A name as in NAME_IN_MARKS, or a section's.
MARKED_NAME = r"[`\"]\[?[A-Za-z_][\w<>]*\]?[`\"]"
# The words before a successor's name: `renamed to X`, `Use X and Y instead`, `Use a pwm_tool config
# section`.
SUCCESSOR = (
    r"\b(?:[Uu]se|[Rr]eplace with|renamed(?: as| to)?|replaced with|superseded by|in favou?r of|new)"
    rf"(?: (?:the|a|an|new))*? ((?:{MARKED_NAME}[ ,]*(?:and |or )?)+|\w+_\w+(?= (?:parameter|option|setting|config|module)))"
)


class DatedEntry(NamedTuple):
    """A change: its `date` as 2020-01-09, and its text on one line, links by their text."""

    date: str
    text: str


class Fate(NamedTuple):
    """An entry's verdict on an option: that it is removed, or only `deprecated`; its successor if one is
    named; the sentence."""

    entry: DatedEntry
    deprecated: bool
    successor: str
    sentence: str


# The entries of the page, newest first.
DatedEntries = list[DatedEntry]


def entries_of_page(text: str) -> Iterator[DatedEntry]:
    """Read the page's entries, newest first."""
    for section in headings.page_sections(text).values():
        if section.level == headings.ENTRY_LEVEL:
            _, *words = text[section.offset : section.end].split()  # the first word is its date
            yield DatedEntry(section.heading, re.sub(LINK, r"\1", " ".join(words)))


def entries_about(dated_entries: DatedEntries, name: str) -> Iterator[tuple[DatedEntry, list[str]]]:
    """Yield the entries that name an option or a section, each with its sentences from the first on that has
    the name."""
    pattern = _name_pattern(name)
    for entry in dated_entries:
        if pattern.search(entry.text):
            # Cut at the blanks between two sentences.
            sentences = re.split(r"(?<=[.!])\s+(?=[A-Z`(\"\[])", entry.text)
            yield entry, list(dropwhile(lambda sentence: not pattern.search(sentence), sentences))


def _name_pattern(name: str) -> re.Pattern[str]:
    """Pattern that finds a name, also where the page has a placeholder in it: `default_parameter_<name>`."""
    # Behind each `_` stands a placeholder, or the rest.
    parts = re.escape(name).replace("_", r"_(?:<\w+>|") + ")" * name.count("_")
    return re.compile(rf"(?i)(?<![\w<]){parts}(?![\w>])")


def fate_of(dated_entries: DatedEntries, section: str, option: str) -> Fate | None:
    """Find an option's fate by the newest entry about it; the successor may come from an older one."""
    fates = list(_fates(dated_entries, option))
    # The subject of a section as the entries name it: `stepper` for `stepper_z1`.
    subject = section.rstrip("0123456789").partition("_")[0]
    subject = subject.replace("extruder", "extruder|the heater")
    of_section = [fate for fate in fates if re.search(subject, fate.entry.text.lower())]
    relevant = of_section or (fates if "_" in option else [])
    if not relevant:
        return None
    successors = (fate.successor for fate in relevant + fates if fate.successor)
    return relevant[0]._replace(successor=next(successors, ""))


def _fates(dated_entries: DatedEntries, option: str) -> Iterator[Fate]:
    """Yield the option's fate by each entry."""
    pattern = _name_pattern(option)
    for entry, sentences in entries_about(dated_entries, option):
        for number, sentence in enumerate(sentences):
            match = pattern.search(sentence)
            is_change = re.search(GONE, sentence) or re.search(DEPRECATED, sentence)
            if not match or not is_change:
                continue
            # After these words a name is the new one.
            new_name = r"(?:renamed|replaced|superseded)[^.]*? (?:to|with|by)\b[^.]*$"
            if not re.search(new_name, sentence[: match.start()]):
                later = " ".join(sentences[number + 1 :])
                # The old name may still work after a rename: the sentences behind it say so.
                text = later if "renamed" in sentence else sentence
                deprecated = bool(re.search(DEPRECATED, text))
                after = f"{sentence[match.end() :]} {later}"
                successor = _successor(after, re.findall(NAME_IN_MARKS, sentence), match[0])
                yield Fate(entry, deprecated, successor, sentence)


def _successor(after: str, names: list[str], name: str) -> str:
    """Find the successor of `name` in the words after it; if as many of the sentence's `names` are old as
    new, it is the one at the same place among them."""
    match = re.search(SUCCESSOR, after)
    if not match:
        return ""
    new_names = re.findall(NAME_IN_MARKS, match[1]) or [match[1].strip(' `"[]')]
    old_names = [old for old in names if old not in new_names]
    if 1 < len(new_names) == len(old_names) and name in old_names:
        return new_names[old_names.index(name)]
    return " and ".join(new_names)
