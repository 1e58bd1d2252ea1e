"""Mistakes that people make in a printer.cfg, each as edits of one of the printers here, with Klipper's words.

A line of mistakes.jsonl: `kind`, `base` (the printer), `edits` (old text and new; no old one: put before the block of
SAVE_CONFIG), `about` (a word that names the place), `klipper` (its message, "" if it takes the edited file). The
lab judges them anew: `tests/lab/klipper mistakes --save`.
"""

import json
from pathlib import Path

HERE = Path(__file__).parent
FILE = HERE / "mistakes.jsonl"
BLOCK = "#*# <---"


def rows():
    return [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]


def edited(row):
    """The printer's text with the mistake."""
    text = (HERE / f"printers/{row['base']}.cfg").read_text("utf-8")
    for old, new in row["edits"]:
        if old:
            assert old in text, row
            text = text.replace(old, new, 1)
        else:
            own, mark, saved = text.partition(BLOCK)
            text = f"{own}{new}\n{mark}{saved}"
    return text
