"""Pasted tables, as spreadsheets and Anki's export write them, and the notes in their rows."""

# Tables are read as they were meant:
# - cells in quotes, with doubled quotes and line breaks in them; if a quote is never closed, quotes are text;
# - a byte order mark, CRLF, empty lines, empty cells beyond the last field;
# - a first row with the names of the fields, in any case and order;
# - the head of Anki's own exports: #separator, #html, #tags, #deck, #notetype, #columns and the columns of
#   tags, decks, note types and guids;
# - tabs, or semicolons or commas if nearly every row then has the same cells; the answer names them.

import csv
import io
import re
from collections import Counter
from html import escape
from itertools import chain

from tools.toolkit import ToolError

from .note_input import ItemError, NoteInput

# The texts of a row, the names of the columns, or remarks.
Texts = list[str]

# A line such as `#tags column:3` at the beginning, or a comment.
HEAD_LINE = (
    r"(?i)#(?:(separator|html|tags|columns|notetype|deck|if matches|match scope"
    r"|(?:guid|tags|notetype|deck) column):([^\n]*)\n?|[^\t\n]*\n)"
)
TAGS_COLUMN = "tags"
SEPARATORS = {"tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "colon": ":", "space": " "}
DASHES = (" — ", " – ", " - ")
# Marks between the texts of a pasted list, the likeliest first.
LIKELY_MARKS = (";", *DASHES, "|", ",")
# Names of columns that are not fields.
LEFT_OUT = ("", "guid column", "deck column", "notetype column")
NEARLY_ALL = 0.9
# Signs of HTML on purpose: </b>, <br>, <img src=…>, &nbsp;.
HTML_SIGNS = re.compile(r"(?i)</[a-z][a-z0-9]*\s*>|<br\s*/?>|<img\s[^<>]*src|&(?:[a-z]+|#\d+);")


class Table:
    """Rows of texts.

    - `names` of the columns: fields, `tags`, a key of `head` such as `deck column`, or empty for a column
      that is left out;
    - `head`: the lines of Anki's export by their keys;
    - `remarks`: sentences for the answer.
    """

    def __init__(self, rows: list[Texts], names: Texts, head: dict[str, str], remarks: Texts):
        """Find the name of each column. `names`: the fields that the call names, else those of the file.

        Raises ToolError INVALID_ARGUMENTS without names.
        """
        if not names:
            raise ToolError(
                "rows and tsv need fieldNames",
                'For example {"fieldNames": ["Front", "Back"], "rows": [["cat", "кот"]]}.',
                "INVALID_ARGUMENTS",
            )
        rows = [row for row in rows if "".join(row).strip()]
        by_name = {TAGS_COLUMN: TAGS_COLUMN} | {name.strip().casefold(): name for name in names}
        first_row = [cell.strip().casefold() for cell in next(iter(rows), [])]
        # The columns that the head of an export names, by their index.
        columns = {}
        for key, value in head.items():
            if key.endswith(" column") and value.isdigit():
                columns[int(value) - 1] = key.replace("tags column", TAGS_COLUMN)
        # The names in the first row, or else those of the call.
        if by_name.keys() <= {TAGS_COLUMN, *first_row}:
            rows = rows[1:]
            names = [by_name.get(name, "") for name in first_row]
            remark = "the first row has the names of the fields: it was left out"
            if left_out := [name for name in first_row if name and name not in by_name]:
                remark += f", and so were the columns {', '.join(left_out)[:80]}"
            remarks = [*remarks, remark]
        elif columns and any("".join(row[len(names) :]).strip() for row in rows):
            # The names are those of the other columns.
            others = iter(names)
            count = len(names) + len(columns)
            names = [columns.get(index) or next(others, "") for index in range(count)]
        self.rows = rows
        self.names = [columns.get(index, name) for index, name in enumerate(names)]
        self.head = head
        self.remarks = remarks

    def notes(self, deck: str, model: str) -> list[NoteInput | ToolError]:
        """Make a note of each row, or its error. Its deck and note type are these; if they are empty, those
        of the row or the head.

        Raises ToolError if no row fits the names.
        """
        items = [self._note(row, deck, model) for row in self.rows]
        wrong = [item for item in items if isinstance(item, ToolError)]
        if wrong and len(wrong) == len(items):
            wrong[0].message += ", and no other row fits. Nothing was sent to Anki"
            raise wrong[0]
        return items

    def _note(self, texts: Texts, deck: str, model: str) -> NoteInput | ToolError:
        """Make the note of a row, of which only tags at the end may be missing."""
        missing = self.names[len(texts) :]
        extra = "".join(texts[len(self.names) :]).strip()
        if extra or missing not in ([], [TAGS_COLUMN]):
            hint = (
                'For an empty field send "" in rows, or nothing after its tab; a tab inside a field '
                "needs items."
            )
            marks = [mark for mark in LIKELY_MARKS if mark in "".join(texts)]
            if missing and marks:
                hint = f"The texts seem to be separated by {marks[0]!r}: put a tab there, or send rows."
            return ItemError(f"{len(texts)} texts for {len(self.names)} fields", hint, "ROW")
        cells = dict(zip(self.names, texts))
        tags = f"{self.head.get(TAGS_COLUMN, '')} {cells.pop(TAGS_COLUMN, '')}".split()
        deck = deck or cells.get("deck column") or self.head.get("deck", "")
        model = model or cells.get("notetype column") or self.head.get("notetype", "")
        fields = {name: self._html(text) for name, text in cells.items() if name not in LEFT_OUT}
        return NoteInput(fields, tags=tags, model=model, deck=deck)

    def _html(self, text: str) -> str:
        """Turn a cell into HTML, so that `a < b` and `vector<int>` arrive as typed. It is HTML already if the
        head of the table says so, or if it has a closing tag, a line break, a picture or an entity."""
        is_html = self.head.get("html", "").lower()
        if is_html == "true" or (is_html != "false" and HTML_SIGNS.search(text)):
            return text
        return escape(text, quote=False).replace("\n", "<br>")


def from_text(text: str, names: Texts) -> Table:
    """Read the table in a text. Without `names` its head must have them.

    Raises ToolError INVALID_ARGUMENTS.
    """
    # The lines of Anki's export before the first row.
    text = text.lstrip("\ufeff").replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
    head: dict[str, str] = {}
    while (match := re.match(HEAD_LINE, text)) and (match[1] or head):
        if match[1]:
            head[match[1].lower()] = match[2].strip()
        text = text[match.end() :]
    # The separator that the head names, or the likeliest one.
    separator = head.get("separator", "").lower()
    separator = SEPARATORS.get(separator, separator if len(separator) == 1 else "")
    remarks = []
    if not separator:
        separator = _guessed_separator(text, names)
        if separator != "\t":
            remarks.append(f"the cells were separated by {separator!r}")
    # The cells, and the names of the columns.
    rows, are_quoted = _cells(text, separator)
    if not are_quoted and '"' in text:
        remarks.append("a quotation mark is not closed: quotation marks were taken as text")
    labels = _cells(head.get("columns", ""), separator)[0]
    return Table(rows, names or list(chain(*labels)), head, remarks)


def _cells(text: str, separator: str) -> tuple[list[Texts], bool]:
    """Split a text into rows of cells; True if quotation marks enclose cells."""
    try:
        cells = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        return list(cells), True
    except csv.Error:
        return [line.split(separator) for line in text.split("\n")], False


def _guessed_separator(text: str, names: Texts) -> str:
    """Guess the separator: by it nearly every row has as many cells as there are names, or more; else a
    tab."""
    needed = len(names) - (names[-1:] == [TAGS_COLUMN])
    lines = text.strip().splitlines()
    are_dashed = any(
        sum(dash in line for line in lines) >= NEARLY_ALL * len(lines) for dash in DASHES
    )
    for separator in "\t;" if are_dashed else "\t;,":
        rows = [row for row in _cells(text, separator)[0] if row]
        for width, count in Counter(map(len, rows)).most_common(1):
            if width >= max(needed, 2) and count >= NEARLY_ALL * len(rows):
                return separator
    return "\t"
