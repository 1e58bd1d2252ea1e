"""The dated entries of the page on changes of the configuration (`Config_Changes.md`)."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

PAGE = "Config_Changes.md"

# The date that begins an entry: `20240313: `.
ENTRY = re.compile(r"^(\d{4})(\d\d)(\d\d): ", re.MULTILINE)
# The blanks between two sentences.
SENTENCE_END = re.compile(r"(?<=[.!])\s+(?=[A-Z`(\"\[])")
# A link, with its text as a group.
LINK = re.compile(r"\[([^\[\]]{1,200})\]\([^()\s]{0,200}\)")
NAME = re.compile(r"[`\"]([A-Za-z_][\w<>]*)[`\"]")
"""A name in backticks or quotes; one in brackets, too, is a section's."""

# What a sentence has that says that a name is gone, or that it still works; "It was deprecated on 20240313" is history.
GONE = re.compile(r"\b(?:removed|renamed|no longer|replaced|superseded|moved)\b")
DEPRECATED = re.compile(r"\bdeprecated\b(?! on \d)")
# A name as in NAME, or that of a section.
QUOTED = r"[`\"]\[?[A-Za-z_][\w<>]*\]?[`\"]"
SUCCESSOR = re.compile(
    r"\b(?:[Uu]se|[Rr]eplace with|renamed(?: as| to)?|replaced with|superseded by|in favou?r of|new)"
    rf"(?: (?:the|a|an|new))*? ((?:{QUOTED}[ ,]*(?:and |or )?)+|\w+_\w+(?= (?:parameter|option|setting|config|module)))"
)
"""What comes in the place of a name: `renamed to X`, `Use X and Y instead`, `Use a pwm_tool config section`."""

LONGEST_ENTRY = 3000


class Entry(NamedTuple):
    """A change: its `date` as 2020-01-09, where it stands in the page, and its text on one line, links by their text."""

    date: str
    offset: int
    text: str


class Change(NamedTuple):
    """What became of an option: removed, or only `deprecated`; its successor if one is named; the sentence."""

    date: str
    deprecated: bool
    successor: str
    sentence: str


def entries(text: str) -> list[Entry]:
    """The entries, newest first as in the page."""
    starts = list(ENTRY.finditer(text))
    ends = [match.start() for match in starts[1:]] + [len(text)]
    return [
        Entry("-".join(match.groups()), match.start(), plain(text[match.end() : end])[:LONGEST_ENTRY])
        for match, end in zip(starts, ends, strict=True)
    ]


def plain(text: str) -> str:
    """On one line, links by their text."""
    return LINK.sub(r"\1", " ".join(text.split()))


def saying(entry: Entry, name: str) -> str:
    """The text of an entry from its first sentence on that has a name."""
    sentences = SENTENCE_END.split(entry.text)
    at = next((at for at, sentence in enumerate(sentences) if name.lower() in sentence.lower()), 0)
    return " ".join(sentences[at:])


def about(listed: Sequence[Entry], name: str) -> list[Entry]:
    """The entries that name an option or a section."""
    pattern = re.compile(rf"(?<![\w]){re.escape(name)}(?![\w])", re.IGNORECASE)
    return [entry for entry in listed if pattern.search(entry.text)]


def change(listed: Sequence[Entry], section: str, option: str) -> Change | None:
    """What the newest entry says became of an option of a section, if one does; the successor may be an older one's."""
    changes = list(_changes(listed, option))
    near = [change for change, text in changes if subject(section) in text.lower()]
    if not near and "_" in option:
        near = [change for change, _ in changes]
    if not near:
        return None
    others = (change for change, _ in changes)
    successor = next((change.successor for change in (*near, *others) if change.successor), "")
    return near[0]._replace(successor=successor)


def subject(section: str) -> str:
    """The word by which entries speak of a section: `stepper` for `stepper_z1`."""
    return section.partition(" ")[0].rstrip("0123456789").partition("_")[0]


def _changes(listed: Sequence[Entry], option: str) -> Iterator[tuple[Change, str]]:
    """What each entry says became of it, with the entry's text."""
    name = re.compile(rf"(?<![\w<]){re.escape(option)}(?![\w>])", re.IGNORECASE)
    for entry in listed:
        sentences = SENTENCE_END.split(entry.text)
        for number, sentence in enumerate(sentences):
            match = name.search(sentence) or _pattern(sentence, option)
            if not match or not (GONE.search(sentence) or DEPRECATED.search(sentence)):
                continue
            after = sentence[match.end() :] + " " + " ".join(sentences[number + 1 :])
            if not _is_new(sentence[: match.start()]):
                successor = _successor(after, NAME.findall(sentence), match[0])
                deprecated = _is_deprecated(sentence, sentences[number + 1 :])
                yield Change(entry.date, deprecated, successor, sentence), entry.text


def _pattern(text: str, option: str) -> re.Match[str] | None:
    """The name with a placeholder in the text that the option fits: `default_parameter_<name>`."""
    for match in re.finditer(r"\w+_<\w+>", text):
        if option.startswith(match[0].partition("<")[0]):
            return match
    return None


def _is_new(before: str) -> bool:
    """Whether what stands before a name makes it the new one of a change: `renamed to`."""
    return bool(re.search(r"(?:renamed|replaced|superseded)[^.]*? (?:to|with|by)\b[^.]*$", before))


def _is_deprecated(sentence: str, others: Sequence[str]) -> bool:
    """Whether the option still works: a sentence says that it is deprecated, not that it is gone."""
    if "renamed" in sentence:
        return any(DEPRECATED.search(other) for other in others)
    return bool(DEPRECATED.search(sentence)) or not GONE.search(sentence.replace("will be removed", ""))


def _successor(after: str, old: Sequence[str], name: str) -> str:
    """The name that came in the place of `name`: of as many as were old, the one at its place among them."""
    match = SUCCESSOR.search(after)
    if not match:
        return ""
    new = NAME.findall(match[1]) or [match[1].strip(' `"[]')]
    replaced = [word for word in old if word not in new]
    if 1 < len(new) == len(replaced) and name in replaced:
        return new[replaced.index(name)]
    return " and ".join(new)
