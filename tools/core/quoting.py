"""Texts of others inside sentences of ours.

A person, a model or a foreign service writes a title or an error; a question, a preview or an error of ours quotes it.
Nothing in it may look like a word of ours: it stays on its line, in its direction and inside its quotation marks.
"""

import re

SHORT = 60
"""Characters of a text that a sentence quotes."""

# Control characters, separators of lines and paragraphs, marks of direction (Arabic letter mark, LRM, RLM, embeddings,
# overrides, isolates), and blanks without a width. Joiners stay: emoji and Persian are written with them.
LINE_BREAKERS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060\u2066-\u2069\ufeff]"
)


def one_line(text: object, longest: int = 0) -> str:
    """A text of others on one line, cut to `…` if it has more than `longest` characters; 0: it is not cut."""
    line = " ".join(LINE_BREAKERS.sub(" ", str(text)).split())
    return f"{line[:longest].rstrip()}…" if 0 < longest < len(line) else line


def quoted(text: object, longest: int = SHORT, *, marks: str = "“”", inner: str = "‘’") -> str:
    """A text of others in quotation marks, which it cannot end: its own become the `inner` ones."""
    return f"{marks[0]}{one_line(text, longest).translate(str.maketrans(marks, inner))}{marks[1]}"
